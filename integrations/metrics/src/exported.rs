//! The exported names of metrics, each used once.
//!
//! A second line `# TYPE` for one name, or two equal series, can make Prometheus refuse all that a
//! program exports, or keep one of two values. So each metric takes its name, and a histogram those
//! of its parts. A later metric whose name is taken gets another one.

use std::collections::{BTreeMap, HashSet};
use std::iter::{once, once_with};
use std::sync::Arc;

use metrics::Unit;

use crate::kind::Kind;

// The names of the recorder's own metrics.
pub(crate) const REFUSED: &str = "windrow_metrics_refused_total";
pub(crate) const DROPPED: &str = "windrow_metrics_dropped_total";
pub(crate) const UNRECORDED: &str = "windrow_metrics_unrecorded_total";

/// The recorder's own metrics, which are counters: their names, and their help. Each is exported if
/// it has counted.
pub(crate) const OWN: [(&str, &str); 3] = [
    (REFUSED, "Calls that had a new key beyond the limit of keys, or a key that is too long."),
    (DROPPED, "Updates that are in no series, because their key was refused."),
    (UNRECORDED, "Values that no sum can hold: not finite, or beyond 2^53."),
];

/// The names of metrics. A metric that has been exported keeps its name, whatever is learned about
/// it or about others: so two exports never swap the names of metrics.
#[derive(Default)]
pub(crate) struct Names {
    taken: Taken,
    /// The names given, by kind and by the name without suffixes.
    given: BTreeMap<(Kind, Arc<str>), Given>,
    /// The number of exports.
    exports: u64,
    /// True if names end as Prometheus recommends.
    are_recommended: bool,
}

/// The number of exports for which an absent metric keeps its name. Exports that run at the same
/// time may have begun in another order.
const KEPT: u64 = 8;

struct Given {
    wanted: String,
    exported: String,
    /// The last export that contained the metric.
    seen: u64,
}

impl Names {
    /// Reserves the names of the recorder's own metrics; no other name is given yet.
    pub(crate) fn new(are_recommended: bool) -> Names {
        let mut names = Names { are_recommended, ..Names::default() };
        for (name, _) in OWN {
            names.taken.take(Kind::Counter, name);
        }
        names
    }

    /// Begins an export. A metric that was not in the last ones is gone, and its name is free.
    pub(crate) fn begin(&mut self) {
        self.exports += 1;
        let now = self.exports;
        self.given.retain(|(kind, _), given| {
            let stays = now - given.seen <= KEPT;
            if !stays {
                self.taken.free(*kind, &given.exported);
            }
            stays
        });
    }

    /// Returns the exported name of a metric, and the name that it would have had. The metric is
    /// called `name` without suffixes. Call this in the order in which metrics came.
    pub(crate) fn give(
        &mut self,
        kind: Kind,
        name: &Arc<str>,
        unit: Option<Unit>,
    ) -> (String, String) {
        let given = self.given.entry((kind, Arc::clone(name))).or_insert_with(|| {
            let recommended = self.are_recommended.then(|| recommended(name, kind, unit));
            let wanted = recommended.unwrap_or_else(|| name.to_string());
            Given { exported: self.taken.take(kind, &wanted), wanted, seen: 0 }
        });
        given.seen = self.exports;
        (given.exported.clone(), given.wanted.clone())
    }
}

/// The names that are taken.
#[derive(Default)]
struct Taken(HashSet<String>);

impl Taken {
    /// Takes `name` for a metric, or the first name like it that is free.
    fn take(&mut self, kind: Kind, name: &str) -> String {
        let by_kind = || format!("{name}_{kind}");
        let numbered = (2_u64..).map(|n| format!("{name}_{kind}_{n}"));
        let mut all = once(name.to_owned()).chain(once_with(by_kind)).chain(numbered);
        let is_free = |name: &String| parts(kind, name).all(|part| !self.0.contains(&part));
        let exported = all.find(is_free).expect("numbers do not end");
        self.0.extend(parts(kind, &exported));
        exported
    }

    fn free(&mut self, kind: Kind, exported: &str) {
        parts(kind, exported).for_each(|part| _ = self.0.remove(&part));
    }
}

/// Returns a metric's names in its lines.
fn parts(kind: Kind, exported: &str) -> impl Iterator<Item = String> {
    let suffixes = match kind {
        Kind::Counter | Kind::Gauge => &[""][..],
        Kind::Histogram => &["", "_bucket", "_sum", "_count"],
    };
    suffixes.iter().map(move |suffix| format!("{exported}{suffix}"))
}

/// The endings before which a unit stands.
const ENDINGS: [&str; 4] = ["_total", "_sum", "_count", "_bucket"];

/// Returns `name` as Prometheus recommends: with its unit, and `_total` if it is a counter.
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
