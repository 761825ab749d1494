//! The rules for names, helps, units and labels.

use std::collections::HashSet;

use crate::error::RegisterError;
use crate::escaping::{Escaping, NameKind};

/// The characters that names may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Characters {
    /// All, because names are escaped where a scraper does not take them.
    Any,
    /// Prometheus' own, because names are shown as they are.
    Plain,
}

impl Characters {
    /// Returns the first character that a name cannot have where it stands.
    fn wrong(self, kind: NameKind, name: &str) -> Option<char> {
        let mut characters = name.chars().enumerate();
        let wrong = characters.find(|(index, character)| !kind.has(*index, *character));
        wrong.filter(|_| self == Characters::Plain).map(|(_, character)| character)
    }
}

pub(crate) fn check_name(characters: Characters, name: &str) -> Result<(), RegisterError> {
    if name.is_empty() {
        return Err(RegisterError::NoName);
    }
    let wrong = characters.wrong(NameKind::Metric, name);
    wrong.map_or(Ok(()), |character| Err(RegisterError::Name { name: name.to_owned(), character }))
}

/// Checks a unit, which is a part of names.
pub(crate) fn check_unit(unit: &str) -> Result<(), RegisterError> {
    let right = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let wrong = unit.chars().find(|character| !right(*character));
    wrong.map_or(Ok(()), |character| Err(RegisterError::Unit { unit: unit.to_owned(), character }))
}

#[cfg(feature = "registry")]
pub(crate) fn check_help(help: &str) -> Result<(), RegisterError> {
    let wrong = help.chars().find(|character| character.is_control() || *character == '\\');
    wrong.map_or(Ok(()), |character| Err(RegisterError::Help { help: help.to_owned(), character }))
}

/// Checks the names of all labels of one sample. Those that are escaped need other names then, too.
pub(crate) fn check_labels<'l>(
    characters: Characters,
    labels: impl IntoIterator<Item = &'l str>,
) -> Result<(), RegisterError> {
    let [mut underscores, mut values] = [(); 2].map(|()| HashSet::new());
    for label in labels {
        let wrong = characters.wrong(NameKind::Label, label);
        if wrong.is_some() || label.is_empty() {
            return Err(RegisterError::Label { label: label.to_owned(), character: wrong });
        }
        let escaped = Escaping::Underscores.name(NameKind::Label, label);
        if escaped.starts_with("__") {
            return Err(RegisterError::ReservedLabel { label: label.to_owned() });
        }
        let value = Escaping::Values.name(NameKind::Label, label);
        if !underscores.insert(escaped) || !values.insert(value) {
            return Err(RegisterError::LabelTwice { label: label.to_owned() });
        }
    }
    Ok(())
}

#[cfg(all(test, feature = "registry"))]
mod tests;
