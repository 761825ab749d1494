//! An open file, which is told from others.
//!
//! A program may close descriptors that it has not opened: many do so in a forked child. Then
//! another file may get the number of the file's descriptor. So what a descriptor leads to is
//! checked before it is used: a claim, a lock or a close would be one of a file of the program.

use std::fs::{File, OpenOptions};
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::path::Path;

use rustix::fs::fstat;

use crate::error::MappedError;

/// An open file, with what tells it from others.
#[derive(Debug)]
pub(crate) struct Opened {
    /// Closed by `drop`, if it is still the file.
    file: ManuallyDrop<File>,
    /// Its device, and its number there.
    identity: (u64, u64),
}

impl Opened {
    /// Notes which file this is.
    pub(crate) fn new(file: File) -> io::Result<Opened> {
        let identity = identity(&file)?;
        Ok(Opened { file: ManuallyDrop::new(file), identity })
    }

    /// Opens the file anew, by its descriptor: the path may lead to another file by now.
    ///
    /// # Errors
    ///
    /// [`MappedError::LostDescriptor`]; [`Failed`](MappedError::Failed), with the step of a lock.
    pub(crate) fn again(&self, path: &Path) -> Result<Opened, MappedError> {
        self.get(path)?;
        let failed = MappedError::failed("lock a part of", path);
        let place = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        let opened = OpenOptions::new().read(true).write(true).open(place).map_err(failed)?;
        let opened = Opened::new(opened).map_err(failed)?;
        // Another thread may have closed the descriptor between the two.
        if opened.identity == self.identity { Ok(opened) } else { Err(lost(path)) }
    }

    /// Returns the file.
    ///
    /// # Errors
    ///
    /// [`MappedError::LostDescriptor`], if its descriptor is closed, or is that of another file.
    pub(crate) fn get(&self, path: &Path) -> Result<&File, MappedError> {
        if self.is_kept() { Ok(&self.file) } else { Err(lost(path)) }
    }

    /// Returns whether another descriptor leads to the file.
    pub(crate) fn is_same(&self, descriptor: BorrowedFd<'_>) -> bool {
        identity(descriptor) == Ok(self.identity)
    }

    /// Returns the descriptor, which is not closed any more.
    pub(crate) fn into_raw_fd(self) -> RawFd {
        ManuallyDrop::new(self).file.as_raw_fd()
    }

    /// Returns whether the descriptor leads to the file still.
    pub(crate) fn is_kept(&self) -> bool {
        self.is_same(self.file.as_fd())
    }
}

/// Lends the descriptor, whatever it leads to.
impl AsFd for Opened {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Closes the descriptor, unless the program has: then another file of it may have the number.
impl Drop for Opened {
    fn drop(&mut self) {
        if self.is_kept() {
            // SAFETY: it is not used from now on.
            unsafe { ManuallyDrop::drop(&mut self.file) };
        }
    }
}

fn identity(file: impl AsFd) -> rustix::io::Result<(u64, u64)> {
    fstat(file).map(|found| (found.st_dev, found.st_ino))
}

fn lost(path: &Path) -> MappedError {
    MappedError::LostDescriptor { path: path.to_owned() }
}
