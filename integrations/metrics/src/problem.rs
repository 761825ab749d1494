//! What a recorder tells of, since a macro has nobody to return an error to.

use std::fmt::{self, Display, Formatter};

use crate::kind::Kind;

/// Something that a program would want to know about its metrics. No count is lost without one.
///
/// ```
/// use windrow_metrics::{Problem, Recorder, Value};
///
/// let recorder = Recorder::builder().build()?;
/// metrics::with_local_recorder(&recorder, || {
///     metrics::counter!("http.requests").increment(2);
///     metrics::counter!("http_requests").increment(3);
/// });
/// let snapshot = recorder.handle().snapshot();
/// assert_eq!(snapshot.get("http_requests", &[]), Some(&Value::Counter(5)));
/// let merged = Problem::Merged {
///     names: ["http.requests".into(), "http_requests".into()],
///     exported: "http_requests".into(),
/// };
/// assert_eq!(snapshot.problems(), [merged]);
/// # Ok::<(), windrow_metrics::BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// Two names, or more, are one name for Prometheus. Their series are exported together, and
    /// where the labels are the same too, counters and histograms are added up and gauges hold what
    /// was set last.
    Merged {
        /// The first name, and the first one that differs from it.
        names: [String; 2],
        /// What they are exported as.
        exported: String,
    },
    /// A metric has the name of another one that was there before, or of a part of it (`rt_count`
    /// of a histogram `rt`). It is exported as another.
    Renamed {
        /// What it is.
        kind: Kind,
        /// What it would be exported as.
        name: String,
        /// What it is exported as.
        exported: String,
    },
    /// A key has a label twice. The greatest value counts, in the order of bytes.
    RepeatedLabel {
        /// The metric's exported name.
        name: String,
        /// The label's.
        label: String,
    },
    /// Calls had a new key when there were as many keys as may be, or one that is too
    /// [long](crate::Builder::key_bytes). What counters and histograms counted is in a series with
    /// the label `overflow="true"`; an `absolute`, and what gauges were told, is
    /// [dropped](Problem::Dropped).
    Refused {
        /// Of which kind.
        kind: Kind,
        /// How many calls there were: of a macro, or to register.
        calls: u64,
    },
    /// Gauges whose keys were refused were set, or counters whose keys were refused were given an
    /// `absolute`. These updates are in no series.
    Dropped {
        /// Of which kind.
        kind: Kind,
        /// How many updates there were.
        updates: u64,
    },
    /// Values were recorded that no sum can hold: not a number, infinite, or beyond 2^53. They are
    /// not in the histogram.
    Unrecorded {
        /// The histogram's exported name.
        name: String,
        /// How many values there were.
        values: u64,
    },
    /// Values below zero were recorded in a histogram that counts in cells, which have none for
    /// them. They are in its first bucket, and in its sum as they are; for percentiles they are
    /// zero. Choose [bounds](crate::Builder::buckets_for) for such values.
    BelowZero {
        /// The histogram's exported name.
        name: String,
        /// How many values there were.
        values: u64,
    },
}

impl Display for Problem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Merged { names: [one, other], exported } => {
                write!(f, "`{one}` and `{other}` are both exported as `{exported}`")
            }
            Problem::Renamed { kind, name, exported } => write!(
                f,
                "the {kind} `{name}` is exported as `{exported}`, since another metric has its name"
            ),
            Problem::RepeatedLabel { name, label } => {
                write!(f, "`{name}` has the label `{label}` twice; the greatest value counts")
            }
            Problem::Refused { kind, calls } => {
                write!(
                    f,
                    "{calls} calls had a new {kind} when there were as many keys as may be, or a long key"
                )
            }
            Problem::Dropped { kind, updates } => {
                write!(f, "{updates} updates of {kind}s whose keys were refused are in no series")
            }
            Problem::Unrecorded { name, values } => write!(
                f,
                "{values} values of `{name}` are not recorded: not finite, or beyond 2^53"
            ),
            Problem::BelowZero { name, values } => {
                write!(
                    f,
                    "{values} values of `{name}` are below zero, and counted as zero in cells"
                )
            }
        }
    }
}
