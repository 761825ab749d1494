//! The names that Prometheus accepts, and the conversion of other names.

use std::collections::BTreeMap;
use std::sync::Arc;

use metrics::Key;

use crate::kind::Kind;

/// Returns `name` as a metric's name: letters, digits, `_` and `:`, not beginning with a digit.
/// Every other character becomes `_`.
pub(crate) fn metric_name(name: &str) -> String {
    not_empty(valid(name, true, true))
}

/// Returns `begin` as the beginning of a metric's name, or all of it, or nothing.
pub(crate) fn metric_name_begin(begin: &str) -> String {
    valid(begin, true, true)
}

/// Returns `end` as the end of a metric's name, where a digit may come first, or nothing.
pub(crate) fn metric_name_end(end: &str) -> String {
    valid(end, true, false)
}

fn not_empty(name: String) -> String {
    if name.is_empty() { "_".to_owned() } else { name }
}

fn valid(name: &str, colons: bool, begins: bool) -> String {
    let keep = |(at, c): (usize, char)| {
        let fits = match c {
            'a'..='z' | 'A'..='Z' | '_' => true,
            '0'..='9' => at > 0 || !begins,
            ':' => colons,
            _ => false,
        };
        if fits { c } else { '_' }
    };
    name.chars().enumerate().map(keep).collect()
}

/// Returns `name` as a label's name: as a metric's, without `:`. Names that Prometheus reserves get
/// `exported` in front: those that begin with two underscores, and in histograms `le`.
pub(crate) fn label_name(name: &str, kind: Kind) -> String {
    let name = not_empty(valid(name, false, true));
    if name.starts_with("__") {
        format!("exported{name}")
    } else if kind == Kind::Histogram && name == "le" {
        "exported_le".to_owned()
    } else {
        name
    }
}

/// Returns the approximate length of `key` in a text: with each label's quotes, equals sign and
/// comma.
pub(crate) fn bytes(key: &Key) -> usize {
    let label = |label: &metrics::Label| label.key().len() + label.value().len() + 4;
    key.name().len() + key.labels().map(label).sum::<usize>()
}

/// The labels of a series, by name.
pub(crate) type Labels = Arc<[(String, String)]>;

/// Returns the labels that `key` is exported with, and the name of one that it has twice.
///
/// The key's own stand before the global ones. Of several values the greatest counts: keys are
/// equal whatever the order of their labels, so the order cannot decide. A label without a value is
/// left out, as in Prometheus.
pub(crate) fn labels(
    key: &Key,
    kind: Kind,
    global: &[(String, String)],
) -> (Labels, Option<String>) {
    let (mut own, mut repeated) = (BTreeMap::new(), None);
    for label in key.labels() {
        let name = label_name(label.key(), kind);
        if let Some(before) = own.get(&name) {
            repeated = Some(name.clone());
            if label.value() < *before {
                continue;
            }
        }
        own.insert(name, label.value());
    }
    let own = own.into_iter().map(|(name, value)| (name, value.to_owned()));
    (with_global(own, kind, global), repeated)
}

/// Returns the `own` labels, and those `global` ones whose names are free.
pub(crate) fn with_global(
    own: impl Iterator<Item = (String, String)>,
    kind: Kind,
    global: &[(String, String)],
) -> Labels {
    let global = global.iter().map(|(name, value)| (label_name(name, kind), value.clone()));
    let all: BTreeMap<_, _> = global.chain(own).collect();
    all.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use metrics::Label;

    use super::*;

    #[test]
    fn what_a_metric_may_not_be_called_gets_underscores() {
        let cases = [
            ("foo_bar", "foo_bar"),
            ("foo1:bar2", "foo1:bar2"),
            ("http.requests", "http_requests"),
            ("1foobar", "_foobar"),
            ("123", "_23"),
            ("*", "_"),
            ("\"", "_"),
            ("naïve", "na_ve"),
            ("", "_"),
        ];
        for (name, exported) in cases {
            assert_eq!(metric_name(name), exported, "{name}");
        }
        assert_eq!(metric_name_end("2xx"), "2xx");
    }

    #[test]
    fn what_a_label_may_not_be_called_gets_underscores() {
        let cases = [
            ("foo_bar", "foo_bar"),
            ("foo1bar2", "foo1bar2"),
            ("a:b", "a_b"),
            ("1foobar", "_foobar"),
            ("*", "_"),
            ("", "_"),
            ("__name__", "exported__name__"),
            ("le", "le"),
        ];
        for (name, exported) in cases {
            assert_eq!(label_name(name, Kind::Counter), exported, "{name}");
        }
        assert_eq!(label_name("le", Kind::Histogram), "exported_le");
    }

    fn exported(
        labels: &[(&'static str, &'static str)],
    ) -> (Vec<(String, String)>, Option<String>) {
        let own: Vec<Label> = labels.iter().map(Label::from).collect();
        let global = [("zone".to_owned(), "eu".to_owned())];
        let (labels, repeated) = super::labels(&Key::from_parts("x", own), Kind::Counter, &global);
        (labels.to_vec(), repeated)
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn labels_stand_in_order_and_before_global_ones() {
        let zone = pair("zone", "eu");
        assert_eq!(exported(&[]), (vec![zone.clone()], None));
        assert_eq!(exported(&[("b", "2"), ("a", "1")]).0, [pair("a", "1"), pair("b", "2"), zone]);
        assert_eq!(exported(&[("zone", "us")]).0, [pair("zone", "us")]);
        assert_eq!(exported(&[("zone", "")]).0, []);
    }

    #[test]
    fn of_a_label_given_twice_the_greatest_value_counts_in_any_order() {
        let (zone, twice) = (pair("zone", "eu"), Some("a_b".to_owned()));
        let result = (vec![pair("a_b", "2"), zone], twice);
        assert_eq!(exported(&[("a.b", "1"), ("a_b", "2")]), result);
        assert_eq!(exported(&[("a_b", "2"), ("a.b", "1")]), result);
    }
}
