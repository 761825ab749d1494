//! The two formats of a line: what they have in common.
//!
//! A line ends with a newline, and has no other control character: names are escaped. So a line
//! whose end is missing is known by that, and one that was given up is marked by [`GIVEN_UP`].

use std::time::Duration;

use windrow::{Kind, Stats, Timestamp, histogram::Distribution};

use crate::entry::{Dropped, Entry, Run};
use crate::wall::Wall;

mod json;
mod sentinel;

pub use sentinel::Columns;

/// Of the shape of lines.
pub(crate) const VERSION: u32 = 1;

/// Stands behind what is left of a line that was never written to its end: then a newline follows.
pub(crate) const GIVEN_UP: u8 = 0x18; // CANCEL

/// How a log writes its lines.
///
/// ```
/// use windrow_log::{Columns, Format, Options};
///
/// let options = Options::default().format(Format::Sentinel(Columns::default().rt("Micros")));
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Format {
    /// A line of JSON a bucket, with all that it knows of each event: files `windrow-*.jsonl`.
    #[default]
    Json,
    /// A line a bucket as Sentinel's metric log has it: files `windrow-*.log`.
    Sentinel(Columns),
}

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kinds {
    Json,
    Sentinel,
}

impl Kinds {
    pub(crate) const ALL: [Kinds; 2] = [Kinds::Json, Kinds::Sentinel];

    pub(crate) fn extension(self) -> &'static str {
        match self {
            Kinds::Json => "jsonl",
            Kinds::Sentinel => "log",
        }
    }

    /// Returns what a line says, and when it is of; `None` if it is not a line of this format.
    /// Without its newline.
    pub(crate) fn decode(self, line: &[u8]) -> Option<Decoded> {
        let line = str::from_utf8(line).ok()?;
        if line.contains(char::is_control) {
            return None;
        }
        match self {
            Kinds::Json => json::decode(line),
            Kinds::Sentinel => sentinel::decode(line),
        }
    }
}

/// A line that was read.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) entry: Entry,
    /// By what it is ordered, with all lines of its file but the first: when its bucket ended, or
    /// the last of those that were dropped, or when its run began.
    pub(crate) end: Wall,
    /// The line of a run says the slack of the file that it begins: see [`order`](crate::order).
    pub(crate) slack: Option<Duration>,
}

/// What a bucket's line is made of.
pub(crate) struct Facts<'a> {
    pub(crate) resource: &'a str,
    pub(crate) start: Wall,
    pub(crate) length: Duration,
    pub(crate) at: Timestamp,
    /// In the order of the enum.
    pub(crate) events: &'a [(&'static str, Kind, Stats)],
    /// Of those that have any.
    pub(crate) distributions: &'a [(&'static str, Distribution)],
}

impl Format {
    pub(crate) fn kind(&self) -> Kinds {
        match self {
            Format::Json => Kinds::Json,
            Format::Sentinel(_) => Kinds::Sentinel,
        }
    }

    /// Returns whether a line says anything of a window with these events.
    pub(crate) fn can_show(&self, events: &[(&'static str, Kind)]) -> bool {
        match self {
            Format::Json => true,
            Format::Sentinel(columns) => events.iter().any(|(name, _)| columns.has(name)),
        }
    }

    /// Returns the line of a bucket, with its newline.
    pub(crate) fn bucket(&self, facts: &Facts<'_>) -> Vec<u8> {
        match self {
            Format::Json => json::bucket(facts),
            Format::Sentinel(columns) => sentinel::bucket(columns, facts),
        }
    }

    /// Returns when the bucket of a line ended, as a reader of the line knows it.
    pub(crate) fn end(&self, facts: &Facts<'_>) -> Wall {
        match self {
            Format::Json => facts.start.plus(facts.length),
            Format::Sentinel(_) => sentinel::end(facts.start),
        }
    }

    /// Returns when a run began, as a reader of its line knows it.
    pub(crate) fn started(&self, run: &Run) -> Wall {
        let started = Wall::from(run.started);
        match self {
            Format::Json => started,
            Format::Sentinel(_) => Wall::from_millis(started.as_millis()),
        }
    }

    /// Returns the line of a run, in a file of some slack.
    pub(crate) fn run(&self, run: &Run, slack: Duration) -> Vec<u8> {
        match self {
            Format::Json => json::run(run, slack),
            Format::Sentinel(_) => sentinel::run(run, slack),
        }
    }

    pub(crate) fn dropped(&self, dropped: &Dropped) -> Vec<u8> {
        match self {
            Format::Json => json::dropped(dropped),
            Format::Sentinel(_) => sentinel::dropped(dropped),
        }
    }
}
