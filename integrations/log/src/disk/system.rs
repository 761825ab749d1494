//! The file system of the operating system.
//!
//! # The lock
//!
//! The lock is on the directory itself, so that removing a name cannot break it; and on the file
//! `lock` in it, for systems and file systems that cannot lock directories (Windows, NFS). The
//! directory is held open, so it can be synced even if the process has no descriptor left.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::Path;
use std::process;

use fs4::{FileExt, TryLockError};

use crate::disk::{AppendFile, Disk, Found};
use crate::regular;
use crate::segment;

/// The system's file system.
#[derive(Debug)]
pub(crate) struct System;

/// A locked directory, until this is dropped or the process that took it ends.
#[derive(Debug)]
pub(crate) struct Locked {
    file: File,
    /// `None` where a directory cannot be opened.
    directory: Option<File>,
    /// True if the directory has a lock of its own.
    is_direct: bool,
    process: u32,
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Unlocked here rather than by closing the file: a child that is just being started shares
        // the file, and so the lock, until it runs its program. A forked child releases its own
        // copy only.
        if self.process == process::id() {
            // If it fails, the lock ends with the file.
            for file in self.directory.iter().chain([&self.file]) {
                let _ = FileExt::unlock(file);
            }
        }
    }
}

/// Takes the lock of a file; returns `None` if another process has it.
fn try_lock(file: &File) -> io::Result<Option<()>> {
    match FileExt::try_lock(file) {
        Ok(()) => Ok(Some(())),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

impl Disk for System {
    type File = File;
    type Reader = File;
    type Lock = Locked;

    fn lock(&self, directory: &Path) -> io::Result<Option<Locked>> {
        // Nothing is written to it: only its lock matters.
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true);
        let file = regular::open(&directory.join(segment::LOCK), &mut options)?;
        let directory = if cfg!(unix) { Some(File::open(directory)?) } else { None };
        if try_lock(&file)?.is_none() {
            return Ok(None);
        }
        // An error means that this file system cannot lock directories.
        let is_direct = match directory.as_ref().map(try_lock) {
            Some(Ok(None)) => return Ok(None),
            Some(Ok(Some(()))) => true,
            Some(Err(_)) | None => false,
        };
        Ok(Some(Locked { file, directory, is_direct, process: process::id() }))
    }

    fn has(&self, lock: &Locked, directory: &Path) -> bool {
        match &lock.directory {
            Some(own) if lock.is_direct => is_at(own, directory),
            _ => is_at(&lock.file, &directory.join(segment::LOCK)),
        }
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<Found>> {
        let mut all = Vec::new();
        for segment in segment::list(directory)? {
            match fs::symlink_metadata(segment.path(directory)) {
                Ok(metadata) => {
                    let length = metadata.is_file().then_some(metadata.len());
                    all.push(Found { segment, length });
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(all)
    }

    fn create(&self, path: &Path) -> io::Result<File> {
        OpenOptions::new().append(true).create_new(true).open(path) // follows no link
    }

    fn open(&self, path: &Path) -> io::Result<(File, u64)> {
        let file = regular::open(path, OpenOptions::new().append(true))?;
        let metadata = file.metadata()?;
        if has_other_names(&metadata) {
            let rule =
                "the file has a second name (a hard link); a log appends to its own files only";
            return Err(io::Error::new(ErrorKind::InvalidInput, rule));
        }
        Ok((file, metadata.len()))
    }

    fn read(&self, path: &Path, from: u64) -> io::Result<File> {
        let mut file = regular::open(path, OpenOptions::new().read(true))?;
        file.seek(SeekFrom::Start(from))?;
        Ok(file)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_directory(&self, lock: &Locked) -> io::Result<()> {
        match lock.directory.as_ref().map(File::sync_all) {
            // The answer of a file system that cannot sync directories.
            Some(Err(error))
                if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) =>
            {
                Ok(())
            }
            Some(result) => result,
            None => Ok(()),
        }
    }

    fn room(&self, directory: &Path) -> Option<u64> {
        fs4::available_space(directory).ok()
    }
}

impl AppendFile for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write(bytes)
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data() // also syncs the length, without which the data could not be read
    }

    fn is_at(&self, path: &Path) -> bool {
        is_at(self, path)
    }
}

/// Returns whether a path leads to an open file; `true` if the system cannot say.
fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(own), Ok(there)) => is_same(&own, &there),
        (_, Err(error)) => !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
        (Err(_), _) => true,
    }
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;

    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
}

#[cfg(unix)]
fn has_other_names(metadata: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(metadata) > 1
}

#[cfg(not(unix))]
fn has_other_names(_: &Metadata) -> bool {
    false
}
