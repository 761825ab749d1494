//! The error of a name or a label that a file cannot have.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

/// The error of a metric's name, or of a label, that a mapped file cannot have.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameError {
    /// The metric's name, or a label's, is empty.
    Empty,
    /// A name has a character that it cannot have: a control character, a `"` or a `\`; or a
    /// label's value has the character zero.
    Character {
        /// The name or the value.
        text: String,
        /// The character.
        character: char,
    },
    /// Two labels have the same name.
    LabelTwice {
        /// The name.
        label: String,
    },
    /// The metric's name and its labels are too long together.
    TooLong {
        /// Their length with a byte between each two texts.
        bytes: usize,
        /// The maximum.
        most: usize,
    },
}

impl Display for NameError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            NameError::Empty => write!(f, "a name is empty; it must have at least 1 character"),
            NameError::Character { text, character } => {
                write!(f, "{text:?} has the character {character:?}, which it cannot have")
            }
            NameError::LabelTwice { label } => {
                write!(f, "the label {label:?} is there twice; each label must have its own name")
            }
            NameError::TooLong { bytes, most } => {
                write!(f, "name and labels have {bytes} bytes; they must have {most} or fewer")
            }
        }
    }
}

impl Error for NameError {}
