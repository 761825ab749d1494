//! `/text`: names and numbers for a terminal.

use std::fmt::Write;
use std::time::Duration;

use windrow::Kind;
use windrow::export::Form;

use super::walk::Read;
use super::words::{legible, plain, quantity, wall};
use super::{changes, heavy};
use crate::read::audit::Checks;
use crate::read::number::Number;
use crate::shown::layout::{QUANTILES, width};
use crate::shown::registry::{Named, Shown};
use crate::unusual::list::Unusual;

/// The answer, as it grows.
#[derive(Default)]
pub(crate) struct Text {
    written: String,
    /// The series of the metric that is being read, by name, each with its numbers.
    rows: Vec<(String, String)>,
}

impl Text {
    /// Adds a series.
    pub(crate) fn series(&mut self, shown: &Shown, metric: &Named, read: &Read<'_>) {
        let numbers = numbers_text(shown, metric, read.span, read.numbers);
        self.rows.push((legible(read.key), numbers));
    }

    /// Ends a metric: its series have been added.
    pub(crate) fn metric(&mut self, metric: &Named) {
        self.rows.sort();
        // Writing to a `String` cannot fail.
        let _ = writeln!(self.written, "\n# {}: {}", metric.name, metric.help);
        for (name, numbers) in self.rows.drain(..) {
            let _ = writeln!(self.written, "{name}  {numbers}");
        }
    }

    /// Returns the answer.
    pub(crate) fn finish(self, shown: &Shown, checks: &Checks, unusual: &Unusual) -> String {
        let failing = checks.failing.iter().map(|(key, by)| format!("{} by {by}", legible(key)));
        let verdict = match failing.collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => "loss 0".to_owned(),
            failing => format!("DISAGREE: {failing}"),
        };
        let (up, audits) = (shown.age().as_secs(), checks.audits);
        let service = shown.service.escape_debug();
        format!(
            "{service}, watched for {up} s; {audits} series checked: {verdict}\n{}{}{}",
            changes::text(unusual, wall()),
            heavy::text(&shown.heavy),
            self.written
        )
    }
}

fn numbers_text(shown: &Shown, metric: &Named, span: u64, numbers: &[Number]) -> String {
    let events = match metric.outline.form {
        Form::Window(events, _) => events,
        Form::Histogram(_) => {
            return values(numbers, span, |number| value(shown, &metric.name, number));
        }
        _ => return quantity(numbers.first().copied().unwrap_or(Number::None), metric.unit),
    };
    let mut rest = numbers;
    let event = |(event, kind): &(&str, Kind)| {
        let (own, more) = rest.split_at(width(*kind));
        rest = more;
        let value = |number: Number| value(shown, event, number);
        let numbers = match (kind, own) {
            (Kind::Count | Kind::Signed, [lifetime, count]) => {
                format!("{} ({}/s)", plain(*lifetime), per_second(*count, span))
            }
            (Kind::Value, [lifetime, count, sum, min, max]) => {
                let (lifetime, rate) = (plain(*lifetime), per_second(*count, span));
                let [min, mean, max] = [*min, mean(*sum, *count), *max].map(value);
                format!("{lifetime} ({rate}/s, min {min}, mean {mean}, max {max})")
            }
            (Kind::Histogram(_), numbers) => values(numbers, span, value),
            (_, [number]) => value(*number),
            _ => return String::new(),
        };
        format!("{event} {numbers}")
    };
    events.iter().map(event).collect::<Vec<_>>().join("  ")
}

/// Returns the count of values, their percentiles and the maximum.
fn values(numbers: &[Number], span: u64, shown: impl Fn(Number) -> String) -> String {
    let [lifetime, count, _, _, max, percentiles @ ..] = numbers else { return String::new() };
    let rate = (span > 0).then(|| format!("{}/s", per_second(*count, span)));
    let percentiles = QUANTILES.iter().zip(percentiles);
    let percentiles = percentiles.map(|((name, _), value)| format!("{name} {}", shown(*value)));
    let all = rate.into_iter().chain(percentiles).chain([format!("max {}", shown(*max))]);
    format!("{} ({})", plain(*lifetime), all.collect::<Vec<_>>().join(", "))
}

/// Returns a value of an event, or of a histogram, of this name.
fn value(shown: &Shown, name: &str, number: Number) -> String {
    match number {
        Number::Whole(nanos) if shown.is_duration(name) => {
            format!("{:.3?}", Duration::from_nanos(u64::try_from(nanos).unwrap_or(0)))
        }
        other => plain(other),
    }
}

fn per_second(count: Number, span: u64) -> String {
    let count = count.as_f64().unwrap_or(0.0);
    // A window whose first bucket has not ended has no rate yet.
    let seconds = Duration::from_nanos(span).as_secs_f64();
    if seconds > 0.0 { format!("{:.1}", count / seconds) } else { "?".to_owned() }
}

fn mean(sum: Number, count: Number) -> Number {
    match (sum, count) {
        (Number::Whole(sum), Number::Whole(count)) if count > 0 => Number::Whole(sum / count),
        _ => Number::None,
    }
}
