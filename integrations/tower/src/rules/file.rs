//! A file of rules that may change.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::rules::error::RulesError;
use crate::rules::set::Rules;

/// A file of rules, to be looked at from time to time.
///
/// Each look reads the whole file: so no change is missed, whatever its time says. The file is
/// small, and the system has it in memory.
///
/// ```
/// use windrow_tower::RulesFile;
///
/// let mut file = RulesFile::new("no/such/file.json");
/// assert!(file.read_if_changed().is_err());
/// assert!(file.read_if_changed().unwrap().is_none(), "it is said once");
/// ```
#[derive(Debug)]
pub struct RulesFile {
    path: PathBuf,
    seen: Seen,
}

/// The outcome of the last look.
#[derive(Debug)]
enum Seen {
    Nothing,
    Text(Vec<u8>),
    Error(String),
}

impl RulesFile {
    /// A file that was not looked at yet.
    pub fn new(path: impl Into<PathBuf>) -> RulesFile {
        RulesFile { path: path.into(), seen: Seen::Nothing }
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the file's text, if it is another than at the last call.
    ///
    /// It reads at most [`Rules::MAX_BYTES`] and one, and waits for nothing but the disk: a pipe in
    /// the file's place is refused. Where the disk may be far away, call it where a thread may
    /// block. Write the file beside and rename it: then nobody reads half of it.
    ///
    /// # Errors
    ///
    /// [`RulesError`], if the file cannot be read, is no regular file, or is too long; but not
    /// again for the same reason. `Ok(None)` means that nothing has changed, also of an error.
    pub fn read_if_changed(&mut self) -> Result<Option<Vec<u8>>, RulesError> {
        let read = self.read();
        if self.seen.is(&read) {
            return Ok(None);
        }
        self.seen = match &read {
            Ok(text) => Seen::Text(text.clone()),
            Err(error) => Seen::Error(error.to_string()),
        };
        read.map(Some)
    }

    fn read(&self) -> Result<Vec<u8>, RulesError> {
        let failed = |error| RulesError::File { path: self.path.clone(), error };
        let file = open(&self.path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(RulesError::NotAFile { path: self.path.clone() });
        }
        let mut text = Vec::new();
        file.take(Rules::MAX_BYTES as u64 + 1).read_to_end(&mut text).map_err(failed)?;
        if text.len() > Rules::MAX_BYTES {
            Rules::check_length(metadata.len().max(text.len() as u64))?;
        }
        Ok(text)
    }
}

impl Seen {
    fn is(&self, read: &Result<Vec<u8>, RulesError>) -> bool {
        match (self, read) {
            (Seen::Text(seen), Ok(text)) => seen == text,
            (Seen::Error(seen), Err(error)) => *seen == error.to_string(),
            _ => false,
        }
    }
}

/// Opens a file and waits for nobody: to open a pipe waits for who writes it.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;

    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).open(path)
}
