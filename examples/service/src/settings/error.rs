//! Errors of settings.

use std::error::Error;
use std::fmt;
use std::io;

/// An error of a setting; `place` is a line of the file, an environment variable, or an argument.
#[derive(Debug)]
#[non_exhaustive]
pub(crate) enum SettingError {
    /// The file cannot be read.
    Unreadable { file: String, error: io::Error },
    /// A line is not `key = value`.
    NotALine { place: String, line: String },
    /// The name of an environment variable has a lower-case letter.
    LowerCase { place: String },
    /// A file, or the arguments, have a key twice.
    Twice { place: String, key: String },
    /// There is no setting of this name.
    Unknown { place: String, key: String, keys: String },
    /// A value breaks its rule.
    Invalid { place: String, key: String, value: String, rule: &'static str },
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingError::Unreadable { file, error } => write!(f, "cannot read {file}: {error}"),
            SettingError::NotALine { place, line } => {
                write!(f, "{place}: {line:?} is not a setting: it must be `key = value`")
            }
            SettingError::Twice { place, key } => {
                write!(f, "{place}: {key} is set twice")
            }
            SettingError::LowerCase { place } => write!(f, "{place}: it must be in upper case"),
            SettingError::Unknown { place, key, keys } => {
                write!(f, "{place}: there is no setting {key}; there are {keys}")
            }
            SettingError::Invalid { place, key, value, rule } => {
                write!(f, "{place}: {key} is {value:?}: it must be {rule}")
            }
        }
    }
}

impl Error for SettingError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            SettingError::Unreadable { error, .. } => Some(error),
            _ => None,
        }
    }
}
