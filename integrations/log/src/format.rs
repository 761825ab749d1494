//! The two formats of a line: what they have in common.
//!
//! A line ends with a newline, and has no other control character: names are escaped. So a line whose end is missing is
//! known by that, and one that was given up is marked by [`GIVEN_UP`].

use std::time::Duration;

use windrow::{Distribution, Kind, Stats, Timestamp};

use crate::entry::{Dropped, Entry, Run};
use crate::wall::Wall;

mod json;
mod sentinel;

pub use sentinel::Columns;

/// Of the shape of lines.
pub(crate) const VERSION: u32 = 1;

/// How much earlier a bucket's line may begin than one before it in the same file. A reader depends on it.
pub(crate) const SLACK: Duration = Duration::from_secs(60);

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

    /// What a line says, and when it is of; `None` if it is not a line of this format. Without its newline.
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
    /// By what it is ordered, with all lines of its file but the first: the start of its bucket or run, or the last of
    /// those that were dropped.
    pub(crate) key: Wall,
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

    /// Whether a line says anything of a window with these events.
    pub(crate) fn can_show(&self, events: &[(&'static str, Kind)]) -> bool {
        match self {
            Format::Json => true,
            Format::Sentinel(columns) => events.iter().any(|(name, _)| columns.has(name)),
        }
    }

    /// The line of a bucket, with its newline.
    pub(crate) fn bucket(&self, facts: &Facts<'_>) -> Vec<u8> {
        match self {
            Format::Json => json::bucket(facts),
            Format::Sentinel(columns) => sentinel::bucket(columns, facts),
        }
    }

    pub(crate) fn run(&self, run: &Run) -> Vec<u8> {
        match self {
            Format::Json => json::run(run),
            Format::Sentinel(_) => sentinel::run(run),
        }
    }

    pub(crate) fn dropped(&self, dropped: &Dropped) -> Vec<u8> {
        match self {
            Format::Json => json::dropped(dropped),
            Format::Sentinel(_) => sentinel::dropped(dropped),
        }
    }
}
