//! Labels, sets of labels and lookups that are wrong.

use crate::says;

/// Two series under one set of labels are refused by what reads them, with all other metrics of the
/// process.
#[test]
fn labels_whose_values_are_shown_by_one_text() {
    let one = "two values of `Outcome` are shown by one text";
    for (name, values) in [
        ("text_twice", r#"Success = "ok", Failure = "no", Other = "ok""#),
        ("text_is_a_name", r#"Failure, Other = "Failure""#),
    ] {
        let source =
            format!("windrow::labels! {{ pub enum Outcome {{ {values} }} }}\n\nfn main() {{}}\n");
        says(name, &source, &[one]);
    }
}

/// The message says which types are labels, and what to do with another one.
#[test]
fn a_type_that_cannot_be_a_label() {
    for (name, kind) in [
        ("label_duration", "std::time::Duration"),
        ("label_vec", "Vec<u8>"),
        ("label_option", "Option<std::time::Duration>"),
        ("label_path", "std::string::String"),
    ] {
        let last = kind.rsplit("::").next().unwrap_or(kind).trim_end_matches('>');
        let source = format!(
            "windrow::labels! {{ pub struct Request {{ route: str, it: {kind} }} }}\n\nfn main() {{}}\n"
        );
        let cannot =
            format!("{}` cannot be a label", if name == "label_vec" { kind } else { last });
        let texts =
            "a label is a text (`str`, `String`, `&'static str`, `Option<str>`, without a path)";
        let others = "declare the label as `windrow::labels::ShortText`, and look up with `ShortText::of(&value)`";
        says(name, &source, &[&cannot, texts, others]);
    }
}

/// A set holds what a lookup borrows, so an owned text is borrowed.
#[test]
fn a_type_that_is_no_set_of_labels_no_metric_and_no_clock() {
    let source = "
use windrow::{Counter, Family, Gate};

struct Mine;
static BY_TEXT: Family<&'static str, Counter> = Family::new();
static MINE: Family<windrow::labels::RuntimeLabels, Mine> = loop {};

fn main() {
    _ = Gate::builder(1).clock(Mine);
}
";
    let words = [
        "`&'static str` is no set of labels",
        "windrow::labels! { pub struct Route { route: str } }",
        "`Mine` cannot be the metric of a family",
        "implement `windrow::family::Metric`",
        "`Mine` is no clock",
        "`(function, Duration)`",
    ];
    says("no_labels_metric_clock", source, &words);
}

#[test]
fn an_owned_text_in_a_lookup() {
    let source = "windrow::labels! { struct Route { route: String } }

fn main() {
    let family: windrow::Family<Route, windrow::Counter> = windrow::Family::new();
    family.with(Route { route: String::from(\"/\") }).increment();
}
";
    says("label_owned", source, &["mismatched types", "expected `&str`, found `String`"]);
}
