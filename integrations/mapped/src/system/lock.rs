//! Locks of bytes of a file, which the kernel releases when their holder dies.
//!
//! They are open-file-description locks, through an open file of the process's own. The names have
//! one, and the taking of slots another, far behind the end of the file. A slot has one while its
//! owner lives.
//!
//! # The lock of the names
//!
//! It is held for a moment. A forked child shares its parent's open files, so both would hold the
//! lock: a child opens the file anew.
//!
//! A child that is forked while its parent holds the lock keeps the parent's open file until it
//! registers a name itself. So the lock is given back by a call, and not by closing the file. Only
//! if the parent is killed in between, the lock lasts until the child registers, or ends.
//!
//! A process with the right to read the file can lock it against new names and new owners. Adds
//! take no lock.

use std::ffi::c_int;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::forks::Wiped;
use super::opened::Opened;
use crate::error::MappedError;

/// The byte that is locked for a new name.
pub(crate) const NAMES: u64 = i64::MAX as u64 - 1;

/// The byte that is locked by a process that takes a slot.
pub(crate) const SLOTS: u64 = i64::MAX as u64 - 2;

/// The first and the longest pause between two attempts.
const PAUSES: [Duration; 2] = [Duration::from_micros(50), Duration::from_millis(2)];

/// The open file through which this process locks, with a mark of the process. It is opened with
/// the first lock.
#[derive(Debug, Default)]
pub(crate) struct LockFile(Option<(Opened, Wiped)>);

/// The lock, which is given back when it is dropped.
pub(crate) struct Lock<'f> {
    file: BorrowedFd<'f>,
    byte: u64,
}

impl LockFile {
    /// Locks the names of a file. Gives up after `timeout`: a holder that was stopped must not stop
    /// others.
    pub(crate) fn lock(
        &mut self,
        file: &Opened,
        path: &Path,
        timeout: Duration,
    ) -> Result<Lock<'_>, MappedError> {
        // A forked child shares its parent's open file, and opens one of its own.
        let is_own = |(opened, mark): &(Opened, Wiped)| {
            mark.word().load(Ordering::Relaxed) != 0 && opened.is_kept() // used under a lock
        };
        let opened = if let Some(opened) = self.0.take().filter(is_own) {
            opened
        } else {
            let failed = MappedError::failed("prepare for forks with", path);
            (file.again(path)?, Wiped::new(1).map_err(failed)?)
        };
        lock(self.0.insert(opened).0.as_fd(), NAMES, path, timeout)
    }
}

/// Locks a byte, by polling, until `timeout`.
pub(crate) fn lock<'f>(
    file: BorrowedFd<'f>,
    byte: u64,
    path: &Path,
    timeout: Duration,
) -> Result<Lock<'f>, MappedError> {
    let begun = Instant::now();
    let [mut pause, longest] = PAUSES;
    while !try_lock(file, byte, path)? {
        let waited = begun.elapsed();
        if waited >= timeout {
            return Err(MappedError::LockedTooLong { path: path.to_owned(), waited });
        }
        sleep(pause.min(timeout.saturating_sub(waited)));
        pause = longest.min(pause * 2);
    }
    Ok(Lock { file, byte })
}

/// Locks a byte, until the file is closed. Returns false if another open file has the lock.
pub(crate) fn try_lock(file: BorrowedFd<'_>, byte: u64, path: &Path) -> Result<bool, MappedError> {
    match fcntl(file, libc::F_OFD_SETLK, libc::F_WRLCK, byte) {
        Ok(_) => Ok(true),
        Err(error) => match error.raw_os_error() {
            Some(libc::EAGAIN | libc::EACCES | libc::EINTR) => Ok(false),
            _ => Err(MappedError::failed("lock a part of", path)(error)),
        },
    }
}

/// Returns whether another open file has the lock of a byte. The right to read is enough to ask.
pub(crate) fn is_locked(file: BorrowedFd<'_>, byte: u64, path: &Path) -> Result<bool, MappedError> {
    match fcntl(file, libc::F_OFD_GETLK, libc::F_WRLCK, byte) {
        Ok(kind) => Ok(kind != libc::F_UNLCK),
        Err(error) => Err(MappedError::failed("ask for the owners of", path)(error)),
    }
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        // An error, which the kernel has no reason for, would leave the lock to the process's end.
        let _ = fcntl(self.file, libc::F_OFD_SETLK, libc::F_UNLCK, self.byte);
    }
}

/// Calls `fcntl` for a lock of this kind, and returns the kind that it answers.
fn fcntl(file: BorrowedFd<'_>, call: c_int, kind: c_int, byte: u64) -> io::Result<c_int> {
    // SAFETY: all zeros are a valid `flock`; the process's number must be zero. The descriptor is
    // open.
    let (result, lock) = unsafe {
        let mut lock: libc::flock = std::mem::zeroed();
        lock.l_type = kind as libc::c_short;
        lock.l_whence = libc::SEEK_SET as libc::c_short;
        lock.l_start = byte.cast_signed() as libc::off_t;
        lock.l_len = 1;
        (libc::fcntl(file.as_raw_fd(), call, &raw mut lock), lock)
    };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(lock.l_type.into()) }
}
