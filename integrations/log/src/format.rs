//! The two formats of a line, and the code that they share.
//!
//! A line ends with a newline, and has no other control character: names are escaped. So a line
//! whose end is missing is known by that, and one that was given up is marked by [`GIVEN_UP`].

use std::time::Duration;

use windrow::Kind;

use crate::entry::{Dropped, Run};
use crate::wall::Wall;

mod json;
mod line;
mod sentinel;

pub(crate) use json::Content;
pub(crate) use json::heavy;
pub(crate) use line::{Facts, Sums};
pub use sentinel::Columns;

/// Marks the remainder of a line that was never completed; a newline follows.
pub(crate) const GIVEN_UP: u8 = 0x18; // CANCEL

/// The format of a log's lines.
///
/// ```
/// use windrow_log::{Columns, Format, Options};
///
/// let columns = Columns { rt: "Micros", ..Columns::default() };
/// let options = Options::default().format(Format::Sentinel(columns));
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Format {
    /// JSON, one line a bucket, with all statistics of each event: files `windrow-*.jsonl`.
    #[default]
    Json,
    /// Sentinel's metric log, one line a bucket: files `windrow-*.log`.
    Sentinel(Columns),
}

/// A line that was read, of either format.
pub(crate) type Decoded<'a> = line::Decoded<Content<'a>>;

/// The two formats, without their settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kinds {
    #[default]
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

    /// Decodes a line, given without its newline; returns `None` if it is not a line of this
    /// format.
    pub(crate) fn decode(self, line: &[u8]) -> Option<Decoded<'_>> {
        let line = text(line)?;
        match self {
            Kinds::Json => json::decode(line),
            Kinds::Sentinel => {
                sentinel::decode(line).map(|line::Decoded { content, end, slack }| line::Decoded {
                    content: Content::Entry(content),
                    end,
                    slack,
                })
            }
        }
    }
}

/// Returns a line as text; `None` if it is none, or has a control character.
fn text(line: &[u8]) -> Option<&str> {
    let text = str::from_utf8(line).ok()?;
    // Bytes are faster than characters. Control characters of two bytes begin with 0xC2.
    let is_suspect = |byte: &u8| byte.is_ascii_control() || *byte == 0xC2;
    let has_control = line.iter().any(is_suspect) && text.contains(char::is_control);
    (!has_control).then_some(text)
}

impl Format {
    pub(crate) fn kind(&self) -> Kinds {
        match self {
            Format::Json => Kinds::Json,
            Format::Sentinel(_) => Kinds::Sentinel,
        }
    }

    /// Returns whether a line can show any of these events.
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
