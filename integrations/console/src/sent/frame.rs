//! Frames: the messages that a stream sends each second.
//!
//! `event: all` contains everything, and is the first frame of a stream:
//!
//! ```json
//! {"service": "shop", "instance": "process 4711", "version": "1.2.0", "log": 1, "epoch": "18c...",
//!  "frame": 7, "age": 61000, "time": 1700000000000,
//!  "metrics": [["requests", "Requests by route", "window",
//!               [["Pass", "Count", ""], ["Rt", "Value", "ns"]], ""]],
//!  "rows": [[0, 0, "requests{route=\"/\"}", 59000000000,
//!            [812, 790, 812, 790, 31600, 12, 90], [320, 1000, 13, 14]]],
//!  "check": {"audits": 7, "round": 1, "held": 61000, "failing": []},
//!  "unusual": {"list": [[0, "slow", 43.2, 1699999700000, "p99 ×40, 2.1 ms to 84 ms", "worse"]],
//!              "changes": 1, "calm": 1699990000000, "windows": 1, "compared": 1},
//!  "heavy": [["clients", "Requests by client", [[60000, 812, [["acme", 512, 530]]]]]],
//!  "process": [[["process_open_fds", "process_max_fds"], "descriptors", "31 of 1024", ""]]}
//! ```
//!
//! A row is its number, that of its metric, its key, the nanoseconds that its closed buckets cover
//! (or those since the window was built, if fewer), its numbers (see
//! [`layout`](crate::shown::layout)) and the last minute: the age of the end of its newest slice
//! and the length of a slice, both in milliseconds, and the count of each slice, from the first one
//! that is known. `epoch` tells one process from another, `log` is 1 if `/past` has a log, `age` is
//! the time since the console was made, and `held` the age at which nothing disagreed, both in
//! milliseconds; an audit reads one series, and `round` is the number of frames in which each
//! series has its turn. `unusual` has the changes that go on, each with its row, kind, weight,
//! beginning, words and course, the most urgent first; their number, if not all are listed; the
//! time since which nothing else was unusual; and the number of windows, and of those that have a
//! past to compare with. `heavy` has heavy keys: a name, a help, and for each span its
//! milliseconds, the total weight, and the heaviest keys with the bounds of their weight. `process`
//! has the [line](super::process) of the process: the keys of a part, its name, its words, and more
//! words. `yesterday` has a row's number and its rate a second in this hour of yesterday, where a
//! tier has it.
//!
//! `event: more` contains the changes since the frame before: `gone` has the numbers of removed
//! rows, `spans` a row's number and the span that it covers now, `rows` a row's number and its
//! numbers, `yesterday` the changed ones, and `new` complete new rows. A series that was removed
//! and has come back is another row.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::{Value, json};
use windrow::Kind;

use super::json::{List, exact, with_lists};
use super::process::Line;
use super::walk::{Read, Walk};
use super::words::wall;
use super::{changes, heavy, json};
use crate::read::audit::{AUDITS, Turn, audit};
use crate::read::buckets::{history, millis};
use crate::read::ledger::{Audit, Ledger};
use crate::read::number::Number;
use crate::shown::names::{events_of, form_name, kind_name};
use crate::shown::registry::{Named, Shown};
use crate::unusual::list::Found;
use crate::unusual::watches::Keeper;

/// The greatest number of failing series that a frame names.
const NAMED: usize = 100;

/// A frame reads the heavy keys anew after this many times the time that the last reading took.
const REST: u32 = 9;

/// The contents of one second, for all streams.
pub(crate) struct Frame {
    pub(crate) number: u64,
    /// The frame for streams that have sent the frame before.
    pub(crate) more: Bytes,
    /// The frame for streams that have not, if any asked for it.
    pub(crate) all: Option<Bytes>,
}

/// The maker of frames, which remembers the contents of the last one.
#[derive(Default)]
pub(crate) struct Sampler {
    /// The rows, by metric and then by key.
    known: Vec<HashMap<String, Row>>,
    /// The number of rows that ever existed, which is the number of the next.
    rows: u64,
    audits: u64,
    turn: Turn,
    /// The age of the console when nothing last disagreed.
    held: u64,
    /// The heavy keys, the time at which they were read last, and the time that it took.
    heavy: Value,
    heavy_read: Option<(Instant, Duration)>,
    process: Line,
}

/// The contents of the last frame for a series.
#[derive(Default)]
struct Row {
    number: u64,
    /// The number of the series itself. (Its key may come to be another series'.)
    series: u64,
    span: u64,
    numbers: Vec<Number>,
    ledger: Ledger,
    /// The difference between its readings.
    fails_by: u64,
    /// The rate in this hour of yesterday, a second.
    yesterday: Option<f64>,
    /// The number of the last frame that contained it.
    frame: u64,
}

impl Sampler {
    /// Reads all series. `full` asks for a frame with everything.
    pub(crate) fn frame(
        &mut self,
        shown: &Shown,
        keeper: &Arc<Keeper>,
        number: u64,
        full: bool,
    ) -> Frame {
        let (age, now) = (millis(shown.age()), wall());
        let mut parts = Parts { all: full.then(List::default), ..Parts::default() };
        self.known.resize_with(shown.metrics.len(), HashMap::new);
        let mut walk = Walk::begin(shown, keeper);
        for index in 0..shown.metrics.len() {
            walk.metric(index, |read| self.row(shown, read, number, &mut parts));
        }
        let (unusual, walked) = walk.end();
        for known in &mut self.known {
            let gone = known.extract_if(|_, row| row.frame != number);
            gone.for_each(|(_, row)| parts.gone.push(&row.number.into()));
        }
        self.turn.end(walked);
        if self.heavy_read.is_none_or(|(at, took)| at.elapsed() >= took * REST) {
            let begun = Instant::now();
            self.heavy = shown.heavy.iter().map(heavy::brief).collect();
            self.heavy_read = Some((Instant::now(), begun.elapsed()));
        }
        let check = self.check(age, walked);
        let row = |found: &Found| Some(self.known[found.metric].get(&found.key)?.number);
        let mut head = json!({
            "epoch": shown.epoch,
            "frame": number,
            "age": age,
            "time": now,
            "check": check,
            "unusual": changes::brief(&unusual, now, row),
            "heavy": self.heavy,
            "process": self.process.end(shown, now),
        });
        let Parts { rows, new, spans, gone, yesterday, all, all_yesterday } = &parts;
        let lists = [("rows", rows), ("new", new), ("spans", spans), ("gone", gone)];
        let more = event("more", &head, &[&lists[..], &[("yesterday", yesterday)]].concat());
        let all = all.as_ref().map(|rows| {
            head["service"] = shown.service.clone().into();
            head["instance"] = shown.instance.clone().into();
            head["version"] = shown.version.clone().into();
            head["log"] = u8::from(shown.has_log).into();
            head["metrics"] = shown.metrics.iter().map(|metric| described(shown, metric)).collect();
            event("all", &head, &[("rows", rows), ("yesterday", all_yesterday)])
        });
        Frame { number, more, all }
    }

    /// Writes what a series' reading has changed.
    fn row(&mut self, shown: &Shown, read: &Read<'_>, frame: u64, parts: &mut Parts) {
        let Read { key, numbers, span, .. } = *read;
        self.process.note(shown, read.index, key, numbers);
        let known = &mut self.known[read.index];
        if known.get(key).is_some_and(|row| row.series != read.series.number()) {
            known.remove(key).iter().for_each(|row| parts.gone.push(&row.number.into()));
        }
        let row = if let Some(row) = known.get_mut(key) {
            // The span of a young window grows, which is no news for an empty one.
            let holds_any = numbers.iter().any(|number| !number.is_nothing());
            if row.span != span && holds_any {
                row.span = span;
                parts.spans.push(&json!([row.number, exact(span)]));
            }
            if row.numbers != numbers {
                let mut list = json::numbers(numbers);
                list.insert(0, row.number.into());
                parts.rows.push(&list.into());
                row.numbers.clear();
                row.numbers.extend_from_slice(numbers);
            }
            row
        } else {
            let (number, series) = (self.rows, read.series.number());
            let row = Row { number, series, span, numbers: numbers.to_vec(), ..Row::default() };
            self.rows += 1;
            whole(&mut parts.new, row.number, read);
            known.entry(key.to_owned()).or_insert(row)
        };
        row.frame = frame;
        let yesterday = if read.is_watched { read.yesterday } else { row.yesterday };
        if row.yesterday != yesterday {
            parts.yesterday.push(&json!([row.number, yesterday]));
        }
        if yesterday.is_some() && parts.all.is_some() {
            parts.all_yesterday.push(&json!([row.number, yesterday]));
        }
        row.yesterday = yesterday;
        // A possible loss is read again for each frame, until it is resolved.
        if self.turn.places().contains(&read.place) || row.ledger.is_pending() {
            let found = audit(read.series.metric(), &mut row.ledger);
            self.audits += u64::from(found != Audit::Nothing);
            row.fails_by = if let Audit::Fails { by } = found { by } else { 0 };
        }
        if let Some(all) = &mut parts.all {
            whole(all, row.number, read);
        }
    }

    /// Returns the result of the audits.
    fn check(&mut self, age: u64, walked: usize) -> Value {
        let rows = || self.known.iter().flat_map(HashMap::values);
        let failing = rows().filter(|row| row.fails_by > 0).take(NAMED);
        let failing: Vec<Value> =
            failing.map(|row| json!([row.number, exact(row.fails_by)])).collect();
        if failing.is_empty() && !rows().any(|row| row.ledger.is_pending()) {
            self.held = age;
        }
        let round = walked.div_ceil(AUDITS).max(1);
        json!({ "audits": self.audits, "round": round, "held": self.held, "failing": failing })
    }
}

/// Returns a metric's name, help, form, events, and the unit of its own values.
fn described(shown: &Shown, metric: &Named) -> Value {
    let form = metric.outline.form;
    let event = |(event, kind): &(&str, Kind)| {
        let unit = if shown.is_duration(event) { "ns" } else { "" };
        json!([event, kind_name(*kind), unit])
    };
    let events: Value = events_of(form).iter().map(event).collect();
    let unit = shown.unit(metric).unwrap_or_default();
    json!([metric.name, metric.help, form_name(form), events, unit])
}

/// The lists of a frame, as they grow.
#[derive(Default)]
struct Parts {
    rows: List,
    new: List,
    spans: List,
    gone: List,
    yesterday: List,
    all: Option<List>,
    /// For `all`: the rates of yesterday of all rows.
    all_yesterday: List,
}

/// Writes a whole row. Reads its last minute only if it is wanted.
fn whole(list: &mut List, number: u64, read: &Read<'_>) {
    let minute = history(read.series.metric()).into_iter().flatten();
    let (span, minute) = (exact(read.span), minute.map(exact).collect::<Value>());
    list.push(&json!([number, read.index, read.key, span, json::numbers(read.numbers), minute]));
}

/// Returns an event of the stream.
fn event(name: &str, head: &Value, lists: &[(&str, &List)]) -> Bytes {
    // JSON has no line feeds of its own.
    Bytes::from(format!("event: {name}\ndata: {}\n\n", with_lists(head, lists)))
}
