//! The problems that a recorder reports, since a macro cannot return an error.

use std::fmt::{self, Display, Formatter};

use crate::kind::Kind;

/// A problem with a program's metrics. No count is lost without one.
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
    /// Two or more names are the same for Prometheus. Their series are exported together; where
    /// their labels are also the same, counters and histograms are added up, and a gauge holds the
    /// last value set.
    Merged {
        /// The first name, and the first one that differs from it.
        names: [String; 2],
        /// The exported name.
        exported: String,
    },
    /// Two or more keys of one name have labels that are the same for Prometheus: a label without a
    /// value is no label there, `a.b` is `a_b`, and a
    /// [global label](crate::Builder::global_label) may be one of the key's own. They are one
    /// series: counters and histograms are added up, and a gauge holds the last value set.
    MergedLabels {
        /// The metric's exported name.
        name: String,
        /// The exported labels of the first such series, and their values.
        labels: Vec<(String, String)>,
    },
    /// A metric has the name of an earlier one, or of a part of it (`rt_count` of a histogram
    /// `rt`). It is exported under another name.
    Renamed {
        /// The kind of the metric.
        kind: Kind,
        /// The name that it would have had.
        name: String,
        /// The exported name.
        exported: String,
    },
    /// A key has a label twice. The greatest value counts, in the order of bytes.
    RepeatedLabel {
        /// The metric's exported name.
        name: String,
        /// The label's name.
        label: String,
    },
    /// Calls had a new key beyond the [limits of keys](crate::Builder::keys), or one that is too
    /// [long](crate::Builder::key_bytes). The counts of counters and histograms are in a series
    /// with the label `overflow="true"`; an `absolute`, and updates of gauges, are
    /// [dropped](Problem::Dropped).
    Refused {
        /// The kind of metric.
        kind: Kind,
        /// The number of calls: of a macro, or to register.
        calls: u64,
    },
    /// Gauges whose keys were refused were set, or counters whose keys were refused were given an
    /// `absolute`. These updates are in no series.
    Dropped {
        /// The kind of metric.
        kind: Kind,
        /// The number of updates.
        updates: u64,
    },
    /// Values that no sum can hold were recorded: not a number, infinite or beyond 2^53. They are
    /// not in the histogram.
    Unrecorded {
        /// The histogram's exported name.
        name: String,
        /// The number of values.
        values: u64,
    },
    /// Values below zero were recorded in a histogram that counts in cells, which have none for
    /// them. They are in its first bucket, and in its sum with their own values; for percentiles
    /// they count as zero. Choose [bounds](crate::Builder::buckets_for) for such values.
    BelowZero {
        /// The histogram's exported name.
        name: String,
        /// The number of values.
        values: u64,
    },
}

impl Display for Problem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Merged { names: [one, other], exported } => {
                write!(f, "`{one}` and `{other}` are both exported as `{exported}`")
            }
            Problem::MergedLabels { name, labels } => {
                write!(f, "two keys are both exported as `{name}")?;
                for (index, (label, value)) in labels.iter().enumerate() {
                    let before = if index == 0 { '{' } else { ',' };
                    write!(f, "{before}{label}={value:?}")?;
                }
                f.write_str(if labels.is_empty() { "`" } else { "}`" })
            }
            Problem::Renamed { kind, name, exported } => write!(
                f,
                "the {kind} `{name}` is exported as `{exported}`, since another metric has its name"
            ),
            Problem::RepeatedLabel { name, label } => {
                write!(f, "`{name}` has the label `{label}` twice; the greatest value counts")
            }
            Problem::Refused { kind, calls } => write!(
                f,
                "{calls} calls had a new {kind} beyond the limit of keys, or a key that is too long"
            ),
            Problem::Dropped { kind, updates } => {
                write!(f, "{updates} updates of {kind}s whose keys were refused are in no series")
            }
            Problem::Unrecorded { name, values } => write!(
                f,
                "{values} values of `{name}` are not recorded: not finite, or beyond 2^53"
            ),
            Problem::BelowZero { name, values } => write!(
                f,
                "{values} values of `{name}` are below zero, and counted as zero in cells"
            ),
        }
    }
}
