//! The lock of the names, which the kernel releases when its holder dies.
//!
//! It is an open-file-description lock on one byte far behind the end of the file, through an open
//! file of the process's own. A forked child shares its parent's open files, so both would hold the
//! lock: a child opens the file anew.
//!
//! A child that is forked while its parent holds the lock keeps the parent's open file until it
//! registers a name itself. So the lock is given back by a call, and not by closing the file. Only
//! if the parent is killed in between, the lock lasts until the child registers, or ends.
//!
//! A process with the right to read the file can lock it against new names. Adds take no lock.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::forks::Mark;
use crate::error::{MappedError, Step};

/// The byte that is locked.
const BYTE: libc::off_t = i64::MAX as libc::off_t - 1;

/// The first and the longest pause between two attempts.
const PAUSES: [Duration; 2] = [Duration::from_micros(50), Duration::from_millis(2)];

/// The open file through which this process locks. It is opened with the first lock.
#[derive(Debug, Default)]
pub(crate) struct LockFile(Option<(File, Mark)>);

/// The lock, which is given back when it is dropped.
pub(crate) struct Lock<'f> {
    file: &'f File,
}

impl LockFile {
    /// Locks the names of a file. Gives up after `timeout`: a holder that was stopped must not stop
    /// others.
    pub(crate) fn lock(
        &mut self,
        file: &File,
        path: &Path,
        timeout: Duration,
    ) -> Result<Lock<'_>, MappedError> {
        let failed = |error| MappedError::Failed { step: Step::Lock, path: path.to_owned(), error };
        let file = self.of_this_process(file).map_err(failed)?;
        let begun = Instant::now();
        let [mut pause, longest] = PAUSES;
        loop {
            match set(file, libc::F_WRLCK) {
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

    /// Returns the open file, which no other process shares.
    fn of_this_process(&mut self, file: &File) -> io::Result<&File> {
        let opened = self.0.take().filter(|(_, mark)| mark.is_own());
        let opened = if let Some(opened) = opened {
            opened
        } else {
            // By its descriptor: the path may lead to another file by now.
            let again = format!("/proc/self/fd/{}", file.as_raw_fd());
            (OpenOptions::new().read(true).write(true).open(again)?, Mark::new()?)
        };
        Ok(&self.0.insert(opened).0)
    }
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        // An error, which the kernel has no reason for, would leave the lock to the process's end.
        let _ = set(self.file, libc::F_UNLCK);
    }
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
