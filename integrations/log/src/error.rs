//! What can go wrong: one enum for writing, one error for reading.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::PathBuf;

/// Why a log could not be opened or written.
///
/// Counting goes on, and no line is lost by it: what could not be written stays in memory, up to
/// [`Options::memory`](crate::Options::memory), and goes with the next write that can.
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
    /// Another log has this directory: of another process, or of this one.
    Locked {
        /// The file that it has a lock on.
        path: PathBuf,
    },
    /// The system refused something.
    Failed {
        /// What.
        step: Step,
        /// Of which file or directory.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A window has none of the events that the log's [`Columns`](crate::Columns) name. It was not
    /// drained.
    NoColumn {
        /// The name that it was to be logged by.
        resource: String,
    },
    /// A source has a metric that is no window, and so no buckets.
    NoWindow {
        /// The name that it was to be logged by.
        resource: String,
    },
    /// The function that fills the batches of [`Log::every`](crate::Log::every) panicked. What it
    /// had added was written; the windows that it had not added come with the next batch.
    Panicked {
        /// What the panic said.
        message: String,
    },
}

/// What a log asked of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Making the directory.
    MakeDirectory,
    /// Taking the lock.
    Lock,
    /// Listing the directory.
    List,
    /// Opening or making a file.
    Open,
    /// Writing lines.
    Write,
    /// Bringing what was written to the disk.
    Sync,
    /// Removing an old file.
    Remove,
}

impl Display for LogError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            LogError::Locked { path } => {
                write!(f, "another log has `{}`; a directory is one log's", path.display())
            }
            LogError::Failed { step, path, error } => {
                let step = match step {
                    Step::MakeDirectory => "make the directory",
                    Step::Lock => "lock",
                    Step::List => "list",
                    Step::Open => "open",
                    Step::Write => "write to",
                    Step::Sync => "sync",
                    Step::Remove => "remove",
                };
                write!(f, "cannot {step} `{}`: {error}", path.display())
            }
            LogError::NoColumn { resource } => write!(
                f,
                "the window `{resource}` has none of the events that the columns name; a line of Sentinel's \
                 would say nothing"
            ),
            LogError::NoWindow { resource } => {
                write!(f, "`{resource}` is no window: a log has lines of the buckets of windows")
            }
            LogError::Panicked { message } => {
                write!(f, "the function that fills a log's batches panicked: {message}")
            }
        }
    }
}

impl Error for LogError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            LogError::Failed { error, .. } => Some(error),
            LogError::Locked { .. }
            | LogError::NoColumn { .. }
            | LogError::NoWindow { .. }
            | LogError::Panicked { .. } => None,
        }
    }
}

/// Why a directory or a file of a log could not be read.
///
/// ```
/// let error = windrow_log::read("/nowhere").unwrap_err();
/// assert!(error.to_string().starts_with("cannot read `/nowhere`: "));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct ReadError {
    /// Which.
    pub path: PathBuf,
    /// Why.
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
