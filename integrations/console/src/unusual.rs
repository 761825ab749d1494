//! The changes that go on now, over all series: as a list, and in words.

use std::fmt::Write;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::changes::{Change, Course, What};
use crate::number::Json;
use crate::percentiles::PERCENTILES;
use crate::watches::Looking;

/// The greatest number of changes that are listed.
pub(crate) const LISTED: usize = 100;

/// The changes that a pass over all series has found.
#[derive(Debug, Default)]
pub(crate) struct Unusual {
    found: Vec<Found>,
    /// The milliseconds since the last change of any series ended; and those of the known past.
    ended: Option<u64>,
    known: Option<u64>,
    /// The windows, and those of them that have a past to compare with.
    windows: u64,
    compared: u64,
}

/// A change of a series.
#[derive(Debug)]
struct Found {
    /// The number of the series' row.
    row: u64,
    key: String,
    change: Change,
    /// The milliseconds since it began.
    ago: u64,
    says: String,
}

impl Unusual {
    /// Takes what the watch of a series says. `is_duration` tells whether an event's values are
    /// nanoseconds. Without a watch, the series is one that is not compared.
    pub(crate) fn note(
        &mut self,
        row: u64,
        key: &str,
        looking: Option<&Looking<'_>>,
        is_duration: impl Fn(usize) -> bool,
    ) {
        self.windows += 1;
        let Some(looking) = looking.filter(|looking| looking.watch().is_ready()) else { return };
        self.compared += 1;
        let watch = looking.watch();
        let ended = watch.ended().map(|at| looking.ago(at));
        self.ended = [self.ended, ended].into_iter().flatten().min();
        let known = watch.known_since().map(|at| looking.ago(at));
        self.known = [self.known, known].into_iter().flatten().max();
        for change in watch.changes() {
            let is_duration = looking.values().is_some_and(&is_duration);
            self.found.push(Found {
                row,
                key: key.to_owned(),
                change: *change,
                ago: looking.ago(change.since),
                says: says(change, is_duration),
            });
        }
    }

    /// Ends the pass: the most urgent comes first.
    pub(crate) fn sort(&mut self) {
        self.found.sort_by(|one, other| {
            let order = other.change.weight().total_cmp(&one.change.weight());
            order.then_with(|| one.key.cmp(&other.key))
        });
    }

    /// Writes it for the page: each change with its row, kind, weight, beginning, words and course.
    pub(crate) fn write(&self, json: &mut Json, now: u64) {
        json.object(|json| {
            json.name("list").list(|json| {
                for found in self.found.iter().take(LISTED) {
                    json.list(|json| {
                        json.number(found.row);
                        json.text(name(found.change.what));
                        json.number(crate::number::Number::real(found.change.weight()));
                        json.number(beginning(now, found.ago));
                        json.text(&found.says);
                        json.text(course(found.change.course));
                    });
                }
            });
            json.name("changes").number(self.found.len() as u64);
            json.name("calm").number(self.calm(now));
            json.name("windows").number(self.windows);
            json.name("compared").number(self.compared);
        });
    }

    /// Returns the time since which nothing else was unusual: the end of the last change, or the
    /// beginning of the known past.
    fn calm(&self, now: u64) -> Option<u64> {
        self.ended.or(self.known).map(|ago| beginning(now, ago))
    }

    /// Returns it for `/snapshot.json`.
    pub(crate) fn json(&self, now: u64) -> Value {
        let found = self.found.iter().take(LISTED).map(|found| {
            json!({
                "key": found.key,
                "what": name(found.change.what),
                "since_ms": beginning(now, found.ago),
                "from": found.change.from,
                "to": found.change.to,
                "says": found.says,
                "course": course(found.change.course),
            })
        });
        json!({
            "changes": found.collect::<Vec<_>>(),
            "count": self.found.len(),
            "calm_since_ms": self.calm(now),
            "windows": self.windows,
            "compared": self.compared,
        })
    }

    /// Returns it for a terminal: a line for each change. `shown` makes keys legible.
    pub(crate) fn text(&self, now: u64, shown: impl Fn(&str) -> String) -> String {
        let mut text = String::new();
        for found in self.found.iter().take(LISTED) {
            let (key, says, since) = (shown(&found.key), &found.says, found.ago);
            let course = match found.change.course {
                Course::New | Course::Steady => "",
                Course::Worse => ", getting worse",
                Course::Better => ", getting better",
            };
            let time = utc(beginning(now, since));
            // Writing to a `String` cannot fail.
            let _ = writeln!(text, "unusual: {key}  {says} since {time} ({}){course}", span(since));
        }
        if self.found.len() > LISTED {
            let _ = writeln!(text, "unusual: {} more", self.found.len() - LISTED);
        }
        let _ = match (self.windows, self.compared, self.calm(now)) {
            (0, ..) => Ok(()),
            (_, 0, _) | (.., None) => {
                writeln!(text, "nothing to compare with yet: that takes a quarter of an hour")
            }
            (_, _, Some(calm)) if self.found.is_empty() => {
                writeln!(text, "nothing unusual since {}", utc(calm))
            }
            _ => Ok(()),
        };
        if self.compared > 0 && self.compared < self.windows {
            let (compared, windows) = (self.compared, self.windows);
            let _ = writeln!(text, "{compared} of {windows} windows have a past to compare with");
        }
        text
    }
}

/// Returns the time that was so long before `now`, in whole seconds: it is the same in each frame.
fn beginning(now: u64, ago: u64) -> u64 {
    now.saturating_sub(ago).saturating_add(500) / 1_000 * 1_000
}

fn name(what: What) -> &'static str {
    match what {
        What::Failing => "failing",
        What::Slow => "slow",
        What::Quiet => "quiet",
        What::Refused => "refused",
        What::Busy => "busy",
    }
}

fn course(course: Course) -> &'static str {
    match course {
        Course::New => "new",
        Course::Worse => "worse",
        Course::Steady => "steady",
        Course::Better => "better",
    }
}

/// Returns a change in words, without its time.
fn says(change: &Change, is_duration: bool) -> String {
    let (from, to, factor) = (change.from, change.to, change.factor());
    let than = if change.yesterday { " of this hour yesterday" } else { "" };
    match change.what {
        What::Failing => format!("failures {} to {}", percent(from), percent(to)),
        What::Refused => format!("refused {} to {}", percent(from), percent(to)),
        What::Slow => {
            let value = |value: f64| if is_duration { time(value) } else { short(value) };
            let name = PERCENTILES[change.percentile()].0;
            format!("{name} {}, {} to {}", times(factor), value(from), value(to))
        }
        What::Quiet if to == 0.0 => format!("no traffic, {}/s before", short(from)),
        What::Quiet => {
            format!("traffic {}{than}, {}/s to {}/s", part(factor), short(from), short(to))
        }
        What::Busy => {
            format!("traffic {}{than}, {}/s to {}/s", times(factor), short(from), short(to))
        }
    }
}

fn times(factor: f64) -> String {
    format!("\u{d7}{}", digits(factor, 2))
}

fn part(factor: f64) -> String {
    let parts = [
        "half",
        "a third",
        "a quarter",
        "a fifth",
        "a sixth",
        "a seventh",
        "an eighth",
        "a ninth",
        "a tenth",
    ];
    let whole = factor.round().max(2.0);
    let found = (2_u32..).zip(parts).find(|(number, _)| f64::from(*number) >= whole);
    found.map_or_else(|| format!("1/{whole}"), |(_, part)| part.to_owned())
}

pub(crate) fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.0001 {
        return "<0.01\u{202f}%".to_owned();
    }
    format!("{}\u{202f}%", digits(share * 100.0, 2))
}

/// Returns a duration in nanoseconds.
pub(crate) fn time(nanos: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "\u{b5}s")];
    let unit = units.into_iter().find(|(unit, _)| nanos >= 0.9995 * unit).unwrap_or((1.0, "ns"));
    format!("{}\u{202f}{}", digits(nanos / unit.0, 3), unit.1)
}

pub(crate) fn short(number: f64) -> String {
    let units = [(1e9, "G"), (1e6, "M"), (1e4, "k")];
    let found = units.into_iter().find(|(unit, _)| number >= *unit);
    found.map_or_else(
        || digits(number, 3),
        |(unit, name)| {
            let unit = if name == "k" { 1e3 } else { unit };
            format!("{}{name}", digits(number / unit, 3))
        },
    )
}

/// Returns a number with at least this number of digits that are not zeros in front, as far as they
/// are behind the point; and without zeros at the end.
fn digits(number: f64, digits: i32) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let behind = (digits - 1 - number.abs().log10().floor() as i32).clamp(0, 6);
    let text = format!("{number:.*}", usize::try_from(behind).unwrap_or(0));
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

pub(crate) fn span(millis: u64) -> String {
    match millis / 1_000 {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3_600),
    }
}

/// Returns the time of the day.
pub(crate) fn utc(millis: u64) -> String {
    let minutes = millis / 60_000 % 1_440;
    format!("{:02}:{:02} UTC", minutes / 60, minutes % 60)
}

/// Returns the milliseconds since 1970.
pub(crate) fn wall() -> u64 {
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(Duration::as_millis(&time)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_a_reader_needs() {
        let percents = [0.0, 0.00005, 0.003, 0.0334, 0.5, 0.9, 0.999, 1.0].map(percent);
        let expected = ["0", "<0.01", "0.3", "3.3", "50", "90", "100", "100"];
        assert_eq!(percents, expected.map(|number| format!("{number}\u{202f}%")));
        let times_ = [850.0, 1_250.0, 2.1e6, 84.3e6, 999_900.0, 12.34e9].map(time);
        let expected = [
            "850\u{202f}ns",
            "1.25\u{202f}\u{b5}s",
            "2.1\u{202f}ms",
            "84.3\u{202f}ms",
            "1\u{202f}ms",
            "12.3\u{202f}s",
        ];
        assert_eq!(times_, expected);
        assert_eq!(
            [2.0, 39.7, 2.54, 812.0].map(times),
            ["\u{d7}2", "\u{d7}40", "\u{d7}2.5", "\u{d7}812"]
        );
        assert_eq!([2.1, 9.8, 40.0].map(part), ["half", "a tenth", "1/40"]);
        assert_eq!(
            [0.25, 92.0, 1234.0, 45_678.0, 2.5e6].map(short),
            ["0.25", "92", "1234", "45.7k", "2.5M"]
        );
    }
}
