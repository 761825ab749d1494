//! Numbers of events in answers; of distributions, their percentiles, and their cells.
//!
//! # Size
//!
//! Only used cells are sent, and for a plot at most [`MOST_CELLS`] different ones: if there are
//! more, each distribution is shown by a coarser schema of the same range, whose cells are unions
//! of its own. So each count stays in a cell that contains it. (At schema 0 there is one cell for
//! each octave: then there may be some more.)

use std::collections::BTreeSet;
use std::time::SystemTime;

use serde_json::{Map, Value, json};
use windrow::exemplar::{Exemplar, TraceContext};
use windrow::histogram::{Distribution, Scale};
use windrow::{Kind, Stats};

use crate::read::buckets::millis;
use crate::read::values::{percentiles, sum};
use crate::shown::layout::QUANTILES;

/// The greatest number of rows in a plot of cells by time.
const MOST_CELLS: usize = 48;

/// Returns the numbers of an event of this kind.
pub(crate) fn stats(kind: Kind, stats: &Stats) -> Value {
    let Stats { count, sum, min, max } = *stats;
    match kind {
        Kind::Count => json!({ "count": count }),
        Kind::Signed => json!({ "sum": stats.sum.cast_signed() }),
        Kind::Value | Kind::Histogram(_) => {
            json!({ "count": count, "sum": sum, "min": min, "max": max, "mean": stats.mean() })
        }
        Kind::Maximum => json!({ "max": max }),
        Kind::Minimum => json!({ "min": min }),
        _ => json!({}), // a later kind, unknown here
    }
}

/// Returns the numbers of an event of this kind over time: see [`lists`].
pub(crate) fn stats_over_time(kind: Kind, points: impl Iterator<Item = Stats>) -> Value {
    let points: Vec<Value> = points.map(|point| stats(kind, &point)).collect();
    lists(&points, &stats(kind, &Stats::default())).into()
}

/// Returns a list for each number, with an entry for each point of time. `nothing` has the names of
/// the numbers. Means are left out: a reader can make them.
fn lists(points: &[Value], nothing: &Value) -> Map<String, Value> {
    let names = nothing.as_object().into_iter().flat_map(Map::keys).filter(|name| *name != "mean");
    let list = |name: &String| points.iter().map(|point| point[name].clone()).collect();
    names.map(|name| (name.clone(), list(name))).collect()
}

/// Returns the numbers of a distribution by name.
pub(crate) fn summary(values: &Distribution) -> Value {
    let (count, sum, min, max) = (values.count(), values.sum(), values.min(), values.max());
    let mut summary = stats(Kind::Value, &Stats { count, sum, min, max });
    for ((name, _), value) in QUANTILES.iter().zip(percentiles(values)) {
        summary[name] = value.into();
    }
    summary
}

/// Returns the properties of a scale: the beginnings and ends of its cells, and the error of its
/// percentiles.
pub(crate) fn scale(scale: Scale) -> Value {
    json!({
        "schema": scale.schema(),
        "least": scale.min(),
        "greatest": scale.max(),
        "error": scale.error_bound(),
    })
}

/// Returns exemplars: values, ids in hexadecimal digits, and ages.
pub(crate) fn exemplars(exemplars: &[Exemplar]) -> Value {
    let now = SystemTime::now();
    let shown = |exemplar: &Exemplar| {
        let TraceContext { trace_id, span_id } = exemplar.trace;
        let age = now.duration_since(exemplar.time).unwrap_or_default();
        json!({
            "value": exemplar.value,
            "trace_id": format!("{trace_id:032x}"),
            "span_id": format!("{span_id:016x}"),
            "ago_ms": millis(age),
        })
    };
    exemplars.iter().map(shown).collect()
}

/// Returns the used cells: the least and the greatest value of each, and its count.
pub(crate) fn cells(values: &Distribution) -> Value {
    values.cells().map(|(cell, count)| json!([cell.start(), cell.end(), count])).collect()
}

/// Returns the distributions of the points of time: lists of their numbers, and their cells.
///
/// `cells` has the range of each cell, in ascending order; and `used` has, for each point, the
/// cells that it used and their counts, in turn.
pub(crate) fn over_time(points: Vec<Distribution>) -> Value {
    let summaries: Vec<Value> = points.iter().map(summary).collect();
    let mut lists = lists(&summaries, &summary(&Distribution::default()));
    lists.insert("whole".to_owned(), summary(&sum(points.iter().cloned())));

    let points = fewer_cells(points);
    let bounds: Vec<(u64, u64)> = used(&points).into_iter().collect();
    let place = |cell: (u64, u64)| bounds.partition_point(|other| *other < cell) as u64;
    let of_point = |point: &Distribution| -> Vec<u64> {
        let cells = point.cells();
        cells.flat_map(|(cell, count)| [place((*cell.start(), *cell.end())), count]).collect()
    };
    lists.insert("used".to_owned(), points.iter().map(of_point).collect::<Vec<_>>().into());
    lists.insert("cells".to_owned(), json!(bounds));
    lists.into()
}

/// Returns the cells that any of the points uses.
fn used(points: &[Distribution]) -> BTreeSet<(u64, u64)> {
    let cells = points.iter().flat_map(Distribution::cells);
    cells.map(|(cell, _)| (*cell.start(), *cell.end())).collect()
}

/// Converts the points to the finest schema by which they do not use too many cells.
fn fewer_cells(mut points: Vec<Distribution>) -> Vec<Distribution> {
    while used(&points).len() > MOST_CELLS {
        let schema = points.iter().map(|point| point.scale().schema()).max();
        let Some(coarser) = schema.and_then(|schema| schema.checked_sub(1)) else { break };
        points = points.iter().map(|point| point.coarsened(coarser)).collect();
    }
    points
}

#[cfg(test)]
mod tests {
    use windrow::Histogram;

    use super::*;

    /// Returns points that each have a thousand values, by a fine scale of all values.
    fn wide() -> Vec<Distribution> {
        let mut value = 1_u64;
        let mut point = || {
            let histogram = Histogram::with_scale(Scale::fixed::<5, 1, { u64::MAX }>());
            for _ in 0..1_000 {
                value = value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                histogram.record(value >> 24 >> (value % 32));
            }
            histogram.distribution()
        };
        (0..360).map(|_| point()).collect()
    }

    #[test]
    fn what_is_sent_is_bounded_and_no_count_is_lost_or_elsewhere() {
        let points = wide();
        assert!(used(&points).len() > 500, "the test has few cells");
        let sent = over_time(points.clone());
        let cells = sent["cells"].as_array().unwrap();
        assert!(cells.len() <= MOST_CELLS, "{}", cells.len());
        assert!(sent.to_string().len() < 400_000, "{}", sent.to_string().len());
        for (index, point) in points.iter().enumerate() {
            let of_point: Vec<u64> = sent["used"][index]
                .as_array()
                .unwrap()
                .iter()
                .map(|n| n.as_u64().unwrap())
                .collect();
            let mut below = 0;
            for cell in of_point.chunks_exact(2) {
                below += cell[1];
                let end = cells[usize::try_from(cell[0]).unwrap()][1].as_u64().unwrap();
                let above = point.count() - below;
                assert_eq!(point.count_above(end), above..=above, "{end}");
            }
            assert_eq!(below, 1_000);
        }
    }

    #[test]
    fn few_cells_stay_as_fine_as_they_are() {
        let histogram = Histogram::new();
        for nanos in [600, 1_000, 90_000_000_000] {
            histogram.record(nanos);
        }
        let sent = over_time(vec![histogram.distribution(), Distribution::default()]);
        assert_eq!(sent["cells"], json!([[559, 608], [940, 1_024], [(1_u64 << 36) + 1, u64::MAX]]));
        assert_eq!(sent["used"], json!([[0, 1, 1, 1, 2, 1], []]));
        assert_eq!(sent["p50"], json!([980, null]));
        assert_eq!(sent["whole"]["count"], 3);
    }

    #[test]
    fn the_whole_is_of_all_values_and_not_of_points() {
        let [fast, slow] = [Histogram::new(), Histogram::new()];
        (0..999).for_each(|_| fast.record(1_000));
        slow.record(1_000_000);
        let sent = over_time(vec![fast.take(), slow.take()]);
        assert_eq!(sent["p99"], json!([1_000, 1_000_000]));
        assert!(sent["whole"]["p99"].as_u64().unwrap() < 1_025);
    }
}
