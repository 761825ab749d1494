//! Reading one file.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::entry::Entry;
use crate::format::{Decoded, GIVEN_UP, Kinds};
use crate::lines::{self, Taken};
use crate::regular;
use crate::search::search;
use crate::wall::Wall;

/// A span of time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    /// The exclusive beginning; `None` for no bound.
    pub(super) from: Option<Wall>,
    /// The inclusive end; `None` for no bound.
    pub(super) to: Option<Wall>,
}

impl Range {
    pub(super) fn has(&self, moment: Wall) -> bool {
        self.from.is_none_or(|from| from < moment) && self.to.is_none_or(|to| moment <= to)
    }
}

/// A file that is read.
pub(super) struct OpenFile {
    pub(super) path: PathBuf,
    kind: Kinds,
    reader: BufReader<File>,
    line: Vec<u8>,
    position: Position,
}

/// The position of the reading in a file.
#[derive(Clone, Copy)]
enum Position {
    /// The first line is next, which is not in the order of the others, and states their slack.
    First,
    /// The other lines are next; `None` if their order is unknown, so that all of them are read.
    Others(Option<Duration>),
    /// The remaining lines ended after the range.
    Over,
}

/// The next item of a file.
pub(super) enum Next {
    /// A bucket of the range, or any other entry.
    Entry(Entry),
    /// A part of a line.
    Torn,
    /// A line that no log has written.
    Unreadable,
    /// The end of the range.
    End,
}

impl OpenFile {
    pub(super) fn open(path: &Path, kind: Kinds) -> io::Result<OpenFile> {
        let reader = BufReader::new(regular::open(path, OpenOptions::new().read(true))?);
        let path = path.to_owned();
        Ok(OpenFile { path, kind, reader, line: Vec::new(), position: Position::First })
    }

    /// Returns the next line that matters to a range.
    pub(super) fn next(&mut self, range: Range) -> io::Result<Next> {
        loop {
            let slack = match self.position {
                Position::Over => return Ok(Next::End),
                Position::First => None,
                Position::Others(slack) => slack,
            };
            let taken = lines::next(&mut self.reader, &mut self.line, u64::MAX)?;
            if taken.bytes == 0 {
                return Ok(Next::End);
            }
            let decoded =
                self.decode(taken).map(|line| (line.slack, line.end, line.content.into_entry()));
            if matches!(self.position, Position::First) {
                let slack = decoded.as_ref().ok().and_then(|(slack, ..)| *slack);
                self.position = Position::Others(slack);
                self.go_to(range, slack)?;
            }
            let (_, end, entry) = match decoded {
                Ok(decoded) => decoded,
                Err(next) => return Ok(next),
            };
            // Each line behind it ended later than the range.
            if let (Some(to), Some(slack)) = (range.to, slack)
                && end > to.plus(slack)
            {
                self.position = Position::Over;
            }
            if range.has(end)
                || !matches!(entry, Entry::Bucket(_) | Entry::Second(_) | Entry::Heavy(_))
            {
                return Ok(Next::Entry(entry));
            }
        }
    }

    /// Decodes the line that was read.
    fn decode(&self, taken: Taken) -> Result<Decoded<'_>, Next> {
        let whole = self.line.strip_suffix(b"\n");
        match whole.and_then(|line| self.kind.decode(line)) {
            Some(decoded) => Ok(decoded),
            None if !taken.is_ended || whole.is_some_and(|line| line.last() == Some(&GIVEN_UP)) => {
                Err(Next::Torn)
            }
            None => Err(Next::Unreadable),
        }
    }

    /// Seeks from the first line to the beginning of the range.
    fn go_to(&mut self, range: Range, slack: Option<Duration>) -> io::Result<()> {
        let (Some(from), Some(slack)) = (range.from, slack) else { return Ok(()) };
        let (first, length) =
            (self.reader.stream_position()?, self.reader.get_ref().metadata()?.len());
        // No line ahead of a line that ended then belongs to the range.
        let bound = from.minus(slack);
        let (start, _) = search(&mut self.reader, self.kind, (first, length), bound)?;
        self.reader.seek(SeekFrom::Start(start))?;
        Ok(())
    }
}
