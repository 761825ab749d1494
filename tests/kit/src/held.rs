//! Files that cannot be opened without waiting, whatever the permissions.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

/// The command that sets the signal of a lease. (`libc` does not have it.)
const F_SETSIG: libc::c_int = 10;

/// A file on which this process has a lease: opening it without waiting (`O_NONBLOCK`) is an error
/// of the kind [`WouldBlock`](io::ErrorKind::WouldBlock), until this is dropped. The system ends a
/// lease 45 s after the first such attempt.
#[derive(Debug)]
#[must_use = "the lease ends when this is dropped"]
pub struct Held {
    _file: File,
}

impl Held {
    /// Takes the lease on a file of this user that nothing has open.
    pub fn of(path: &Path) -> Held {
        let file = File::open(path).unwrap();
        // By default, the signal of an attempt ends the process. This one is ignored.
        for (command, argument) in [(F_SETSIG, libc::SIGURG), (libc::F_SETLEASE, libc::F_WRLCK)] {
            // SAFETY: the descriptor is open, and the commands take a number.
            let done = unsafe { libc::fcntl(file.as_raw_fd(), command, argument) };
            assert_eq!(done, 0, "{}", io::Error::last_os_error());
        }
        Held { _file: file }
    }
}
