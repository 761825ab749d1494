//! Lines of Sentinel's metric log:
//!
//! ```text
//! timestamp|yyyy-MM-dd HH:mm:ss|resource|passQps|blockQps|successQps|exceptionQps|rt|\
//!     occupiedPassQps|concurrency|classification
//! ```
//!
//! A line that is not a bucket's has a resource name that no bucket can have (see [`names`]) and
//! zero counts, so that readers of Sentinel's lines can read all of them.

use std::io::Write;
use std::time::Duration;

use crate::entry::{Dropped, Entry, Run, Second};
use crate::format::line::{Decoded, Facts, VERSION};
use crate::names;
use crate::order::LEAST_SLACK;
use crate::wall::Wall;

/// The assignment of events to the fields of a line.
///
/// By default, the events `Pass`, `Block`, `Success`, `Exception`, `Rt` and `Occupied` fill the
/// fields of these names, and no event fills the concurrency. A field without an event, or whose
/// event a window does not have, is 0. Events that fill no field are not in the log.
///
/// In a window without the event `Pass`, the event `Request` fills that field: its count less the
/// one of `blockQps`, because it counts refused operations too, as in `windrow-tower`.
///
/// ```
/// use windrow_log::Columns;
///
/// let columns = Columns { success: "Done", classification: 1, ..Columns::default() };
/// ```
#[derive(Clone, Debug)]
pub struct Columns {
    /// The event whose count is `passQps`.
    pub pass: &'static str,
    /// The event that counts all operations, also the refused ones. Its count less that of
    /// `blockQps` is `passQps`, if the window does not have the event of that field. An operation
    /// may be refused in a later bucket than it began in: then `passQps` is too large in the first
    /// bucket by what it is too small in the second, and no number of a line is below 0. So the sum
    /// of lines can be too large. `""` for no such event.
    pub requests: &'static str,
    /// The event whose count is `blockQps`.
    pub block: &'static str,
    /// The event whose count is `successQps`.
    pub success: &'static str,
    /// The event whose count is `exceptionQps`.
    pub exception: &'static str,
    /// The event whose mean, rounded down, is `rt`: a `Value` or a `Histogram`. There is no field
    /// for percentiles.
    pub rt: &'static str,
    /// The event whose count is `occupiedPassQps`.
    pub occupied: &'static str,
    /// The event whose greatest value is the concurrency: a `Maximum`, a `Value` or a `Histogram`.
    pub concurrency: &'static str,
    /// The classification of all resources, 0 by default. (In Sentinel, 0 is common, 1 is web and 2
    /// is a remote call.)
    pub classification: i32,
}

impl Default for Columns {
    fn default() -> Columns {
        Columns {
            pass: "Pass",
            requests: "Request",
            block: "Block",
            success: "Success",
            exception: "Exception",
            rt: "Rt",
            occupied: "Occupied",
            concurrency: "",
            classification: 0,
        }
    }
}

impl Columns {
    /// Returns whether an event fills a field.
    pub(super) fn has(&self, event: &str) -> bool {
        let calls = [self.pass, self.requests, self.block, self.success, self.exception];
        calls.contains(&event) || [self.rt, self.occupied, self.concurrency].contains(&event)
    }
}

/// The format of a date.
const DATE: &str = "%Y-%m-%d %H:%M:%S";

fn line(
    at: Wall,
    numbers: [u64; 7],
    classification: i32,
    resource: impl FnOnce(&mut Vec<u8>),
) -> Vec<u8> {
    let time = jiff::Timestamp::from_nanosecond(at.0.into()).expect("jiff's time is longer");
    let mut line = format!("{}|{}|", at.as_millis(), time.strftime(DATE)).into_bytes();
    resource(&mut line);
    for number in numbers.map(i128::from).into_iter().chain([classification.into()]) {
        let _ = write!(line, "|{number}"); // writing to a `Vec` cannot fail
    }
    line.push(b'\n');
    line
}

pub(super) fn bucket(columns: &Columns, facts: &Facts<'_>) -> Vec<u8> {
    let find = |column: &str| {
        let found = facts.events.iter().find(|(name, ..)| *name == column);
        found.map(|(.., stats)| *stats)
    };
    let count = |column| find(column).unwrap_or_default().count;
    let rt = find(columns.rt).unwrap_or_default();
    let block = count(columns.block);
    let pass = match find(columns.pass) {
        Some(pass) => pass.count,
        None if columns.pass.is_empty() => 0,
        None => count(columns.requests).saturating_sub(block),
    };
    let numbers = [
        pass,
        block,
        count(columns.success),
        count(columns.exception),
        rt.sum.checked_div(rt.count).unwrap_or(0),
        count(columns.occupied),
        find(columns.concurrency).and_then(|stats| stats.max).unwrap_or(0),
    ];
    line(facts.start, numbers, columns.classification, |into| names::escape(facts.resource, into))
}

/// Returns a line whose name is a mark: no escaped name has a `%` that two hexadecimal digits do
/// not follow.
fn mark(at: Wall, mark: &str) -> Vec<u8> {
    line(at, [0; 7], 0, |into| into.extend_from_slice(mark.as_bytes()))
}

/// Returns the end of a bucket: the line does not have its length, so it is taken for one second.
pub(super) fn end(start: Wall) -> Wall {
    Wall::from_millis(start.as_millis()).plus(Duration::from_secs(1))
}

pub(super) fn run(run: &Run, slack: Duration) -> Vec<u8> {
    let slack = if slack > LEAST_SLACK { format!(" {}", slack.as_secs()) } else { String::new() };
    mark(run.started.into(), &format!("%run {VERSION} {}{slack}", run.id))
}

pub(super) fn dropped(dropped: &Dropped) -> Vec<u8> {
    let (from, to) = (Wall::from(dropped.from), Wall::from(dropped.to));
    mark(from, &format!("%dropped {} {}", dropped.lines, to.as_millis()))
}

pub(super) fn decode(line: &str) -> Option<Decoded<Entry>> {
    let fields: Vec<&str> = line.split('|').collect();
    let [at, _date, resource, pass, block, success, exception, rt, occupied, concurrency, class] =
        fields[..]
    else {
        return None;
    };
    let at = Wall::from_millis(at.parse().ok()?);
    if let Some(run) = resource.strip_prefix("%run ") {
        let (version, id) = run.split_once(' ')?;
        let (id, slack) = match id.split_once(' ') {
            Some((id, slack)) => (id, Duration::from_secs(slack.parse().ok()?)),
            None => (id, LEAST_SLACK),
        };
        let run = Run { id: id.to_owned(), started: at.into() };
        let is_known = version.parse() == Ok(VERSION);
        let (content, slack) = (Entry::Run(run), Some(slack));
        return is_known.then_some(Decoded { content, end: at, slack });
    }
    if let Some(dropped) = resource.strip_prefix("%dropped ") {
        let (lines, to) = dropped.split_once(' ')?;
        let (lines, to) = (lines.parse().ok()?, Wall::from_millis(to.parse().ok()?));
        let content = Entry::Dropped(Dropped { lines, from: at.into(), to: to.into() });
        return Some(Decoded { content, end: to, slack: None });
    }
    let second = Second {
        resource: names::unescape(resource)?,
        start: at.into(),
        pass: pass.parse().ok()?,
        block: block.parse().ok()?,
        success: success.parse().ok()?,
        exception: exception.parse().ok()?,
        rt: rt.parse().ok()?,
        occupied: occupied.parse().ok()?,
        concurrency: concurrency.parse().ok()?,
        classification: class.parse().ok()?,
    };
    Some(Decoded { content: Entry::Second(second), end: end(at), slack: None })
}
