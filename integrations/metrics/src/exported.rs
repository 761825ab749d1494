//! What metrics are called where they are exported, each name once.
//!
//! A second line `# TYPE` for one name, or two equal series, can make Prometheus refuse all that a program exports,
//! or keep one of two values. So each metric takes its name, and a histogram those of its parts. One that comes later
//! and would have a name that is taken gets another.

use std::collections::HashSet;

use metrics::Unit;

use crate::kind::Kind;

/// The names that are taken.
#[derive(Default)]
pub(crate) struct Taken(HashSet<String>);

impl Taken {
    /// Takes `name` for a metric, or the first name like it that is free.
    pub(crate) fn take(&mut self, kind: Kind, name: &str) -> String {
        let by_kind = || format!("{name}_{kind}");
        let numbered = (2_u64..).map(|n| format!("{name}_{kind}_{n}"));
        let mut like_it = std::iter::once_with(by_kind).chain(numbered);
        let mut exported = name.to_owned();
        loop {
            let all: Vec<String> =
                parts(kind).iter().map(|part| format!("{exported}{part}")).collect();
            if !all.iter().any(|name| self.0.contains(name)) {
                self.0.extend(all);
                return exported;
            }
            exported = like_it.next().expect("numbers do not end");
        }
    }
}

/// What stands behind a metric's name in its lines.
fn parts(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Counter | Kind::Gauge => &[""],
        Kind::Histogram => &["", "_bucket", "_sum", "_count"],
    }
}

/// The endings before which a unit stands.
const ENDINGS: [&str; 4] = ["_total", "_sum", "_count", "_bucket"];

/// `name` as Prometheus recommends: with its unit, and `_total` if it is a counter.
pub(crate) fn recommended(name: &str, kind: Kind, unit: Option<Unit>) -> String {
    let ending = ENDINGS.into_iter().find(|ending| name.ends_with(ending)).unwrap_or_default();
    let mut exported = name[..name.len() - ending.len()].to_owned();
    let unit = match unit {
        None | Some(Unit::Count) => "",
        Some(Unit::Percent) => "ratio",
        Some(unit) => unit.as_str(),
    };
    if !exported.ends_with(unit) {
        exported = exported + "_" + unit;
    }
    exported += ending;
    if kind == Kind::Counter && !exported.ends_with("_total") {
        exported += "_total";
    }
    exported
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_taken_once() {
        let mut taken = Taken::default();
        let mut take = |kind, name: &str| taken.take(kind, name);
        assert_eq!(take(Kind::Counter, "x"), "x");
        assert_eq!(take(Kind::Gauge, "x"), "x_gauge");
        assert_eq!(take(Kind::Histogram, "x"), "x_histogram");
        assert_eq!(take(Kind::Gauge, "x_gauge"), "x_gauge_gauge");
        assert_eq!(take(Kind::Gauge, "x"), "x_gauge_2");
    }

    #[test]
    fn a_histogram_takes_the_names_of_its_parts() {
        let mut taken = Taken::default();
        let mut take = |kind, name: &str| taken.take(kind, name);
        assert_eq!(take(Kind::Histogram, "rt"), "rt");
        assert_eq!(take(Kind::Counter, "rt_count"), "rt_count_counter");
        assert_eq!(take(Kind::Gauge, "size_sum"), "size_sum");
        assert_eq!(take(Kind::Histogram, "size"), "size_histogram");
    }

    #[test]
    fn recommended_names_have_a_unit_and_a_total_once() {
        let cases = [
            ("basic", Kind::Counter, None, "basic_total"),
            ("with_unit", Kind::Counter, Some(Unit::Bytes), "with_unit_bytes_total"),
            ("foo_total", Kind::Counter, Some(Unit::Bytes), "foo_bytes_total"),
            ("foo_bytes_total", Kind::Counter, Some(Unit::Bytes), "foo_bytes_total"),
            ("gauge_bytes", Kind::Gauge, Some(Unit::Bytes), "gauge_bytes"),
            ("hits", Kind::Gauge, Some(Unit::Count), "hits"),
            ("load", Kind::Gauge, Some(Unit::Percent), "load_ratio"),
            ("rt", Kind::Histogram, Some(Unit::Seconds), "rt_seconds"),
            ("rt_sum", Kind::Gauge, Some(Unit::Seconds), "rt_seconds_sum"),
            ("rt", Kind::Histogram, None, "rt"),
        ];
        for (name, kind, unit, exported) in cases {
            assert_eq!(recommended(name, kind, unit), exported);
        }
    }
}
