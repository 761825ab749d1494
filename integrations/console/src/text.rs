//! `/text`: names and numbers for a terminal.

use std::fmt::Write;
use std::time::Duration;

use windrow::Kind;

use crate::console::{Named, Shown};
use crate::key::write_key;
use crate::ledger::{Audit, Ledger};
use crate::number::Number;
use crate::percentiles::{self, PERCENTILES};
use crate::source::Form;

/// Each metric, and in it each series by name, with its numbers.
pub(crate) fn text(shown: &Shown) -> String {
    let mut text = String::new();
    let (mut audits, mut failing) = (0_u64, Vec::new());
    for metric in &shown.metrics {
        let mut rows = Vec::new();
        let (mut key, mut numbers) = (String::new(), Vec::new());
        metric.source.walk(&mut |pairs, series| {
            write_key(&mut key, &metric.name, pairs);
            numbers.clear();
            let span = series.numbers(&mut numbers);
            let audit = series.audit(&mut Ledger::default());
            audits += u64::from(audit != Audit::Nothing);
            // What a terminal would obey is shown as an escape.
            let name = shown_key(&key);
            if let Audit::Fails { by } = audit {
                failing.push(format!("{name} by {by}"));
            }
            rows.push((name, numbers_text(shown, metric, span, &numbers)));
        });
        rows.sort();
        // A `String` takes all.
        let _ = writeln!(text, "\n# {}: {}", metric.name, metric.help);
        for (name, numbers) in rows {
            let _ = writeln!(text, "{name}  {numbers}");
        }
    }
    let up = shown.age().as_secs();
    let verdict = if failing.is_empty() {
        "loss 0".to_owned()
    } else {
        format!("DISAGREE: {}", failing.join(", "))
    };
    let service = shown.service.escape_debug();
    format!("{service}, watched for {up} s; {audits} series checked: {verdict}\n{text}")
}

/// A key without characters that a terminal obeys, or that turn the direction of a text.
fn shown_key(key: &str) -> String {
    let mut shown = String::with_capacity(key.len());
    for character in key.chars() {
        if matches!(character, '"' | '\\' | '\'') {
            shown.push(character); // escaped in the key already
        } else {
            shown.extend(character.escape_debug());
        }
    }
    shown
}

fn numbers_text(shown: &Shown, metric: &Named, span: u64, numbers: &[Number]) -> String {
    match metric.outline.form {
        Form::Window => {}
        Form::Histogram => {
            return values(numbers, span, |number| value(shown, &metric.name, number));
        }
        _ => return numbers.first().map_or_else(String::new, |number| plain(*number)),
    }
    let mut parts = Vec::new();
    let mut rest = numbers;
    for (event, kind) in metric.outline.events {
        let (own, more) = rest.split_at(width(*kind));
        rest = more;
        let value = |number: Number| value(shown, event, number);
        parts.push(match (kind, own) {
            (Kind::Count | Kind::Signed, [lifetime, count]) => {
                let rate = per_second(*count, span);
                format!("{event} {} ({rate}/s)", plain(*lifetime))
            }
            (Kind::Value, [lifetime, count, sum, min, max]) => {
                let rate = per_second(*count, span);
                let (mean, min, max) = (mean(*sum, *count).map(Number::Unsigned), *min, *max);
                let mean = value(mean.unwrap_or(Number::None));
                let (min, max) = (value(min), value(max));
                let lifetime = plain(*lifetime);
                format!("{event} {lifetime} ({rate}/s, min {min}, mean {mean}, max {max})")
            }
            (Kind::Histogram(_), numbers) => format!("{event} {}", values(numbers, span, value)),
            (_, [number]) => format!("{event} {}", value(*number)),
            _ => String::new(),
        });
    }
    parts.join("  ")
}

/// How often values were recorded, their percentiles and the greatest.
fn values(numbers: &[Number], span: u64, shown: impl Fn(Number) -> String) -> String {
    let [lifetime, count, _, _, max, percentiles @ ..] = numbers else { return String::new() };
    let mut text = plain(*lifetime);
    // A `String` takes all.
    let _ = write!(text, " (");
    if span > 0 {
        let _ = write!(text, "{}/s, ", per_second(*count, span));
    }
    for ((name, _), value) in PERCENTILES.iter().zip(percentiles) {
        let _ = write!(text, "{name} {}, ", shown(*value));
    }
    let _ = write!(text, "max {})", shown(*max));
    text
}

/// How many numbers an event has in a row.
fn width(kind: Kind) -> usize {
    match kind {
        Kind::Count | Kind::Signed => 2,
        Kind::Value => 5,
        Kind::Histogram(_) => percentiles::NUMBERS,
        Kind::Maximum | Kind::Minimum => 1,
        _ => 0, // not known here
    }
}

/// A value of an event, or of a histogram, of this name.
fn value(shown: &Shown, name: &str, number: Number) -> String {
    match number {
        Number::Unsigned(nanos) if shown.is_duration(name) => {
            format!("{:.3?}", Duration::from_nanos(nanos))
        }
        other => plain(other),
    }
}

fn plain(number: Number) -> String {
    match number {
        Number::None => "none".to_owned(),
        Number::Unsigned(number) => number.to_string(),
        Number::Signed(number) => number.to_string(),
    }
}

fn per_second(count: Number, span: u64) -> String {
    let count = match count {
        Number::Unsigned(count) => count as f64,
        Number::Signed(count) => count as f64,
        Number::None => 0.0,
    };
    let seconds = Duration::from_nanos(span).as_secs_f64();
    format!("{:.1}", if seconds > 0.0 { count / seconds } else { 0.0 })
}

fn mean(sum: Number, count: Number) -> Option<u64> {
    match (sum, count) {
        (Number::Unsigned(sum), Number::Unsigned(count)) => sum.checked_div(count),
        _ => None,
    }
}
