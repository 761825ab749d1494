//! A file of rules that may change.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::rules::error::RulesError;
use crate::rules::set::{LimitRules, check_length};

/// A file of rules that is polled for changes.
///
/// Each poll reads the whole file and compares its text, so that no change is missed for a
/// modification time that did not move. The file is small, and the system caches it.
///
/// ```
/// use windrow_tower::RulesFile;
///
/// let mut file = RulesFile::new("no/such/file.json");
/// assert!(file.read_if_changed().is_err());
/// assert!(file.read_if_changed().unwrap().is_none(), "an error is returned once");
/// ```
#[derive(Debug)]
pub struct RulesFile {
    path: PathBuf,
    /// The text or the error of the last poll.
    seen: Option<Result<Vec<u8>, String>>,
}

impl RulesFile {
    /// Returns a file that has not been polled yet.
    pub fn new(path: impl Into<PathBuf>) -> RulesFile {
        RulesFile { path: path.into(), seen: None }
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the file's text if it has changed since the last call; `None` if not.
    ///
    /// The call blocks for the file system, and for nothing else: a pipe in the file's place is
    /// refused, not waited for. It reads at most [`Rules::MAX_BYTES`](crate::Rules::MAX_BYTES) and
    /// one byte more. To replace a file so that no poll reads half of it, write another one and
    /// rename it.
    ///
    /// # Errors
    ///
    /// [`RulesError`] if the file cannot be read, is not a regular file, or is too long. The same
    /// error is not returned twice in a row: then the result is `Ok(None)`.
    pub fn read_if_changed(&mut self) -> Result<Option<Vec<u8>>, RulesError> {
        let read = self.read();
        let told = read.as_ref().map_err(ToString::to_string);
        if self.seen.as_ref().map(Result::as_ref) == Some(told.as_ref().copied()) {
            return Ok(None);
        }
        self.seen = Some(told.cloned());
        read.map(Some)
    }

    fn read(&self) -> Result<Vec<u8>, RulesError> {
        let failed = |error| RulesError::File { path: self.path.clone(), error };
        let file = open(&self.path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            let kind = io::ErrorKind::InvalidInput;
            return Err(failed(io::Error::new(kind, "it is not a regular file")));
        }
        let mut text = Vec::new();
        file.take(LimitRules::MAX_BYTES as u64 + 1).read_to_end(&mut text).map_err(failed)?;
        if text.len() > LimitRules::MAX_BYTES {
            check_length(metadata.len().max(text.len() as u64))?;
        }
        Ok(text)
    }
}

/// Opens a file without blocking: to open a pipe would wait for a writer.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;

        options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    }
    options.read(true).open(path)
}
