//! The error of registering a metric.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

/// The error of [`Exposition::register`](crate::Exposition::register), which refuses a metric: then
/// no scrape shows it.
///
/// Each of these mistakes would make a scrape that Prometheus refuses as a whole or reads in part,
/// together with all other metrics in it.
///
/// ```
/// use windrow_prometheus::{Exposition, RegisterError};
///
/// static HITS: windrow::Counter = windrow::Counter::new();
///
/// let error = Exposition::new().register("hits_total", "Hits", &HITS).unwrap_err();
/// assert_eq!(error, RegisterError::Total { name: "hits_total".to_owned() });
/// assert_eq!(
///     error.to_string(),
///     "the name `hits_total` of a counter ends in `_total`, which is appended to it: \
///      name it `hits`"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegisterError {
    /// The name is empty.
    NoName,
    /// The name, with the prefix, has a character that no name has in a registry of
    /// `prometheus-client`, or after [`with_plain_names`](crate::Exposition::with_plain_names): it
    /// is made of ASCII letters, digits, `_` and `:`, and does not begin with a digit.
    Name {
        /// The name, with the prefix where that has the character.
        name: String,
        /// The first character that is wrong.
        character: char,
    },
    /// The name of a counter ends in `_total`, which is appended to it.
    Total {
        /// The name given.
        name: String,
    },
    /// The name of an info ends in `_info`, which is appended to it.
    Info {
        /// The name given.
        name: String,
    },
    /// The unit has a character that it cannot have: it is made of ASCII letters, digits and `_`.
    Unit {
        /// The unit given.
        unit: String,
        /// The first character that is wrong.
        character: char,
    },
    /// One of the names in the scrape is taken, as it is or [escaped](crate::Escaping).
    NameTaken {
        /// The name, with the prefix.
        name: String,
    },
    /// The help has a control character (for example a line feed) or a backslash, which
    /// `prometheus-client` does not escape.
    Help {
        /// The help given.
        help: String,
        /// The first character that is wrong.
        character: char,
    },
    /// A label's name has a character that none has in a registry of `prometheus-client`, or after
    /// [`with_plain_names`](crate::Exposition::with_plain_names): it is made of ASCII letters,
    /// digits and `_`, and does not begin with a digit. Or it is empty: then there is no such
    /// character.
    Label {
        /// The label's name.
        label: String,
        /// The first character that is wrong.
        character: Option<char>,
    },
    /// A label's name begins with `__`, as it is or [escaped](crate::Escaping), which Prometheus
    /// reserves; or a label of the family, or one
    /// that all series have, is called `overflow`, and the family has an overflow series, which has
    /// a label of that name.
    ReservedLabel {
        /// The label's name.
        label: String,
    },
    /// Two labels have one name, as it is or [escaped](crate::Escaping): both of the family, or one
    /// of them is a label that all series have, the label `event` of a window, the label `le` of a
    /// histogram, or the label `q` of a window with percentiles.
    LabelTwice {
        /// The labels' name.
        label: String,
    },
    /// The values of the metric's histograms are to be shown divided by zero.
    PerZero {
        /// The name given.
        name: String,
    },
    /// A bound of its histograms is below the range of their scale, where they do not tell values
    /// apart.
    BoundBelow {
        /// The name given.
        name: String,
        /// The bound.
        bound: u64,
        /// The least bound that can be shown.
        least: u64,
    },
    /// A registry of `prometheus-client` cannot be encoded, because another collector in it fails.
    /// So its names are unknown.
    Registry,
}

impl Display for RegisterError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            RegisterError::NoName => write!(f, "the name is empty"),
            RegisterError::Name { name, character } => write!(
                f,
                "the name `{name}` has {character:?}; a name is made of ASCII letters, digits, `_` and `:`, and does \
                 not begin with a digit"
            ),
            RegisterError::Total { name } => write!(
                f,
                "the name `{name}` of a counter ends in `_total`, which is appended to it: name it `{}`",
                name.trim_end_matches("_total")
            ),
            RegisterError::NameTaken { name } => write!(
                f,
                "the name `{name}` is taken, or another name that scrapers see as that one"
            ),
            RegisterError::Info { name } => write!(
                f,
                "the name `{name}` of an info ends in `_info`, which is appended to it: name it `{}`",
                name.trim_end_matches("_info")
            ),
            RegisterError::Unit { unit, character } => write!(
                f,
                "the unit `{unit}` has {character:?}; a unit is made of ASCII letters, digits and `_`"
            ),
            RegisterError::Help { help, character } => write!(
                f,
                "the help {help:?} has {character:?}; a help is one line, without control characters and backslashes"
            ),
            RegisterError::Label { label, character: Some(character) } => write!(
                f,
                "the label `{label}` has {character:?}; a label's name is made of ASCII letters, digits and `_`, and \
                 does not begin with a digit"
            ),
            RegisterError::Label { .. } => write!(f, "a label's name is empty"),
            RegisterError::ReservedLabel { label } => write!(
                f,
                "the label `{label}` is reserved: names that begin with `__` are Prometheus's, and `overflow` \
                 marks a family's overflow series, so no other label may have that name"
            ),
            RegisterError::LabelTwice { label } => {
                write!(f, "the label `{label}` is there twice, labels of all series included")
            }
            RegisterError::BoundBelow { name, bound, least } => write!(
                f,
                "the bound {bound} of `{name}` is below {least}, up to which its histogram does not tell values \
                 apart; leave it out, or give the histogram a scale that begins lower"
            ),
            RegisterError::PerZero { name } => write!(
                f,
                "the values of `{name}` are to be shown divided by 0; by 1 they stay as they are"
            ),
            RegisterError::Registry => {
                write!(f, "the registry cannot be encoded: another collector in it fails")
            }
        }
    }
}

impl Error for RegisterError {}
