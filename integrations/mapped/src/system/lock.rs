//! The lock of the names, which the kernel releases when its holder dies.
//!
//! It is an open-file-description lock on one byte far behind the end of the file. Each lock has an
//! open file of its own: a process that forks would share another one with its child, so both would
//! hold the lock. A child that is forked while the lock is held inherits this open file too, so the
//! lock is given back before the file is closed; only if the parent is killed in between, the lock
//! lasts until the child ends.
//!
//! A process with the right to read the file can lock it against new names. Adds take no lock.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::error::{MappedError, Step};

/// The byte that is locked.
const BYTE: libc::off_t = i64::MAX as libc::off_t - 1;

/// The first and the longest pause between two attempts.
const PAUSES: [Duration; 2] = [Duration::from_micros(50), Duration::from_millis(2)];

/// The lock, which is given back when it is dropped.
pub(crate) struct Lock {
    file: File,
}

impl Lock {
    /// Locks the names of a file. Gives up after `timeout`: a holder that was stopped must not stop
    /// others.
    ///
    /// `file` is opened again: by its path, unless that leads to another file by now.
    pub(crate) fn take(file: &File, path: &Path, timeout: Duration) -> Result<Lock, MappedError> {
        let failed = |error| MappedError::Failed { step: Step::Lock, path: path.to_owned(), error };
        let file = match open_path(file, path) {
            Some(file) => file,
            None => open_again(file).map_err(failed)?,
        };
        let begun = Instant::now();
        let [mut pause, longest] = PAUSES;
        loop {
            match set(&file, libc::F_WRLCK) {
                Ok(()) => return Ok(Lock { file }),
                Err(error) => match error.raw_os_error() {
                    Some(libc::EAGAIN | libc::EACCES | libc::EINTR) => {}
                    _ => return Err(failed(error)),
                },
            }
            let waited = begun.elapsed();
            if waited >= timeout {
                return Err(MappedError::LockedTooLong { path: path.to_owned(), waited });
            }
            sleep(pause.min(timeout.saturating_sub(waited)));
            pause = longest.min(pause * 2);
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // An error leaves the lock to the closing of the file.
        let _ = set(&self.file, libc::F_UNLCK);
    }
}

/// Opens the path, if it leads to the file.
fn open_path(file: &File, path: &Path) -> Option<File> {
    let identity = |file: &File| file.metadata().ok().map(|found| (found.dev(), found.ino()));
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let found = options.open(path).ok()?;
    let is_same = identity(&found)? == identity(file)?;
    is_same.then_some(found)
}

/// Opens the file of a descriptor again, which takes some times as long.
fn open_again(file: &File) -> io::Result<File> {
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    OpenOptions::new().read(true).write(true).open(path)
}

fn set(file: &File, kind: libc::c_int) -> io::Result<()> {
    // SAFETY: all zeros are a valid `flock`; the process's number must be zero. The descriptor is
    // open.
    let result = unsafe {
        let mut lock: libc::flock = std::mem::zeroed();
        lock.l_type = kind as libc::c_short;
        lock.l_whence = libc::SEEK_SET as libc::c_short;
        lock.l_start = BYTE;
        lock.l_len = 1;
        libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const lock)
    };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
