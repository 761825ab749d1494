//! The errors of rules.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::PathBuf;

/// A fault of a part.
pub(crate) type Problem = Box<dyn Error + Send + Sync>;

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
    /// A part of the rules is wrong. It is one of these:
    ///
    /// - a setting that no gate, pace or window can have;
    /// - a field that the limiters of these keys do not take;
    /// - a list or a text that is too long;
    /// - a rule without labels, with a label twice, or with a label that the keys do not have;
    /// - a rule or a weight that is never reached, because an earlier one matches everything that
    ///   it matches.
    Part {
        /// The part.
        part: RulesPart,
        /// Its fault: a [`LimitError`](windrow::LimitError) or a
        /// [`BuildError`](windrow::BuildError) of a setting, and a text otherwise.
        problem: Box<dyn Error + Send + Sync>,
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
    /// The list of rules.
    Rules,
    /// The list of weights.
    Weights,
    /// The labels of a rule, by its position from 0.
    Match(usize),
}

impl RulesPart {
    /// Returns the error of this part.
    pub(crate) fn error(self, problem: impl Into<Problem>) -> RulesError {
        RulesError::Part { part: self, problem: problem.into() }
    }
}

impl Display for RulesPart {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            RulesPart::Default => f.write_str("default"),
            RulesPart::Overflow => f.write_str("overflow"),
            RulesPart::Rule(index) => write!(f, "rules[{index}]"),
            RulesPart::Weight(index) => write!(f, "weights[{index}]"),
            RulesPart::Rules => f.write_str("rules"),
            RulesPart::Weights => f.write_str("weights"),
            RulesPart::Match(index) => write!(f, "rules[{index}].match"),
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
            RulesError::Part { part, problem } => write!(f, "{part}: {problem}"),
            RulesError::File { path, error } => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl Error for RulesError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            RulesError::Part { problem, .. } => Some(&**problem),
            RulesError::File { error, .. } => Some(error),
            _ => None,
        }
    }
}
