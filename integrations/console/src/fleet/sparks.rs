//! The courses of series in the answers of a fleet: points as JSON, and as a line of text.

use std::fmt::Write;

use serde_json::{Value, json};

use super::answer::Head;
use super::courses::{Courses, Point, ROUNDS};
use crate::unusual::short;

/// The number of rounds in an answer that continues an earlier one.
pub(super) const FURTHER: usize = 10;

/// The number of rounds in a line of text: a minute.
const SHOWN: usize = 60;

/// Returns the points of all series for the last rounds, at most this number.
pub(super) fn json(head: &Head, courses: &Courses, most: usize) -> String {
    let mut json = format!(r#"{{"ends_ms":{},"rows":{{"#, ends(head, courses, most));
    for (at, key) in courses.keys().enumerate() {
        let points = points(courses, key, most).unwrap_or_default();
        let comma = if at > 0 { "," } else { "" };
        // Writing to a `String` cannot fail.
        let _ = write!(json, "{comma}{}:{points}", json!(key));
    }
    json + "}}"
}

/// Returns the points of one series, if it has a course.
pub(super) fn one(head: &Head, courses: &Courses, key: &str) -> Option<Value> {
    let points = points(courses, key, ROUNDS)?;
    Some(json!({ "ends_ms": ends(head, courses, ROUNDS), "points": points }))
}

/// Returns the ends of rounds, in milliseconds since 1970.
fn ends(head: &Head, courses: &Courses, most: usize) -> Value {
    courses.ends(most).map(|end| head.wall(end)).collect()
}

fn points(courses: &Courses, key: &str, most: usize) -> Option<Value> {
    let point = |Point { count, failed, rate, lacks }| {
        let rate = (rate * 1e3).round() / 1e3;
        json!([count, failed, rate, lacks])
    };
    Some(courses.points(key, most)?.map(|of| of.map(point)).collect())
}

/// Returns the rates of the last minute as a line of text, from 0 to the greatest one. A dot stands
/// for a round in which a process is missing, or that no process has.
pub(super) fn text(courses: &Courses, key: &str) -> Option<String> {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let whole = |point: Option<Point>| point.filter(|point| point.lacks == 0);
    let rates: Vec<Option<f64>> =
        courses.points(key, SHOWN)?.map(|point| whole(point).map(|point| point.rate)).collect();
    let known = || rates.iter().flatten().copied();
    let (low, high) = (known().reduce(f64::min)?, known().fold(0.0, f64::max));
    let block = |rate: Option<f64>| {
        let Some(rate) = rate else { return '·' };
        #[allow(clippy::cast_sign_loss, reason = "no rate is negative")]
        let height = (rate / high.max(f64::MIN_POSITIVE) * 7.0).round() as usize;
        BLOCKS[height.min(7)]
    };
    let line: String = rates.iter().map(|rate| block(*rate)).collect();
    Some(format!("last minute {} to {}/s {line}", short(low), short(high)))
}
