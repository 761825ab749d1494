//! The errors of starting an exporter, and of an export.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::time::Duration;

/// The error of [`Exporter::start`](crate::Exporter::start): then nothing is sent.
///
/// ```
/// use std::time::Duration;
/// use windrow::Counter;
/// use windrow_otlp::{Exporter, StartError};
///
/// static HITS: Counter = Counter::new();
///
/// let exporter = Exporter::to("http://127.0.0.1:4318").metric("hits!", "Hits", &HITS);
/// let error = exporter.start(Duration::from_secs(10)).unwrap_err();
/// assert!(matches!(error, StartError::Name { name, .. } if name == "hits!"));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// The endpoint is none to which this crate can send.
    Endpoint {
        /// The endpoint given.
        endpoint: String,
        /// The rule that it breaks.
        rule: &'static str,
    },
    /// A header of requests has an invalid name or value.
    Header {
        /// The name of the header.
        name: String,
    },
    /// The key of a resource attribute is empty, or given twice.
    Resource {
        /// The key.
        key: String,
    },
    /// No metric can have the name, or another one has it.
    Name {
        /// The name, with its suffix.
        name: String,
        /// The problem: it is empty, has a character that it cannot have there, is longer than 255
        /// characters, or is taken. (A name is made of ASCII letters, digits, `_`, `.`, `-` and
        /// `/`, and begins with a letter; case makes no difference.)
        problem: String,
    },
    /// A label has an empty name.
    NoLabel,
    /// Two labels have one name: both are the family's; or one is `event` or `q` of a window, or
    /// `otel.metric.overflow` of an overflow series.
    LabelTwice {
        /// The labels' name.
        label: String,
    },
    /// The period is zero.
    NoPeriod,
    /// The system could not start a thread, or provide means to wait for connections.
    Thread {
        /// The system's error.
        error: io::Error,
    },
}

impl Display for StartError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Endpoint { endpoint, rule } => {
                write!(f, "cannot send to `{endpoint}`: {rule}")
            }
            StartError::Header { name } => write!(f, "the header {name:?} is invalid"),
            StartError::Resource { key } => {
                write!(f, "the resource attribute {key:?} is there twice, or has no key")
            }
            StartError::Name { name, problem } => write!(f, "the name `{name}` {problem}"),
            StartError::NoLabel => write!(f, "a label has an empty name"),
            StartError::LabelTwice { label } => write!(
                f,
                "the label `{label}` is there twice; `event` and `q` are labels of windows, and \
                 `otel.metric.overflow` marks an overflow series"
            ),
            StartError::NoPeriod => write!(f, "the period is zero: give one such as 10 s"),
            StartError::Thread { error } => write!(f, "cannot start the exporter: {error}"),
        }
    }
}

impl Error for StartError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let StartError::Thread { error } = self else { return None };
        Some(error)
    }
}

/// The error of an export.
///
/// [`Started::flush`](crate::Started::flush) and [`Started::shutdown`](crate::Started::shutdown)
/// return it, and [`Exporter::on_error`](crate::Exporter::on_error) is called with it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExportError {
    /// There is no connection to the collector, or it was lost before the answer (over HTTP: before
    /// its status). It is tried again.
    Connection {
        /// The text of the error.
        error: String,
    },
    /// There was no answer in time (over HTTP: no status). It is tried again.
    Timeout {
        /// The time that was given.
        timeout: Duration,
    },
    /// The collector cannot take metrics at present, and says so: status 429, 502, 503 or 504, or
    /// the corresponding ones of gRPC. It is tried again.
    Unavailable {
        /// The status of HTTP or gRPC.
        status: u16,
        /// The collector's message. May be empty: over HTTP, a text of more than 64 KiB is dropped,
        /// and one that takes longer than a second.
        message: String,
        /// The time after which the collector wants the next try, if it says so.
        retry_after: Option<Duration>,
    },
    /// The collector has refused the request, or did not answer by OTLP. The request is not sent
    /// again. (Its numbers are in the next one: totals always are, and deltas are counted from what
    /// was sent for good. Deltas that the collector may have all the same are
    /// [`Unknown`](Self::Unknown).)
    Refused {
        /// The status of HTTP or gRPC.
        status: u16,
        /// The collector's message. May be empty, as above.
        message: String,
    },
    /// The collector has accepted the request, but for some of its data points. They are not sent
    /// again, as OTLP demands.
    Rejected {
        /// The number of data points.
        points: u64,
        /// The collector's message. May be empty.
        message: String,
    },
    /// The fate of a request of [deltas](crate::Temporality::Delta) is unknown: the collector may
    /// have taken it, and this cannot be found out any more. An attempt to send the request has
    /// ended without an answer that says so, and the request is not sent again: a repetition was
    /// refused, which says nothing about the attempt before it; or the status was one after which
    /// the protocol forbids a repetition; or the exporter ends. The numbers of the request are in
    /// no other one.
    ///
    /// The exporter also counts these points in a [metric](crate#unknown-points) of its own.
    Unknown {
        /// The number of data points that are deltas.
        points: u64,
        /// The last answer: a refusal, or the lack of one.
        last: Box<ExportError>,
    },
    /// The exporter has ended.
    Ended,
    /// The exporter's own thread called [`flush`](crate::Started::flush) or
    /// [`shutdown`](crate::Started::shutdown): from [`on_error`](crate::Exporter::on_error), or
    /// from a source that it was reading. It cannot wait for itself.
    OwnThread,
}

impl ExportError {
    /// Returns whether the request is tried again.
    ///
    /// ```
    /// use windrow_otlp::ExportError;
    ///
    /// let rejected = ExportError::Rejected { points: 2, message: "too old".to_owned() };
    /// assert!(!rejected.is_retried());
    /// assert_eq!(rejected.to_string(), "the collector rejected 2 data points: too old");
    /// ```
    pub fn is_retried(&self) -> bool {
        matches!(
            self,
            ExportError::Connection { .. }
                | ExportError::Timeout { .. }
                | ExportError::Unavailable { .. }
        )
    }
}

impl Display for ExportError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ExportError::Connection { error } => write!(f, "no answer from the collector: {error}"),
            ExportError::Timeout { timeout } => {
                write!(f, "no answer from the collector in {timeout:?}")
            }
            ExportError::Unavailable { status, message, .. } => {
                write!(f, "the collector is not available: status {status}: {message}")
            }
            ExportError::Refused { status, message } => {
                write!(f, "the collector refused a request: status {status}: {message}")
            }
            ExportError::Rejected { points, message } => {
                write!(f, "the collector rejected {points} data points: {message}")
            }
            ExportError::Unknown { points, last } => write!(
                f,
                "the collector may have taken {points} data points or not, which are not sent again: {last}"
            ),
            ExportError::Ended => write!(f, "the exporter has ended"),
            ExportError::OwnThread => write!(f, "the exporter's own thread cannot wait for itself"),
        }
    }
}

impl Error for ExportError {}
