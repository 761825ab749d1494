//! The error of refused names of labels.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

/// The error of names that labels cannot have. Returned by
/// [`Family::with_names`](crate::Family::with_names) and
/// [`Family::with_names_and_constructor`](crate::Family::with_names_and_constructor).
///
/// ```
/// use windrow::{Counter, Family, labels::LabelNamesError};
///
/// let error = Family::<_, Counter>::with_names(["tenant", "region", "tenant"]).unwrap_err();
/// assert_eq!(error, LabelNamesError::Twice { name: "tenant".to_owned() });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LabelNamesError {
    /// There are too many names.
    TooMany {
        /// The number of names.
        names: usize,
        /// The maximum.
        most: usize,
    },
    /// The names together are too long.
    TooLong {
        /// The bytes of all names.
        bytes: usize,
        /// The maximum.
        most: usize,
    },
    /// A name is empty.
    Empty {
        /// The position of the name, from zero.
        position: usize,
    },
    /// A name has a control character, a `"` or a `\`, which exporters would not escape.
    Character {
        /// The name.
        name: String,
        /// The first such character in it.
        character: char,
    },
    /// Two labels have the same name.
    Twice {
        /// Their name.
        name: String,
    },
    /// A name is `overflow`, which is the label of the overflow series.
    Reserved {
        /// The name.
        name: String,
    },
}

impl Display for LabelNamesError {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            LabelNamesError::TooMany { names, most } => {
                write!(f, "there are {names} names of labels; there must be {most} or fewer")
            }
            LabelNamesError::TooLong { bytes, most } => write!(
                f,
                "the names of labels have {bytes} bytes together; they must have {most} or fewer"
            ),
            LabelNamesError::Empty { position } => {
                write!(f, "name {position} (from 0) is empty; a label's name must not be empty")
            }
            LabelNamesError::Character { name, character } => write!(
                f,
                "the name {name:?} contains {character:?}; a label's name must have no control \
                 character, quote or backslash"
            ),
            LabelNamesError::Twice { name } => {
                write!(f, "two labels have the name {name:?}; the names must differ")
            }
            LabelNamesError::Reserved { name } => write!(
                f,
                "a label has the name {name:?}, which is that of the series of all sets that find \
                 no room"
            ),
        }
    }
}

impl Error for LabelNamesError {}
