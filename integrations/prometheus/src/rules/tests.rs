//! Names, helps, units and labels that are right and wrong.

use super::Characters::{Any, Plain};
use super::*;

#[test]
fn a_plain_name_is_letters_digits_underscores_and_colons() {
    for name in ["a", "_", "a1", "job:requests:rate5m", "A_b9"] {
        assert_eq!(check_name(Plain, name), Ok(()));
    }
    for (name, character) in [("1a", '1'), ("a-b", '-'), ("a b", ' '), ("é", 'é'), ("a\n", '\n')]
    {
        let error = RegisterError::Name { name: name.into(), character };
        assert_eq!(check_name(Plain, name), Err(error));
        assert_eq!(check_name(Any, name), Ok(()));
    }
    assert_eq!(check_name(Plain, ""), Err(RegisterError::NoName));
    assert_eq!(check_name(Any, ""), Err(RegisterError::NoName));
}

#[test]
fn a_help_is_one_line_that_needs_no_escape() {
    assert_eq!(check_help("Requests, by \"route\": ü"), Ok(()));
    for (help, character) in [("a\nb", '\n'), ("a\\b", '\\'), ("\r", '\r'), ("a\u{85}", '\u{85}')] {
        assert_eq!(check_help(help), Err(RegisterError::Help { help: help.into(), character }));
    }
}

#[test]
fn a_unit_is_letters_digits_and_underscores() {
    assert_eq!(check_unit("seconds"), Ok(()));
    assert_eq!(check_unit("bytes_per_second2"), Ok(()));
    for (unit, character) in [("m/s", '/'), ("µs", 'µ'), ("a b", ' ')] {
        assert_eq!(check_unit(unit), Err(RegisterError::Unit { unit: unit.into(), character }));
    }
}

#[test]
fn a_labels_name_is_letters_digits_and_underscores_and_there_once() {
    for characters in [Plain, Any] {
        assert_eq!(check_labels(characters, ["a", "_b", "c1"]), Ok(()));
        let (reserved, twice) = ("__name__".to_owned(), "a".to_owned());
        let reserved = RegisterError::ReservedLabel { label: reserved };
        assert_eq!(check_labels(characters, ["__name__"]), Err(reserved));
        let twice = RegisterError::LabelTwice { label: twice };
        assert_eq!(check_labels(characters, ["a", "b", "a"]), Err(twice));
        let none = RegisterError::Label { label: String::new(), character: None };
        assert_eq!(check_labels(characters, ["a", ""]), Err(none));
    }
    for (label, character) in [("a:b", ':'), ("1", '1')] {
        let error = RegisterError::Label { label: label.into(), character: Some(character) };
        assert_eq!(check_labels(Plain, ["a", label]), Err(error));
        assert_eq!(check_labels(Any, ["a", label]), Ok(()));
    }
}

#[test]
fn labels_are_checked_as_they_are_escaped_too() {
    let twice = RegisterError::LabelTwice { label: "http_route".to_owned() };
    assert_eq!(check_labels(Any, ["http.route", "http_route"]), Err(twice));
    let reserved = RegisterError::ReservedLabel { label: "éü".to_owned() };
    assert_eq!(check_labels(Any, ["éü"]), Err(reserved)); // for some scrapers it is `__`
}
