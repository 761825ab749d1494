//! The operations that a log needs of a file system. Tests have one that forgets what was not
//! synced, and fails when told to.

use std::io::{self, Read};
use std::path::Path;

use crate::segment::Segment;

mod system;

pub(crate) use system::System;

/// A file system.
pub(crate) trait Disk {
    type File: AppendFile;
    type Reader: Read;
    type Lock;

    /// Takes the lock of a directory; `None` if another log has it. It ends with the value, or with
    /// the process.
    fn lock(&self, directory: &Path) -> io::Result<Option<Self::Lock>>;

    /// Returns whether a lock still belongs to the directory at this path.
    fn has(&self, lock: &Self::Lock, directory: &Path) -> bool;

    /// Lists the entries whose names are those of a log's files, in no order.
    fn list(&self, directory: &Path) -> io::Result<Vec<Found>>;

    /// Makes a new file.
    fn create(&self, path: &Path) -> io::Result<Self::File>;

    /// Opens an existing file to append to it, and returns its length.
    fn open(&self, path: &Path) -> io::Result<(Self::File, u64)>;

    /// Opens a file to read it from an offset.
    fn read(&self, path: &Path, from: u64) -> io::Result<Self::Reader>;

    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Syncs the locked directory: afterwards, the creation and removal of its files is on the
    /// disk.
    fn sync_directory(&self, lock: &Self::Lock) -> io::Result<()>;

    /// Returns the free space of the directory's disk in bytes, if the system tells.
    fn room(&self, directory: &Path) -> Option<u64>;
}

/// An entry whose name is that of a log's file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) segment: Segment,
    /// The file's length; `None` if it is no regular file: then no log has made it.
    pub(crate) length: Option<u64>,
}

/// A file that is appended to.
pub(crate) trait AppendFile {
    /// Appends some of the bytes, and returns their number.
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Cuts the file to a length.
    fn truncate(&mut self, length: u64) -> io::Result<()>;

    /// Syncs the file: afterwards, all of it is on the disk.
    fn sync(&mut self) -> io::Result<()>;

    /// Returns whether the path still leads to this file. If the system cannot say, it does.
    fn is_at(&self, path: &Path) -> bool;
}
