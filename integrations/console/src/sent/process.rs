//! The numbers of the process itself, in one line of the page.
//!
//! They are the metrics with the names that Prometheus' libraries use for them, without labels, as
//! windrow-process has them:
//!
//! | metric | in the line |
//! |---|---|
//! | `process_cpu_seconds` | the share of one core since the frame before |
//! | `process_resident_memory_bytes` | bytes |
//! | `process_virtual_memory_bytes` | bytes, of those of `process_virtual_memory_max_bytes` |
//! | `process_open_fds` | a number, of that of `process_max_fds` |
//! | `process_threads` | a number |
//! | `process_start_time_seconds` | the time since then |
//!
//! A metric that is in the line is no row of the page, unless a search asks for it; nor is a limit
//! that the system does not have.

use std::time::{Duration, Instant};

use windrow::export::Form;

use super::json::{Items, Json};
use super::quantity::quantity;
use super::words::{age, percent};
use crate::read::number::Number;
use crate::shown::registry::Shown;
use crate::shown::unit::Unit;

/// A part of the line: its name there, that of its metric, and that of the metric with its limit.
struct Part(&'static str, &'static str, Option<&'static str>);

const PARTS: [Part; 6] = [
    Part("CPU", CPU, None),
    Part("memory", "process_resident_memory_bytes", None),
    Part("virtual", "process_virtual_memory_bytes", Some("process_virtual_memory_max_bytes")),
    Part("descriptors", "process_open_fds", Some("process_max_fds")),
    Part("threads", "process_threads", None),
    Part("up", "process_start_time_seconds", None),
];

const CPU: &str = "process_cpu_seconds";

/// The line, from frame to frame.
#[derive(Debug, Default)]
pub(crate) struct Line {
    /// The numbers of this frame.
    read: Vec<(&'static str, Reading)>,
    /// The CPU time of the frame before, and its moment.
    before: Option<(f64, Instant)>,
}

/// A metric's number.
#[derive(Clone, Copy, Debug)]
struct Reading {
    /// The position of the metric.
    index: usize,
    /// `None` if the system does not tell it.
    number: Option<f64>,
}

impl Line {
    /// Takes the numbers of a series of the metric at this position, if it is in the line.
    pub(crate) fn note(&mut self, shown: &Shown, index: usize, key: &str, numbers: &[Number]) {
        let metric = &shown.metrics[index];
        let is_one = !matches!(metric.outline.form, Form::Window(..) | Form::Histogram(_));
        let Some(name) = known(key).filter(|_| is_one) else { return };
        let number = numbers.first().and_then(|number| number.as_f64());
        self.read.push((name, Reading { index, number }));
    }

    /// Ends a frame: writes each part with the keys of its metrics, its name, its words, and more
    /// words.
    pub(crate) fn write(&mut self, json: &mut Json, shown: &Shown, now: u64) {
        let at = Instant::now();
        json.list(|json| {
            for Part(title, name, limit) in PARTS {
                let Some(reading) = self.find(name) else { continue };
                let limit = limit.and_then(|limit| self.find(limit));
                let [text, more] = self.words(shown, name, reading, limit, (now, at));
                let read = [Some(reading), limit].into_iter().flatten();
                let keys = read.map(|of| &*shown.metrics[of.index].name);
                json.add((Items(keys), title, text, more));
            }
        });
        self.before = self.find(CPU).and_then(|cpu| Some((cpu.number?, at)));
        self.read.clear();
    }

    fn find(&self, name: &str) -> Option<Reading> {
        self.read.iter().find(|(other, _)| *other == name).map(|(_, reading)| *reading)
    }

    /// Returns the words of a part, and more words.
    fn words(
        &self,
        shown: &Shown,
        name: &str,
        Reading { index, number }: Reading,
        limit: Option<Reading>,
        (now, at): (u64, Instant),
    ) -> [String; 2] {
        let Some(number) = number else { return ["unknown".to_owned(), String::new()] };
        let unit = shown.metrics[index].unit;
        let whole = quantity(Number::real(number), unit);
        match unit {
            Unit::Moment => {
                let since = (now as f64 / 1e3 - number).max(0.0);
                let words = Duration::try_from_secs_f64(since).map_or_else(|_| whole.clone(), age);
                [words, format!("started {whole}")]
            }
            _ if name == CPU => {
                let share = self.before.map(|(before, then)| {
                    let passed = at.saturating_duration_since(then).as_secs_f64();
                    ((number - before) / passed.max(1e-3)).max(0.0)
                });
                let used = format!("{whole} since the start");
                share.map_or([whole, used.clone()], |share| [percent(share), used])
            }
            _ => {
                let limit = limit.and_then(|limit| limit.number);
                let limit = limit.map(|limit| quantity(Number::real(limit), unit));
                [limit.map_or(whole.clone(), |limit| format!("{whole} of {limit}")), String::new()]
            }
        }
    }
}

/// Returns the name in the table of a series with this key, if it is there.
fn known(key: &str) -> Option<&'static str> {
    let name = key.strip_suffix("_total").unwrap_or(key);
    let names = PARTS.iter().flat_map(|Part(_, name, limit)| [Some(*name), *limit]);
    names.flatten().find(|known| *known == name)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};
    use windrow::export::{Outline, Source, from_fn};

    use super::*;
    use crate::shown::registry::Named;

    fn shown(names: &[&str]) -> Shown {
        let mut shown = Shown::new("shop".to_owned());
        for name in names {
            let source: Arc<dyn Source> = Arc::new(from_fn(|| 0.0));
            let outline: Outline = source.outline();
            let unit = Unit::of(name, outline.form, "");
            let (name, help) = ((*name).to_owned(), String::new());
            shown.metrics.push(Named { name, help, outline, unit, source });
        }
        shown
    }

    /// Returns the line of these numbers, at a moment in milliseconds since 1970.
    fn line(line: &mut Line, shown: &Shown, numbers: &[f64], now: u64) -> Value {
        for (index, number) in numbers.iter().enumerate() {
            let key = shown.metrics[index].name.clone();
            line.note(shown, index, &key, &[Number::real(*number)]);
        }
        let mut json = Json::default();
        line.write(&mut json, shown, now);
        serde_json::from_str(&json.finish().replace('\u{202f}', " ")).unwrap()
    }

    #[test]
    fn the_numbers_of_a_process_are_one_line_in_their_units() {
        let names = [
            "process_start_time_seconds",
            "process_open_fds",
            "requests_in_flight",
            "process_max_fds",
            "process_resident_memory_bytes",
            "process_network_bytes",
        ];
        let numbers = [1_795_843_617.0, 31.0, 7.0, 1_024.0, 59_768_832.0, 5.0];
        let said = line(&mut Line::default(), &shown(&names), &numbers, 1_795_855_617_000);
        let expected = json!([
            [["process_resident_memory_bytes"], "memory", "57 MiB", ""],
            [["process_open_fds", "process_max_fds"], "descriptors", "31 of 1024", ""],
            [["process_start_time_seconds"], "up", "3 h 20 min", "started 2026-11-28 05:26:57 UTC"],
        ]);
        assert_eq!(said, expected);
    }

    #[test]
    fn a_limit_that_is_none_is_no_row_either() {
        let names = ["process_virtual_memory_bytes", "process_virtual_memory_max_bytes"];
        let said = line(&mut Line::default(), &shown(&names), &[1_048_576.0, f64::NAN], 0);
        assert_eq!(said, json!([[names, "virtual", "1 MiB", ""]]));
    }

    #[test]
    fn the_cpu_time_is_a_share_from_the_second_frame_on() {
        let (shown, mut cpu) = (shown(&["process_cpu_seconds"]), Line::default());
        let first = line(&mut cpu, &shown, &[12.3], 0);
        let whole = "12.3 s since the start";
        assert_eq!(first, json!([[["process_cpu_seconds"], "CPU", "12.3 s", whole]]));
        let before = &mut cpu.before.as_mut().unwrap().1;
        *before = before.checked_sub(Duration::from_secs(1_000)).unwrap();
        let second = line(&mut cpu, &shown, &[262.3], 0);
        assert_eq!(second[0][2], "25 %");
        // A number that the system does not tell is absent, and then begins anew.
        assert_eq!(line(&mut cpu, &shown, &[f64::NAN], 0)[0][2], "unknown");
        assert_eq!(line(&mut cpu, &shown, &[263.0], 0)[0][2], "263 s");
    }

    #[test]
    fn a_series_with_labels_or_of_a_longer_name_is_not_in_the_line() {
        assert_eq!(known("process_threads"), Some("process_threads"));
        assert_eq!(known("process_cpu_seconds_total"), Some(CPU));
        assert_eq!(known("process_threads{state=\"idle\"}"), None);
        assert_eq!(known("process_threads_max"), None);
    }
}
