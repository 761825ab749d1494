//! The errors of the program.

use std::error::Error as Cause;
use std::io;

use crate::legible::Legible;

/// The greatest number of characters of a reason that has a path.
const LONGEST: usize = 5_000;

fn legible(error: &dyn Cause) -> String {
    Legible::of(&error.to_string(), LONGEST).into()
}

/// The reason why the program ends without what was asked for, or why a connection was lost.
///
/// Texts that a server has sent, and paths, are in it only with their control characters escaped.
///
/// ```
/// let error = windrow_top::run(["--once".to_owned(), "shop".to_owned()]).unwrap_err();
/// assert!(matches!(error, windrow_top::Error::Usage { .. }));
/// assert_eq!(error.to_string(), "`shop` is not HOST:PORT or HOST:PORT/PATH: it has no port");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The arguments are invalid.
    #[error("{says}")]
    Usage {
        /// The reason, with the argument.
        says: String,
    },
    /// The host is not known, or does not accept the connection.
    #[error("cannot connect to {address}: {error}")]
    Connect {
        /// The address as given.
        address: String,
        /// The system's error.
        #[source]
        error: io::Error,
    },
    /// The server refuses the stream.
    #[error(
        "the server refuses with status {status}{}{says}",
        if .says.is_empty() { "" } else { ": " }
    )]
    Refused {
        /// The status of its answer.
        status: u16,
        /// The beginning of the answer's text.
        says: String,
    },
    /// The answer is not the stream of a console.
    #[error("this is no console: {why}")]
    NotAConsole {
        /// The rule that it breaks.
        why: &'static str,
    },
    /// The connection was closed.
    #[error("the server has closed the connection")]
    Closed,
    /// No complete frame has come in time.
    #[error("no frame has come within {seconds} s")]
    Silent {
        /// The time in seconds that a frame may take.
        seconds: u64,
    },
    /// The connection was lost.
    #[error("the connection was lost: {error}")]
    Lost {
        /// The system's error.
        #[source]
        error: io::Error,
    },
    /// A file cannot be read.
    #[error("{}", legible(&**.error))]
    Unreadable {
        /// The reason, with the path.
        #[source]
        error: Box<dyn Cause + Send + Sync>,
    },
    /// A file is not a whole one of counters, of a version that is known.
    #[error("{}", legible(&**.error))]
    NotCounters {
        /// The rule that it breaks, with the path.
        #[source]
        error: Box<dyn Cause + Send + Sync>,
    },
    /// The terminal, or the standard output, cannot be used.
    #[error("the terminal cannot be used: {error}")]
    Terminal {
        /// The system's error.
        #[source]
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
            Error::Refused { .. } | Error::NotAConsole { .. } | Error::NotCounters { .. } => 3,
            Error::Terminal { .. } => 4,
        }
    }
}
