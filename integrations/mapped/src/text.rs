//! A metric's name with its labels, as one text in the file.
//!
//! The texts of an entry are joined by zero bytes: the name, then for each label its name and its
//! value. Labels are in the order of their names. So one set of labels has one text, in whatever
//! order a program names them, and no text needs escapes.

use crate::error::MappedError;

/// The maximum length of an entry's text, in bytes.
pub(crate) const MOST_BYTES: usize = 1024;

/// The character between two texts.
const BETWEEN: char = '\0';

/// Joins a name and labels.
pub(crate) fn join(name: &str, labels: &[(&str, &str)]) -> Result<String, MappedError> {
    check_name(name)?;
    let mut labels = labels.to_vec();
    labels.sort_unstable();
    let mut text = name.to_owned();
    let mut before = None;
    for (label, value) in labels {
        check_name(label)?;
        if value.contains(BETWEEN) {
            return bad(value, "the value of a label cannot have the character zero");
        }
        if before == Some(label) {
            return bad(label, "each label must have its own name");
        }
        before = Some(label);
        for part in [label, value] {
            text.push(BETWEEN);
            text.push_str(part);
        }
    }
    if text.len() > MOST_BYTES {
        return bad(name, "name and labels must have 1024 bytes or fewer together");
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
pub(crate) fn check_name(name: &str) -> Result<(), MappedError> {
    if name.is_empty() {
        return bad(name, "a name must have at least 1 character");
    }
    // Most names have these bytes alone.
    if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Ok(());
    }
    let is_refused = |character: char| character.is_control() || matches!(character, '"' | '\\');
    if name.contains(is_refused) {
        return bad(name, "a name can have no control character, no `\"` and no `\\`");
    }
    Ok(())
}

fn bad<T>(text: &str, rule: &'static str) -> Result<T, MappedError> {
    Err(MappedError::BadName { text: text.to_owned(), rule })
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
        let long = "x".repeat(MOST_BYTES + 1);
        let labels: [(&str, &[(&str, &str)], _, _); 7] = [
            ("", &[], "", "at least 1 character"),
            ("a", &[("", "b")], "", "at least 1 character"),
            ("a\n", &[], "a\n", "no control character"),
            ("a", &[("b\"", "")], "b\"", "no control character"),
            ("a", &[("b", "c\0d")], "c\0d", "the character zero"),
            ("a", &[("b", "1"), ("b", "2")], "b", "its own name"),
            (&long, &[], &long, "1024 bytes or fewer"),
        ];
        for (name, labels, wrong, words) in labels {
            let error = join(name, labels).unwrap_err();
            let MappedError::BadName { text, rule } = error else { panic!("{error}") };
            assert!(text == wrong && rule.contains(words), "{text:?}: {rule}");
        }
        assert!(join(&long[1..], &[]).is_ok());
    }

    #[test]
    fn no_other_text_is_taken_for_a_joined_one() {
        for text in ["", "\0", "a\0b", "a\0\0c", "a\0b\0c\0b\0d", "a\0c\0x\0b\0y", "a\\"] {
            assert!(!is_joined(text), "{text:?}");
        }
    }
}
