//! The errors of rules.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::PathBuf;

use windrow::{BuildError, LimitError};

/// An error of rules. The rules that were in force before stay in force.
///
/// ```
/// use windrow_tower::{Rate, Rules};
///
/// let rules = Rules::builder(Rate::new(100)).rule([("client", "batch")], Rate::new(0));
/// assert_eq!(
///     rules.build().unwrap_err().to_string(),
///     "rules[0]: the limit is 0; it must be at least 1"
/// );
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum RulesError {
    /// The text is longer than [`Rules::MAX_BYTES`](crate::Rules::MAX_BYTES).
    TooLong {
        /// The length of the text in bytes.
        bytes: u64,
        /// The maximum length.
        max: usize,
    },
    /// The text is not JSON, or a field is unknown, missing, duplicated or of another type.
    Json {
        /// The line, from 1.
        line: usize,
        /// The byte in the line, from 1.
        column: usize,
        /// The problem.
        problem: String,
    },
    /// A list is too long: of rules, of weights, or of a rule's labels.
    TooMany {
        /// The list that is too long: `rules`, `weights`, or `rules[3].match`.
        list: String,
        /// The maximum length.
        max: usize,
    },
    /// No gate can have this rate.
    Rate {
        /// The rate.
        part: RulesPart,
        /// The gate's error.
        error: LimitError,
    },
    /// No pace can have this rate.
    Pace {
        /// The rate.
        part: RulesPart,
        /// The pace's error.
        error: LimitError,
    },
    /// A rate has a field that the limiters of the keys do not take: a gate has no `burst`, and a
    /// pace is not `strict`. [`Paces`](windrow::Paces) do not even take the `limit`, since a rate
    /// is that of one.
    Unsuited {
        /// The rate.
        part: RulesPart,
        /// The field.
        field: &'static str,
    },
    /// No window can have this geometry.
    Window {
        /// The geometry.
        part: RulesPart,
        /// The window's error.
        error: BuildError,
    },
    /// A rate has more buckets than [`Rate::MAX_BUCKETS`](crate::Rate::MAX_BUCKETS), or a geometry
    /// more than [`Geometry::MAX_BUCKETS`](crate::Geometry::MAX_BUCKETS).
    TooManyBuckets {
        /// The rate or the geometry.
        part: RulesPart,
        /// The number of its buckets.
        buckets: usize,
        /// The maximum number.
        max: usize,
    },
    /// A rule names no label, so it would match every key. Use the default for that.
    NoLabel {
        /// The rule.
        part: RulesPart,
    },
    /// A rule names a label twice.
    LabelTwice {
        /// The rule.
        part: RulesPart,
        /// The label.
        label: String,
    },
    /// A rule names a label that the keys do not have.
    UnknownLabel {
        /// The rule.
        part: RulesPart,
        /// The label.
        label: String,
        /// The labels that the keys have.
        known: Vec<String>,
    },
    /// A pattern, or the name of a label, is longer than
    /// [`Rules::MAX_TEXT`](crate::Rules::MAX_TEXT). No key has such a text.
    TextTooLong {
        /// The rule or weight.
        part: RulesPart,
        /// The length of it in bytes.
        bytes: usize,
        /// The maximum length.
        max: usize,
    },
    /// A rule or a weight can never be reached: an earlier one matches everything that it matches.
    Unreachable {
        /// The rule or weight.
        part: RulesPart,
        /// The earlier one.
        by: RulesPart,
    },
    /// The file cannot be read, or is a directory, a pipe, a socket or a device.
    File {
        /// The file.
        path: PathBuf,
        /// The system's error, or one that says so.
        error: io::Error,
    },
}

/// A part of [`Rules`](crate::Rules), displayed as its path in JSON.
///
/// ```
/// use windrow_tower::RulesPart;
///
/// assert_eq!(RulesPart::Rule(3).to_string(), "rules[3]");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RulesPart {
    /// The default setting.
    Default,
    /// The setting of the overflow gate, room or series.
    Overflow,
    /// A rule, by its position from 0.
    Rule(usize),
    /// A weight, by its position from 0.
    Weight(usize),
}

impl Display for RulesPart {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            RulesPart::Default => f.write_str("default"),
            RulesPart::Overflow => f.write_str("overflow"),
            RulesPart::Rule(index) => write!(f, "rules[{index}]"),
            RulesPart::Weight(index) => write!(f, "weights[{index}]"),
        }
    }
}

impl Display for RulesError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            RulesError::TooLong { bytes, max } => {
                write!(f, "the rules have {bytes} bytes; they must have {max} or less")
            }
            RulesError::Json { line, column, problem } => {
                write!(f, "line {line}, column {column}: {problem}")
            }
            RulesError::TooMany { list, max } => {
                write!(f, "{list}: there are too many; there must be {max} or fewer")
            }
            RulesError::Rate { part, error } | RulesError::Pace { part, error } => {
                write!(f, "{part}: {error}")
            }
            RulesError::Unsuited { part, field } => {
                write!(f, "{part}: the limiters of these keys take no `{field}` from rules")
            }
            RulesError::Window { part, error } => write!(f, "{part}: {error}"),
            RulesError::TooManyBuckets { part, buckets, max } => {
                write!(f, "{part}: there are {buckets} buckets; there must be {max} or fewer")
            }
            RulesError::NoLabel { part } => {
                write!(
                    f,
                    "{part}: it names no label, and every key matches it; use `default` for that"
                )
            }
            RulesError::LabelTwice { part, label } => {
                write!(f, "{part}: the label {label:?} is named twice")
            }
            RulesError::UnknownLabel { part, label, known } => {
                write!(f, "{part}: keys have no label {label:?}; they have {known:?}")
            }
            RulesError::TextTooLong { part, bytes, max } => {
                write!(f, "{part}: a text has {bytes} bytes; it must have {max} or less")
            }
            RulesError::Unreachable { part, by } => {
                write!(f, "{part}: {by} comes first, and matches everything that it matches")
            }
            RulesError::File { path, error } => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl Error for RulesError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            RulesError::Rate { error, .. } | RulesError::Pace { error, .. } => Some(error),
            RulesError::Window { error, .. } => Some(error),
            RulesError::File { error, .. } => Some(error),
            _ => None,
        }
    }
}
