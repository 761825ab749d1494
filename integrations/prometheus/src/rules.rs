//! The rules for names, helps and labels.

use crate::error::RegisterError;

/// Returns the first character that a name cannot have where it stands.
fn wrong(name: &str, may_have: impl Fn(char) -> bool) -> Option<char> {
    let mut characters = name.char_indices();
    let right = |(index, character): (usize, char)| {
        character.is_ascii_alphabetic()
            || character == '_'
            || may_have(character)
            || (index > 0 && character.is_ascii_digit())
    };
    characters.find(|at| !right(*at)).map(|(_, character)| character)
}

pub(crate) fn check_name(name: &str) -> Result<(), RegisterError> {
    if name.is_empty() {
        return Err(RegisterError::NoName);
    }
    let wrong = wrong(name, |character| character == ':');
    wrong.map_or(Ok(()), |character| Err(RegisterError::Name { name: name.to_owned(), character }))
}

pub(crate) fn check_help(help: &str) -> Result<(), RegisterError> {
    let wrong = help.chars().find(|character| character.is_control() || *character == '\\');
    wrong.map_or(Ok(()), |character| Err(RegisterError::Help { help: help.to_owned(), character }))
}

/// Checks the names of all labels of one sample.
pub(crate) fn check_labels<'l>(
    labels: impl IntoIterator<Item = &'l str>,
) -> Result<(), RegisterError> {
    let mut seen: Vec<&str> = Vec::new();
    for label in labels {
        let wrong = wrong(label, |_| false);
        if wrong.is_some() || label.is_empty() {
            return Err(RegisterError::Label { label: label.to_owned(), character: wrong });
        }
        if label.starts_with("__") {
            return Err(RegisterError::ReservedLabel { label: label.to_owned() });
        }
        if seen.contains(&label) {
            return Err(RegisterError::LabelTwice { label: label.to_owned() });
        }
        seen.push(label);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_letters_digits_underscores_and_colons() {
        for name in ["a", "_", "a1", "job:requests:rate5m", "A_b9"] {
            assert_eq!(check_name(name), Ok(()));
        }
        for (name, character) in
            [("1a", '1'), ("a-b", '-'), ("a b", ' '), ("é", 'é'), ("a\n", '\n')]
        {
            assert_eq!(check_name(name), Err(RegisterError::Name { name: name.into(), character }));
        }
        assert_eq!(check_name(""), Err(RegisterError::NoName));
    }

    #[test]
    fn a_help_is_one_line_that_needs_no_escape() {
        assert_eq!(check_help("Requests, by \"route\": ü"), Ok(()));
        for (help, character) in
            [("a\nb", '\n'), ("a\\b", '\\'), ("\r", '\r'), ("a\u{85}", '\u{85}')]
        {
            assert_eq!(check_help(help), Err(RegisterError::Help { help: help.into(), character }));
        }
    }

    #[test]
    fn a_labels_name_is_letters_digits_and_underscores_and_there_once() {
        assert_eq!(check_labels(["a", "_b", "c1"]), Ok(()));
        for (label, character) in [("a:b", Some(':')), ("1", Some('1')), ("", None)] {
            let error = RegisterError::Label { label: label.into(), character };
            assert_eq!(check_labels(["a", label]), Err(error));
        }
        let (reserved, twice) = ("__name__".to_owned(), "a".to_owned());
        assert_eq!(
            check_labels(["__name__"]),
            Err(RegisterError::ReservedLabel { label: reserved })
        );
        assert_eq!(check_labels(["a", "b", "a"]), Err(RegisterError::LabelTwice { label: twice }));
    }
}
