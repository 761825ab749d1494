//! The error of observing a metric.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

/// The error of an [`Observer`](crate::Observer) that refuses a metric: then nothing of it is
/// exported.
///
/// ```
/// use opentelemetry::global::meter;
/// use windrow::{Family, Maximum, labels};
/// use windrow_opentelemetry::{ObserveError, Observer};
///
/// labels! { pub struct User { user: u64 } }
///
/// static SLOWEST: Family<User, Maximum> = Family::new().with_max_series(5_000);
///
/// let error = Observer::new(meter("shop")).observe("slowest", "", &SLOWEST).unwrap_err();
/// let name = "slowest".to_owned();
/// assert_eq!(error, ObserveError::TooManySets { name, sets: 5_001, limit: 2_000 });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ObserveError {
    /// No instrument can have the name, or this observer has one of that name.
    Name {
        /// The name, with its suffix.
        name: String,
        /// The problem: it is empty, has a character that it cannot have there, is longer than 255
        /// characters, or is taken. (A name is made of ASCII letters, digits, `_`, `.`, `-` and
        /// `/`, and begins with a letter; case makes no difference.)
        problem: String,
    },
    /// Two labels have one name: both are the family's; or one is that of events, or `overflow`,
    /// which marks the overflow series of the family and of the SDK's sets.
    LabelTwice {
        /// The labels' name.
        label: String,
    },
    /// A gauge can have more sets of attributes than the SDK takes at a time: the SDK would export
    /// the last of the excess sets as if it stood for all of them. Or the limit is too small: it
    /// must have room for the sets of one series and for those of the overflow series.
    TooManySets {
        /// The name given.
        name: String,
        /// The greatest number of sets of a gauge, or the least limit.
        sets: usize,
        /// The limit.
        limit: usize,
    },
}

impl Display for ObserveError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ObserveError::Name { name, problem } => write!(f, "the name `{name}` {problem}"),
            ObserveError::LabelTwice { label } => write!(
                f,
                "the label `{label}` is there twice; `event` tells the events of a window apart, and `overflow` marks \
                 what finds no room"
            ),
            ObserveError::TooManySets { name, sets, limit } => write!(
                f,
                "`{name}` needs room for {sets} sets of attributes, and the SDK takes {limit}: limit the family, or \
                 give it a View with more and say so by `observe_up_to`"
            ),
        }
    }
}

impl Error for ObserveError {}
