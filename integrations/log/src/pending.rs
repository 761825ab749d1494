//! Lines that are not written yet: in order, and within a bound.

use std::collections::VecDeque;

use crate::entry::Dropped;
use crate::format::Format;
use crate::wall::Wall;

/// A line, with its newline.
#[derive(Debug)]
pub(crate) struct Line {
    /// See `Decoded`.
    pub(crate) key: Wall,
    pub(crate) text: Vec<u8>,
}

/// What waits.
#[derive(Debug)]
pub(crate) struct Pending {
    lines: VecDeque<Line>,
    bytes: usize,
    most: usize,
    /// Dropped, and not yet said to be: lines, the earliest and the latest of them.
    dropped: Option<(u64, Wall, Wall)>,
    dropped_ever: u64,
}

impl Pending {
    pub(crate) fn new(most: usize) -> Pending {
        Pending { lines: VecDeque::new(), bytes: 0, most, dropped: None, dropped_ever: 0 }
    }

    /// Takes a line on. If there is no room, it is dropped: what waits already comes before it, and a gap has one end only if
    /// all that comes into it is dropped.
    pub(crate) fn push(&mut self, line: Line, format: &Format) {
        if self.bytes + line.text.len() > self.most {
            let (lines, from, to) = self.dropped.unwrap_or((0, line.key, line.key));
            self.dropped = Some((lines + 1, from.min(line.key), to.max(line.key)));
            self.dropped_ever += 1;
        } else {
            self.say_what_was_dropped(format);
            self.take(line);
        }
    }

    /// Takes on the line that says what was dropped, if anything was.
    pub(crate) fn say_what_was_dropped(&mut self, format: &Format) {
        if let Some((lines, from, to)) = self.dropped.take() {
            let text = format.dropped(&Dropped { lines, from: from.into(), to: to.into() });
            self.take(Line { key: to, text });
        }
    }

    fn take(&mut self, line: Line) {
        self.bytes += line.text.len();
        self.lines.push_back(line);
    }

    pub(crate) fn first(&self) -> Option<&Line> {
        self.lines.front()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter()
    }

    /// The first lines were written.
    pub(crate) fn written(&mut self, lines: usize) {
        self.bytes -= self.lines.drain(..lines).map(|line| line.text.len()).sum::<usize>();
    }

    /// How many lines wait, and bytes in them.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.lines.len(), self.bytes)
    }

    pub(crate) fn dropped_ever(&self) -> u64 {
        self.dropped_ever
    }
}
