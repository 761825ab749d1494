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

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use windrow::export::Form;

use super::words::{age, percent, quantity};
use crate::read::number::Number;
use crate::shown::registry::Shown;
use crate::shown::unit::Unit;

/// The parts of the line: the name of each, that of its metric, and that of the metric with its
/// limit.
const PARTS: [(&str, &str, Option<&str>); 6] = [
    ("CPU", CPU, None),
    ("memory", "process_resident_memory_bytes", None),
    ("virtual", "process_virtual_memory_bytes", Some("process_virtual_memory_max_bytes")),
    ("descriptors", "process_open_fds", Some("process_max_fds")),
    ("threads", "process_threads", None),
    ("up", "process_start_time_seconds", None),
];

const CPU: &str = "process_cpu_seconds";

/// The line, from frame to frame.
#[derive(Debug, Default)]
pub(crate) struct Line {
    /// The numbers of this frame, by name.
    read: HashMap<&'static str, Reading>,
    /// The CPU time of the frame before, and its moment.
    before: Option<(f64, Instant)>,
}

/// The position of a metric, and its number; `None` if the system does not tell it.
type Reading = (usize, Option<f64>);

impl Line {
    /// Takes the numbers of a series of the metric at this position, if it is in the line.
    pub(crate) fn note(&mut self, shown: &Shown, index: usize, key: &str, numbers: &[Number]) {
        let form = shown.metrics[index].outline.form;
        if let Some(name) = known(key)
            && !matches!(form, Form::Window(..) | Form::Histogram(_))
        {
            let number = numbers.first().and_then(|number| number.as_f64());
            self.read.entry(name).or_insert((index, number));
        }
    }

    /// Ends a frame: returns each part with the keys of its metrics, its name, its words, and more
    /// words.
    pub(crate) fn end(&mut self, shown: &Shown, now: u64) -> Value {
        let at = Instant::now();
        let part = |(title, name, limit): (&str, &str, Option<&str>)| {
            let reading = *self.read.get(name)?;
            let limit = limit.and_then(|limit| self.read.get(limit)).copied();
            let [text, more] = self.words(shown, name, reading, limit, (now, at));
            let keys = [Some(reading), limit].into_iter().flatten();
            let keys: Value = keys.map(|(index, _)| &*shown.metrics[index].name).collect();
            Some(json!([keys, title, text, more]))
        };
        let line = PARTS.into_iter().filter_map(part).collect();
        self.before = self.read.get(CPU).and_then(|(_, cpu)| Some(((*cpu)?, at)));
        self.read.clear();
        line
    }

    /// Returns the words of a part, and more words.
    fn words(
        &self,
        shown: &Shown,
        name: &str,
        (index, number): Reading,
        limit: Option<Reading>,
        (now, at): (u64, Instant),
    ) -> [String; 2] {
        let Some(number) = number else { return ["unknown".to_owned(), String::new()] };
        let unit = shown.metrics[index].unit;
        let in_unit = |number| quantity(Number::real(number), unit);
        let whole = in_unit(number);
        if unit == Unit::Moment {
            let since = (now as f64 / 1e3 - number).max(0.0);
            let words = Duration::try_from_secs_f64(since).map_or_else(|_| whole.clone(), age);
            return [words, format!("started {whole}")];
        }
        if name == CPU {
            let used = format!("{whole} since the start");
            let Some((before, then)) = self.before else { return [whole, used] };
            let passed = at.saturating_duration_since(then).as_secs_f64();
            return [percent(((number - before) / passed.max(1e-3)).max(0.0)), used];
        }
        let limit = limit.and_then(|(_, limit)| limit);
        let of = limit.map_or_else(String::new, |limit| format!(" of {}", in_unit(limit)));
        [whole + &of, String::new()]
    }
}

/// Returns the name in the table of a series with this key, if it is there.
fn known(key: &str) -> Option<&'static str> {
    let name = key.strip_suffix("_total").unwrap_or(key);
    let mut names = PARTS.iter().flat_map(|(_, name, limit)| [Some(*name), *limit]).flatten();
    names.find(|known| *known == name)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

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
        let said = line.end(shown, now).to_string();
        serde_json::from_str(&said.replace('\u{202f}', " ")).unwrap()
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
