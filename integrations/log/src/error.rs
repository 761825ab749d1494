//! The errors of a log: one enum for writing, one error for reading.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::PathBuf;

/// The error of opening or writing a log.
///
/// Counting goes on, and the error loses no line: lines that could not be written stay in memory,
/// up to [`Options::memory`](crate::Options::memory), and go out with the next write that succeeds.
///
/// ```
/// use windrow_log::{Log, LogError, Options};
///
/// # let directory = tempfile::tempdir()?;
/// # let directory = directory.path();
/// let log = Log::open(directory, Options::default())?;
/// let error = Log::open(directory, Options::default()).unwrap_err();
/// assert!(matches!(error, LogError::Locked { path } if path == directory.join("lock")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum LogError {
    /// Another log, of this process or another one, has locked this directory.
    Locked {
        /// The locked file.
        path: PathBuf,
    },
    /// The system refused an operation.
    Failed {
        /// The operation.
        step: Step,
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// A metric that was added has no lines, and was not drained: a window with none of the events
    /// that the log's [`Columns`](crate::Columns) name, a source that is not a window, or heavy
    /// keys, of which Sentinel's format has none.
    NoLines {
        /// The name under which it was to be logged.
        resource: String,
        /// The rule.
        rule: &'static str,
    },
    /// The function that fills the batches of [`Log::every`](crate::Log::every) panicked. What it
    /// had added was written; the windows that it had not added come with the next batch.
    Panicked {
        /// The message of the panic.
        message: String,
    },
}

/// An operation of the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Creating the directory.
    Create,
    /// Taking the lock.
    Lock,
    /// Listing the directory.
    List,
    /// Opening or making a file.
    Open,
    /// Writing lines.
    Write,
    /// Syncing written lines to the disk.
    Sync,
    /// Removing an old file.
    Remove,
}

impl Display for LogError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            LogError::Locked { path } => {
                let path = path.display();
                write!(f, "another log has `{path}` locked; a directory belongs to one log")
            }
            LogError::Failed { step, path, error } => {
                let step = format!("{step:?}").to_lowercase();
                write!(f, "cannot {step} `{}`: {error}", path.display())
            }
            LogError::NoLines { resource, rule } => {
                write!(f, "`{resource}` has no lines: {rule}")
            }
            LogError::Panicked { message } => {
                write!(f, "the function that fills a log's batches panicked: {message}")
            }
        }
    }
}

impl Error for LogError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        if let LogError::Failed { error, .. } = self { Some(error) } else { None }
    }
}

/// The error of reading a directory or a file of a log.
///
/// ```
/// let error = windrow_log::read("/nowhere").unwrap_err();
/// assert!(error.to_string().starts_with("cannot read `/nowhere`: "));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct ReadError {
    /// The directory or file.
    pub path: PathBuf,
    /// The system's error.
    pub error: io::Error,
}

impl Display for ReadError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "cannot read `{}`: {}", self.path.display(), self.error)
    }
}

impl Error for ReadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}
