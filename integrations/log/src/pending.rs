//! The lines that wait to be written: in order, and within a bound.

use std::collections::VecDeque;

use crate::entry::Dropped;
use crate::format::Format;
use crate::lines::LONGEST;
use crate::order::Ends;
use crate::wall::Wall;

/// A line, with its newline.
#[derive(Debug)]
pub(crate) struct Line {
    /// The beginning of its bucket, or the earliest of several.
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

/// The waiting lines.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) lines: VecDeque<Line>,
    pub(crate) bytes: usize,
    most: usize,
    /// Dropped lines of which no line tells yet.
    gap: Option<Gap>,
    pub(crate) dropped_ever: u64,
}

impl Pending {
    pub(crate) fn new(most: usize) -> Pending {
        Pending { lines: VecDeque::new(), bytes: 0, most, gap: None, dropped_ever: 0 }
    }

    /// Queues a line, or drops it if the memory is full: the lines that wait already come before
    /// it, and a gap can state its end only if everything within it is dropped. Also drops a line
    /// that is too long for any reader.
    pub(crate) fn push(&mut self, line: Line, format: &Format) {
        let length = line.text.len();
        if length > LONGEST || length > self.most.saturating_sub(self.bytes) {
            let Line { start, ends, .. } = line;
            let gap = self.gap.unwrap_or(Gap { lines: 0, start, ends });
            let (lines, start) = (gap.lines + 1, gap.start.min(start));
            self.gap = Some(Gap { lines, start, ends: gap.ends.and(ends) });
            self.dropped_ever += 1;
        } else {
            self.say_what_was_dropped(format);
            self.take(line);
        }
    }

    /// Queues the line that records the dropped lines, if there are any.
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

    /// Removes the first lines, which were written.
    pub(crate) fn written(&mut self, lines: usize) {
        self.bytes -= self.lines.drain(..lines).map(|line| line.text.len()).sum::<usize>();
    }

    pub(crate) fn is_half_full(&self) -> bool {
        self.bytes >= self.most / 2
    }
}
