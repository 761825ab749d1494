//! The file that lines go to.
//!
//! The file only grows, and every whole line in it was reported as written. If the system takes
//! only a part of a line, that part is cut off. If that fails too, or if a process ended in the
//! middle of a line, the next text begins with [`GIVEN_UP`] and a newline: so no line is ever glued
//! to the part, and a reader recognizes the part.

use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::time::Duration;

use crate::disk::{AppendFile, Disk};
use crate::format::GIVEN_UP;
use crate::order::{Ends, LEAST_SLACK, Order};
use crate::pending::Line;
use crate::seen;
use crate::segment::Segment;
use crate::wall::Wall;

/// The steps of beginning a file, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// The file was made or opened.
    Opened,
    /// After that, the directory was synced.
    Listed,
    /// The file has the line of this run.
    HasRun,
}

pub(crate) struct Active<F> {
    pub(crate) segment: Segment,
    pub(crate) path: PathBuf,
    file: F,
    /// The largest size that the file may reach, in bytes.
    size: u64,
    pub(crate) length: u64,
    pub(crate) order: Order,
    /// True if the file ends in a part of a line.
    is_torn: bool,
    pub(crate) stage: Stage,
    /// True if the file has a line beside its first.
    pub(crate) has_lines: bool,
    /// Lines that were written since the last sync.
    pub(crate) unsynced: u64,
}

impl<F: AppendFile> Active<F> {
    /// Opens an existing file, to continue it with a run that began at `started` and whose line has
    /// `begin` bytes. If the file is full, or not in order with such a run, returns the slack for
    /// the next file.
    pub(crate) fn reuse<D: Disk<File = F>>(
        disk: &D,
        path: PathBuf,
        segment: Segment,
        size: u64,
        (started, begin): (Wall, usize),
    ) -> io::Result<Result<Active<F>, Duration>> {
        let (file, length) = disk.open(&path)?;
        if length == 0 {
            // A process made the file and ended before it wrote to it.
            let active = Active::empty(path, segment, file, (size, LEAST_SLACK));
            return Ok(Ok(active));
        }
        let Some(slack) = seen::slack(disk, &path, segment.kind)? else {
            return Ok(Err(LEAST_SLACK)); // the order of its lines is unknown
        };
        if length.saturating_add(begin as u64) > size {
            return Ok(Err(slack));
        }
        let seen = seen::end(disk, &path, segment.kind, length, (slack, started))?;
        let mut order = Order::new(slack);
        if let Some(newest) = seen.newest {
            order.add(Ends::at(newest));
        }
        if !order.takes(Ends::at(started)) {
            return Ok(Err(order.slack_with(Some(Ends::at(started))).max(slack)));
        }
        let active = Active::empty(path, segment, file, (size, slack));
        let is_torn = seen.is_torn;
        Ok(Ok(Active { length, order, is_torn, has_lines: true, ..active }))
    }

    /// Returns a new file.
    pub(crate) fn empty(
        path: PathBuf,
        segment: Segment,
        file: F,
        (size, slack): (u64, Duration),
    ) -> Active<F> {
        Active {
            segment,
            path,
            file,
            size,
            length: 0,
            order: Order::new(slack),
            is_torn: false,
            stage: Stage::Opened,
            has_lines: false,
            unsynced: 0,
        }
    }

    /// Returns whether the path still leads to this file.
    pub(crate) fn is_there(&self) -> bool {
        self.file.is_at(&self.path)
    }

    /// Returns the number of these lines that the file can take now: those that fit and are in
    /// order. A file without lines takes one in any case.
    pub(crate) fn takes<'l>(&self, lines: impl Iterator<Item = &'l Line>) -> usize {
        let (mut length, mut order, mut has_lines) = (self.length, self.order, self.has_lines);
        let fits = |line: &&Line| {
            length += line.text.len() as u64;
            let fits = !has_lines || (length <= self.size && order.takes(line.ends));
            order.add(line.ends);
            has_lines = true;
            fits
        };
        lines.take_while(fits).count()
    }

    /// Writes the line of the run.
    pub(crate) fn begin(&mut self, line: &[u8], started: Wall) -> io::Result<()> {
        let (written, result) = self.append(line);
        if written == line.len() {
            self.stage = Stage::HasRun;
            if self.has_lines {
                self.order.add(Ends::at(started));
            }
        }
        result
    }

    /// Writes lines and returns their number.
    pub(crate) fn write<'l>(
        &mut self,
        lines: impl Iterator<Item = &'l Line> + Clone,
    ) -> (usize, io::Result<()>) {
        let text: Vec<u8> = lines.clone().flat_map(|line| &line.text).copied().collect();
        let (mut written, result) = self.append(&text);
        let mut count = 0;
        for line in lines {
            let Some(rest) = written.checked_sub(line.text.len()) else { break };
            self.order.add(line.ends);
            (written, count, self.has_lines) = (rest, count + 1, true);
        }
        self.unsynced += count as u64;
        (count, result)
    }

    /// Appends whole lines and returns the number of bytes appended.
    fn append(&mut self, text: &[u8]) -> (usize, io::Result<()>) {
        if self.is_torn {
            let result = self.append_all(&[GIVEN_UP, b'\n']).1;
            if result.is_err() {
                return (0, result);
            }
            self.is_torn = false;
        }
        let (written, result) = self.append_all(text);
        let whole =
            text[..written].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        if whole < written {
            let length = self.length - (written - whole) as u64;
            match self.file.truncate(length) {
                Ok(()) => self.length = length,
                Err(_) => self.is_torn = true,
            }
        }
        (whole, result)
    }

    /// Appends bytes and returns their number: all of them, or fewer with the reason.
    fn append_all(&mut self, bytes: &[u8]) -> (usize, io::Result<()>) {
        let mut written = 0;
        while written < bytes.len() {
            match self.file.append(&bytes[written..]) {
                Ok(0) => return (written, Err(ErrorKind::WriteZero.into())),
                Ok(more) => {
                    written += more;
                    self.length += more as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return (written, Err(error)),
            }
        }
        (written, Ok(()))
    }

    /// Syncs the file to the disk.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        self.file.sync()?;
        self.unsynced = 0;
        Ok(())
    }
}
