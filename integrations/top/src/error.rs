//! The errors of the program.

use std::error;
use std::fmt::{self, Display, Formatter};
use std::io;

use crate::legible::Legible;

/// The greatest number of characters of a reason that has a path.
const LONGEST: usize = 5_000;

/// The reason why the program ends without what was asked for, or why a connection was lost.
///
/// Texts that a server has sent, and paths, are in it only with their control characters escaped.
///
/// ```
/// let error = windrow_top::run(["--once".to_owned(), "shop".to_owned()]).unwrap_err();
/// assert!(matches!(error, windrow_top::Error::Usage { .. }));
/// assert_eq!(error.to_string(), "`shop` is not HOST:PORT or HOST:PORT/PATH: it has no port");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The arguments are invalid.
    Usage {
        /// The reason, with the argument.
        says: String,
    },
    /// The host is not known, or does not accept the connection.
    Connect {
        /// The address as given.
        address: String,
        /// The system's error.
        error: io::Error,
    },
    /// The server refuses the stream.
    Refused {
        /// The status of its answer.
        status: u16,
        /// The beginning of the answer's text.
        says: String,
    },
    /// The answer is not the stream of a console.
    NotAConsole {
        /// The rule that it breaks.
        why: &'static str,
    },
    /// An event of the stream is longer than allowed.
    TooLong {
        /// The greatest length in bytes.
        limit: usize,
    },
    /// The connection was closed.
    Closed,
    /// No complete frame has come in time.
    Silent {
        /// The time in seconds that a frame may take.
        seconds: u64,
    },
    /// The connection was lost.
    Lost {
        /// The system's error.
        error: io::Error,
    },
    /// A file cannot be read.
    Unreadable {
        /// The reason, with the path.
        error: Box<dyn error::Error + Send + Sync>,
    },
    /// A file is not a whole one of counters, of a version that is known.
    NotCounters {
        /// The rule that it breaks, with the path.
        error: Box<dyn error::Error + Send + Sync>,
    },
    /// The terminal, or the standard output, cannot be used.
    Terminal {
        /// The system's error.
        error: io::Error,
    },
}

impl Error {
    /// Returns the exit status of the program: 1 if the console cannot be reached or was lost, or a
    /// file cannot be read; 2 for invalid arguments; 3 if the server refuses or is not a console,
    /// or a file is none of counters; and 4 if the terminal cannot be used.
    ///
    /// ```
    /// let error = windrow_top::run(["--quickly".to_owned()]).unwrap_err();
    /// assert_eq!(error.status(), 2);
    /// ```
    pub fn status(&self) -> u8 {
        match self {
            Error::Connect { .. }
            | Error::Closed
            | Error::Silent { .. }
            | Error::Lost { .. }
            | Error::Unreadable { .. } => 1,
            Error::Usage { .. } => 2,
            Error::Refused { .. }
            | Error::NotAConsole { .. }
            | Error::TooLong { .. }
            | Error::NotCounters { .. } => 3,
            Error::Terminal { .. } => 4,
        }
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Error::Usage { says } => f.write_str(says),
            Error::Connect { address, error } => write!(f, "cannot connect to {address}: {error}"),
            Error::Refused { status, says } if says.is_empty() => {
                write!(f, "the server refuses with status {status}")
            }
            Error::Refused { status, says } => {
                write!(f, "the server refuses with status {status}: {says}")
            }
            Error::NotAConsole { why } => write!(f, "this is no console: {why}"),
            Error::TooLong { limit } => write!(f, "an event is longer than {limit} bytes"),
            Error::Closed => f.write_str("the server has closed the connection"),
            Error::Silent { seconds } => write!(f, "no frame has come within {seconds} s"),
            Error::Lost { error } => write!(f, "the connection was lost: {error}"),
            Error::Unreadable { error } | Error::NotCounters { error } => {
                f.write_str(Legible::of(&error.to_string(), LONGEST).as_str())
            }
            Error::Terminal { error } => write!(f, "the terminal cannot be used: {error}"),
        }
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Error::Connect { error, .. } | Error::Lost { error } | Error::Terminal { error } => {
                Some(error)
            }
            Error::Unreadable { error } | Error::NotCounters { error } => Some(&**error),
            _ => None,
        }
    }
}
