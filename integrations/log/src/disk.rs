//! What a log needs of a file system. Tests have one that forgets what was not synced.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::process;

use fs4::{FileExt, TryLockError};

#[cfg(test)]
pub(crate) mod forgetful;

/// A file system.
pub(crate) trait Disk {
    type File: AppendFile;
    type Lock;

    /// Takes the lock of a file, which it makes if there is none; `None` if it is taken. It ends with the value, or with the
    /// process.
    fn lock(&self, path: &Path) -> io::Result<Option<Self::Lock>>;

    /// What is in a directory.
    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>>;

    /// Makes a file that was not there.
    fn create(&self, path: &Path) -> io::Result<Self::File>;

    /// Opens a file that is there, to append to it, and tells its length.
    fn open(&self, path: &Path) -> io::Result<(Self::File, u64)>;

    /// The last bytes of a file, at most so many.
    fn tail(&self, path: &Path, most: u64) -> io::Result<Vec<u8>>;

    fn remove(&self, path: &Path) -> io::Result<()>;

    /// After it, files that were made or removed are so on the disk.
    fn sync_directory(&self, directory: &Path) -> io::Result<()>;
}

/// A file that is appended to.
pub(crate) trait AppendFile {
    /// Appends some of the bytes, and tells how many.
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Cuts off what is behind so many bytes.
    fn truncate(&mut self, length: u64) -> io::Result<()>;

    /// After it, all of the file is on the disk.
    fn sync(&mut self) -> io::Result<()>;

    /// Whether the path still leads to this file.
    fn is_at(&self, path: &Path) -> bool;
}

/// The system's.
#[derive(Debug)]
pub(crate) struct System;

/// The lock of a file, which ends with this, or with the process that took it.
#[derive(Debug)]
pub(crate) struct Locked {
    file: File,
    process: u32,
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Not left to the file's end: a child that is just being started has the file, too, and so the lock, until it runs its
        // program. A forked child lets go of its own alone.
        if self.process == process::id() {
            let _ = FileExt::unlock(&self.file); // then it ends with the file
        }
    }
}

impl Disk for System {
    type File = File;
    type Lock = Locked;

    fn lock(&self, path: &Path) -> io::Result<Option<Locked>> {
        // Never written to: only its lock matters, which the system ends with the process.
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        match FileExt::try_lock(&file) {
            Ok(()) => Ok(Some(Locked { file, process: process::id() })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>> {
        fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.file_name())).collect()
    }

    fn create(&self, path: &Path) -> io::Result<File> {
        OpenOptions::new().append(true).create_new(true).open(path)
    }

    fn open(&self, path: &Path) -> io::Result<(File, u64)> {
        let file = OpenOptions::new().append(true).open(path)?;
        let length = file.metadata()?.len();
        Ok((file, length))
    }

    fn tail(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(most)))?;
        let mut tail = Vec::new();
        file.take(most).read_to_end(&mut tail)?;
        Ok(tail)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    #[cfg(unix)]
    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        File::open(directory)?.sync_all()
    }

    /// There a directory cannot be synced.
    #[cfg(not(unix))]
    fn sync_directory(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

impl AppendFile for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.write(bytes) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                written => return written,
            }
        }
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data() // and the length, without which the data could not be read
    }

    #[cfg(unix)]
    fn is_at(&self, path: &Path) -> bool {
        use std::os::unix::fs::MetadataExt;

        let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
        let (own, there) = (self.metadata().map(identity), fs::metadata(path).map(identity));
        matches!((own, there), (Ok(own), Ok(there)) if own == there)
    }

    #[cfg(not(unix))]
    fn is_at(&self, path: &Path) -> bool {
        path.exists()
    }
}
