//! Lines that are not written yet: in order, and within a bound.

use std::collections::VecDeque;

use crate::entry::Dropped;
use crate::format::Format;
use crate::lines::LONGEST;
use crate::order::Ends;
use crate::wall::Wall;

/// A line, with its newline.
#[derive(Debug)]
pub(crate) struct Line {
    /// When its bucket began: the earliest of several.
    pub(crate) start: Wall,
    pub(crate) ends: Ends,
    pub(crate) text: Vec<u8>,
}

/// Lines that were dropped.
#[derive(Clone, Copy, Debug)]
struct Gap {
    lines: u64,
    start: Wall,
    ends: Ends,
}

/// What waits.
#[derive(Debug)]
pub(crate) struct Pending {
    lines: VecDeque<Line>,
    bytes: usize,
    most: usize,
    /// Not yet said to be dropped.
    gap: Option<Gap>,
    dropped_ever: u64,
}

impl Pending {
    pub(crate) fn new(most: usize) -> Pending {
        Pending { lines: VecDeque::new(), bytes: 0, most, gap: None, dropped_ever: 0 }
    }

    /// Takes a line on. If there is no room, it is dropped: what waits already comes before it, and
    /// a gap has one end only if all that comes into it is dropped. So is a line that no reader
    /// would take.
    pub(crate) fn push(&mut self, line: Line, format: &Format) {
        let length = line.text.len();
        if length > LONGEST || length > self.most.saturating_sub(self.bytes) {
            let Line { start, ends, .. } = line;
            let gap = self.gap.unwrap_or(Gap { lines: 0, start, ends });
            let ends =
                Ends { first: gap.ends.first.min(ends.first), last: gap.ends.last.max(ends.last) };
            self.gap = Some(Gap { lines: gap.lines + 1, start: gap.start.min(start), ends });
            self.dropped_ever += 1;
        } else {
            self.say_what_was_dropped(format);
            self.take(line);
        }
    }

    /// Takes on the line that says what was dropped, if anything was.
    pub(crate) fn say_what_was_dropped(&mut self, format: &Format) {
        if let Some(Gap { lines, start, ends }) = self.gap.take() {
            let dropped = Dropped { lines, from: start.into(), to: ends.last.into() };
            self.take(Line { start, ends, text: format.dropped(&dropped) });
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

    /// Returns how many lines wait, and bytes in them.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.lines.len(), self.bytes)
    }

    pub(crate) fn is_half_full(&self) -> bool {
        self.bytes >= self.most / 2
    }

    pub(crate) fn dropped_ever(&self) -> u64 {
        self.dropped_ever
    }
}
