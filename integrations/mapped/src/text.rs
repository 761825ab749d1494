//! A metric's name with its labels, as one text in the file.
//!
//! The texts of an entry are joined by zero bytes: the name, then for each label its name and its
//! value. Labels are in the order of their names. So one set of labels has one text, in whatever
//! order a program names them, and no text needs escapes.

use crate::name_error::NameError;

/// The maximum length of an entry's text, in bytes.
pub(crate) const MOST_BYTES: usize = 1024;

/// The character between two texts.
const BETWEEN: char = '\0';

/// Joins a name and labels.
pub(crate) fn join(name: &str, labels: &[(&str, &str)]) -> Result<String, NameError> {
    check_name(name)?;
    let mut labels = labels.to_vec();
    labels.sort_unstable();
    let mut text = name.to_owned();
    let mut before = None;
    for (label, value) in labels {
        check_name(label)?;
        if value.contains(BETWEEN) {
            return Err(NameError::Character { text: value.to_owned(), character: BETWEEN });
        }
        if before == Some(label) {
            return Err(NameError::LabelTwice { label: label.to_owned() });
        }
        before = Some(label);
        for part in [label, value] {
            text.push(BETWEEN);
            text.push_str(part);
        }
    }
    if text.len() > MOST_BYTES {
        return Err(NameError::TooLong { bytes: text.len(), most: MOST_BYTES });
    }
    Ok(text)
}

/// Returns the name in a joined text.
pub(crate) fn name(text: &str) -> &str {
    text.split(BETWEEN).next().unwrap_or_default()
}

/// Returns the labels in a joined text.
pub(crate) fn labels(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut parts = text.split(BETWEEN).skip(1);
    std::iter::from_fn(move || Some((parts.next()?, parts.next()?)))
}

/// Returns whether [`join`] can have made the text.
pub(crate) fn is_joined(text: &str) -> bool {
    let labels: Vec<_> = labels(text).collect();
    join(name(text), &labels).is_ok_and(|joined| joined == text)
}

/// Checks that a text can be a name.
pub(crate) fn check_name(name: &str) -> Result<(), NameError> {
    if name.is_empty() {
        return Err(NameError::Empty);
    }
    // Most names have these bytes alone.
    if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Ok(());
    }
    let is_refused = |character: &char| character.is_control() || matches!(character, '"' | '\\');
    match name.chars().find(is_refused) {
        Some(character) => Err(NameError::Character { text: name.to_owned(), character }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_one_order_and_come_back() {
        let text = join("calls", &[("route", "a\nb"), ("code", "")]).unwrap();
        assert_eq!(text, join("calls", &[("code", ""), ("route", "a\nb")]).unwrap());
        assert!(is_joined(&text));
        assert_eq!(name(&text), "calls");
        assert_eq!(labels(&text).collect::<Vec<_>>(), [("code", ""), ("route", "a\nb")]);
        let plain = join("calls", &[]).unwrap();
        assert!(is_joined(&plain) && labels(&plain).next().is_none());
    }

    #[test]
    fn each_rule_is_an_error() {
        let character =
            |text: &str, character| Err(NameError::Character { text: text.to_owned(), character });
        assert_eq!(join("", &[]), Err(NameError::Empty));
        assert_eq!(join("a", &[("", "b")]), Err(NameError::Empty));
        assert_eq!(join("a\n", &[]), character("a\n", '\n'));
        assert_eq!(join("a", &[("b\"", "")]), character("b\"", '"'));
        assert_eq!(join("a", &[("b", "c\0d")]), character("c\0d", '\0'));
        let twice = NameError::LabelTwice { label: "b".to_owned() };
        assert_eq!(join("a", &[("b", "1"), ("b", "2")]), Err(twice));
        let long = "x".repeat(MOST_BYTES + 1);
        assert!(join(&long[1..], &[]).is_ok());
        let error = NameError::TooLong { bytes: MOST_BYTES + 1, most: MOST_BYTES };
        assert_eq!(join(&long, &[]), Err(error));
    }

    #[test]
    fn no_other_text_is_taken_for_a_joined_one() {
        for text in ["", "\0", "a\0b", "a\0\0c", "a\0b\0c\0b\0d", "a\0c\0x\0b\0y", "a\\"] {
            assert!(!is_joined(text), "{text:?}");
        }
    }
}
