//! What a log needs of a file system. Tests have one that forgets what was not synced, and fails
//! when told to.

use std::io::{self, Read};
use std::path::Path;

use crate::segment::Segment;

#[cfg(test)]
pub(crate) mod forgetful;
mod system;

pub(crate) use system::System;

/// A file system.
pub(crate) trait Disk {
    type File: AppendFile;
    type Reader: Read;
    type Lock: Lock;

    /// Takes the lock of a directory; `None` if another log has it. It ends with the value, or with
    /// the process.
    fn lock(&self, directory: &Path) -> io::Result<Option<Self::Lock>>;

    /// Returns what bears the name of a log's file, in no order.
    fn list(&self, directory: &Path) -> io::Result<Vec<Found>>;

    /// Makes a file that was not there.
    fn create(&self, path: &Path) -> io::Result<Self::File>;

    /// Opens a file that is there, to append to it, and returns its length.
    fn open(&self, path: &Path) -> io::Result<(Self::File, u64)>;

    /// Opens a file to read it from an offset.
    fn read(&self, path: &Path, from: u64) -> io::Result<Self::Reader>;

    fn remove(&self, path: &Path) -> io::Result<()>;

    /// After it, files of the locked directory that were made or removed are so on the disk.
    fn sync_directory(&self, lock: &Self::Lock) -> io::Result<()>;

    /// Returns how many bytes more the directory's disk has room for, if the system tells.
    fn room(&self, directory: &Path) -> Option<u64>;
}

/// What bears the name of a log's file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) segment: Segment,
    /// `None` if it is no regular file: then no log has made it.
    pub(crate) length: Option<u64>,
}

/// A directory's lock.
pub(crate) trait Lock {
    /// Returns whether it is still the lock of the directory at this path.
    fn is_of(&self, directory: &Path) -> bool;
}

/// A file that is appended to.
pub(crate) trait AppendFile {
    /// Appends some of the bytes, and returns their number.
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Cuts the file to a length.
    fn truncate(&mut self, length: u64) -> io::Result<()>;

    /// After it, all of the file is on the disk.
    fn sync(&mut self) -> io::Result<()>;

    /// Returns whether the path still leads to this file. If the system cannot say, it does.
    fn is_at(&self, path: &Path) -> bool;
}
