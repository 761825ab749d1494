//! `/text`: names and numbers for a terminal.

use std::fmt::{self, Display, Write};
use std::time::Duration;

use windrow::Kind;
use windrow::export::Form;

use crate::answers::Checks;
use crate::console::{Named, Shown};
use crate::heavy::{self, Heavy};
use crate::number::Number;
use crate::percentiles::PERCENTILES;
use crate::roles::width;
use crate::unusual::{Unusual, wall};

/// The greatest number of characters of a text that [`cut`] returns.
const LONGEST: usize = 120;

/// The answer, as it grows.
#[derive(Default)]
pub(crate) struct Text {
    written: String,
    /// The series of the metric that is being read, by name, each with its numbers.
    rows: Vec<(String, String)>,
}

impl Text {
    /// Adds a series.
    pub(crate) fn series(
        &mut self,
        shown: &Shown,
        metric: &Named,
        key: &str,
        read: &[Number],
        span: u64,
    ) {
        self.rows.push((shown_key(key), numbers_text(shown, metric, span, read)));
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
        let failing = |(key, by): &(String, u64)| format!("{} by {by}", shown_key(key));
        let verdict = if checks.failing.is_empty() {
            "loss 0".to_owned()
        } else {
            let failing: Vec<String> = checks.failing.iter().map(failing).collect();
            format!("DISAGREE: {}", failing.join(", "))
        };
        let (up, audits) = (shown.age().as_secs(), checks.audits);
        let service = shown.service.escape_debug();
        format!(
            "{service}, watched for {up} s; {audits} series checked: {verdict}\n{}{}{}",
            unusual.text(wall(), shown_key),
            heavy::text(shown.heavy.iter().map(Heavy::list)),
            self.written
        )
    }
}

/// Returns a key in which characters that a terminal obeys, or that change the direction of a text,
/// are escaped.
pub(crate) fn shown_key(key: &str) -> String {
    let mut shown = String::with_capacity(key.len());
    for character in key.chars() {
        if matches!(character, ' '..='~') {
            shown.push(character); // quotes and backslashes are already escaped in the key
        } else {
            shown.extend(character.escape_debug());
        }
    }
    shown
}

/// Returns the beginning of a text that may be long, with a mark if there is more of it.
pub(crate) fn cut(text: &(impl Display + ?Sized)) -> String {
    let mut beginning = Beginning { text: String::new(), left: LONGEST };
    // The only error is that the text is long enough.
    if write!(beginning, "{text}").is_err() {
        beginning.text.push('\u{2026}');
    }
    beginning.text
}

/// The beginning of a text, however long that is.
struct Beginning {
    text: String,
    left: usize,
}

impl Write for Beginning {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            self.left = self.left.checked_sub(1).ok_or(fmt::Error)?;
            self.text.push(character);
        }
        Ok(())
    }
}

fn numbers_text(shown: &Shown, metric: &Named, span: u64, numbers: &[Number]) -> String {
    let events = match metric.outline.form {
        Form::Window(events) => events,
        Form::Histogram(_) => {
            return values(numbers, span, |number| value(shown, &metric.name, number));
        }
        _ => return numbers.first().map_or_else(String::new, |number| plain(*number)),
    };
    let mut parts = Vec::new();
    let mut rest = numbers;
    for (event, kind) in events {
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

/// Returns the count of values, their percentiles and the maximum.
fn values(numbers: &[Number], span: u64, shown: impl Fn(Number) -> String) -> String {
    let [lifetime, count, _, _, max, percentiles @ ..] = numbers else { return String::new() };
    let mut text = plain(*lifetime);
    // Writing to a `String` cannot fail.
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

/// Returns a value of an event, or of a histogram, of this name.
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
        Number::Real(number) => format!("{number:?}"),
    }
}

fn per_second(count: Number, span: u64) -> String {
    let count = match count {
        Number::Unsigned(count) => count as f64,
        Number::Signed(count) => count as f64,
        Number::Real(count) => count,
        Number::None => 0.0,
    };
    // A window whose first bucket has not ended has no rate yet.
    let seconds = Duration::from_nanos(span).as_secs_f64();
    if seconds > 0.0 { format!("{:.1}", count / seconds) } else { "?".to_owned() }
}

fn mean(sum: Number, count: Number) -> Option<u64> {
    match (sum, count) {
        (Number::Unsigned(sum), Number::Unsigned(count)) => sum.checked_div(count),
        _ => None,
    }
}
