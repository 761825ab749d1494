//! Why something cannot be observed.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

/// Why an [`Observer`](crate::Observer) refuses a metric: then nothing of it is exported.
///
/// ```
/// use opentelemetry::global::meter;
/// use windrow::{Counter, Family, labels};
/// use windrow_opentelemetry::{ObserveError, Observer};
///
/// labels! { pub struct User { user: u64 } }
///
/// static REQUESTS: Family<User, Counter> = Family::new().limit(5_000);
///
/// let error = Observer::new(meter("shop")).observe("requests", "", &REQUESTS).unwrap_err();
/// assert_eq!(error, ObserveError::TooManySets { name: "requests".to_owned(), sets: 5_001, limit: 2_000 });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ObserveError {
    /// The name is empty.
    NoName,
    /// The name has a character that an instrument's cannot have there: it is made of ASCII letters, digits, `_`, `.`, `-`
    /// and `/`, and begins with a letter.
    Name {
        /// The name given.
        name: String,
        /// The first character that is wrong.
        character: char,
    },
    /// The name, with what is appended to it, is longer than 255 characters.
    NameTooLong {
        /// The name, with what is appended.
        name: String,
    },
    /// This observer has an instrument of that name. (Case makes no difference.)
    NameTaken {
        /// The name, with what is appended.
        name: String,
    },
    /// Two labels have one name: both of the family; or one is that of events, or of what finds no room.
    LabelTwice {
        /// The labels' name.
        label: String,
    },
    /// There can be more sets of attributes than the SDK takes at a time: it would add up none of those beyond, and export the
    /// last of them.
    TooManySets {
        /// The name given.
        name: String,
        /// How many sets there can be.
        sets: usize,
        /// How many may be.
        limit: usize,
    },
}

impl Display for ObserveError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ObserveError::NoName => write!(f, "the name is empty"),
            ObserveError::Name { name, character } => write!(
                f,
                "the name `{name}` has {character:?}; a name is made of ASCII letters, digits, `_`, `.`, `-` and `/`, \
                 and begins with a letter"
            ),
            ObserveError::NameTooLong { name } => {
                write!(f, "the name `{name}` has {} characters, of 255 at most", name.len())
            }
            ObserveError::NameTaken { name } => {
                write!(f, "the name `{name}` is taken; case makes no difference")
            }
            ObserveError::LabelTwice { label } => write!(
                f,
                "the label `{label}` is there twice; `event` tells the events of a window apart, and `overflow` marks \
                 what finds no room"
            ),
            ObserveError::TooManySets { name, sets, limit } => write!(
                f,
                "`{name}` can have {sets} sets of attributes, and the SDK takes {limit}: limit the family, or give it \
                 a View with more and say so by `observe_up_to`"
            ),
        }
    }
}

impl Error for ObserveError {}
