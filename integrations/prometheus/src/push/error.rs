//! The error of a push.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::time::Duration;

/// The error of pushing metrics to a [`Pushgateway`](crate::Pushgateway).
///
/// ```
/// use windrow_prometheus::{PushError, Pushgateway};
///
/// let gateway = Pushgateway::at("https://gateway:9091", "copy");
/// let error = gateway.delete().unwrap_err();
/// assert!(matches!(error, PushError::Url { .. })); // there is no TLS
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum PushError {
    /// The URL cannot be sent to.
    Url {
        /// The URL given.
        url: String,
        /// The rule that it breaks.
        rule: &'static str,
    },
    /// The job has no name.
    NoJob,
    /// A label of the group is called `job`, is there twice, or has a name that none can have: it
    /// is made of ASCII letters, digits and `_`, and begins with neither a digit nor `__`.
    Label {
        /// The label's name.
        label: String,
    },
    /// A header has a name or a value that none can have.
    Header {
        /// The header's name.
        name: String,
    },
    /// The system could not start a thread, or provide means to wait for the connection.
    Start {
        /// The system's error.
        error: io::Error,
    },
    /// The gateway cannot be reached, or the connection to it was lost.
    Connection {
        /// The texts of all errors.
        error: String,
    },
    /// The gateway did not answer in time.
    Timeout {
        /// The time that it had.
        timeout: Duration,
    },
    /// The gateway refuses the metrics.
    Refused {
        /// The status of its answer.
        status: u16,
        /// The beginning of its text.
        message: String,
    },
}

impl Display for PushError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            PushError::Url { url, rule } => write!(f, "cannot push to `{url}`: {rule}"),
            PushError::NoJob => write!(f, "the job's name is empty"),
            PushError::Label { label } => write!(
                f,
                "the label `{label}` cannot be one of a group: it is made of ASCII letters, digits and `_`, begins \
                 with neither a digit nor `__`, is there once, and is not `job`"
            ),
            PushError::Header { name } => {
                write!(f, "the header `{name}` has a name or a value that none can have")
            }
            PushError::Start { error } => write!(f, "cannot start to push: {error}"),
            PushError::Connection { error } => write!(f, "cannot reach the gateway: {error}"),
            PushError::Timeout { timeout } => {
                write!(f, "the gateway has not answered within {timeout:?}")
            }
            PushError::Refused { status, message } => {
                write!(f, "the gateway refuses the metrics with {status}: {message:?}")
            }
        }
    }
}

impl Error for PushError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let PushError::Start { error } = self else { return None };
        Some(error)
    }
}
