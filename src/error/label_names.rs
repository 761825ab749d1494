//! Why names of labels are refused.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

/// Why [`LabelNames::new`](crate::labels::LabelNames::new) refuses names.
///
/// ```
/// use windrow::labels::{LabelNames, LabelNamesError};
///
/// let error = LabelNames::new(["tenant", "region", "tenant"]).unwrap_err();
/// assert_eq!(error, LabelNamesError::Twice { name: "tenant".to_owned() });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LabelNamesError {
    /// There are more names than a family has labels.
    TooMany {
        /// How many names there are.
        names: usize,
        /// The most that there may be.
        most: usize,
    },
    /// The names are longer, all together, than a family keeps them.
    TooLong {
        /// The bytes of all names.
        bytes: usize,
        /// The most that there may be.
        most: usize,
    },
    /// A name is empty.
    Empty {
        /// Which of the names, from zero.
        position: usize,
    },
    /// A name has a control character, a `"` or a `\`: exporters write names as they are.
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
    /// A name is `overflow`, which exporters show of the series in which all sets count that find
    /// no room.
    Reserved {
        /// The name.
        name: String,
    },
}

impl Display for LabelNamesError {
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
