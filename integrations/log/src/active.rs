//! The file that lines go to.
//!
//! It only grows, and each whole line in it was said to be written. If the system takes a part of a line and no more, that
//! part is cut off. Where that fails too, and where a process ended in the middle of a line, what comes next begins
//! with [`GIVEN_UP`] and a newline: so nothing is ever glued to the part, and a reader knows it for what it is.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::disk::{AppendFile, Disk};
use crate::format::{GIVEN_UP, SLACK};
use crate::pending::Line;
use crate::segment::Segment;
use crate::wall::Wall;

/// How much of a file that is there already is looked at.
const TAIL: u64 = 64 << 10;

pub(crate) struct Active<F> {
    pub(crate) segment: Segment,
    pub(crate) path: PathBuf,
    file: F,
    length: u64,
    /// The latest key of its lines but the first.
    newest: Wall,
    /// Whether it ends in a part of a line.
    is_torn: bool,
    /// Whether it has a line beside its first.
    has_lines: bool,
    /// Lines that were written since the last sync.
    pub(crate) unsynced: u64,
}

impl<F: AppendFile> Active<F> {
    /// A file that is made now.
    pub(crate) fn create<D: Disk<File = F>>(
        disk: &D,
        directory: &Path,
        segment: Segment,
    ) -> io::Result<Active<F>> {
        let path = segment.path(directory);
        let file = disk.create(&path)?;
        Ok(Active {
            segment,
            path,
            file,
            length: 0,
            newest: Wall::FIRST,
            is_torn: false,
            has_lines: false,
            unsynced: 0,
        })
    }

    /// A file that is there.
    pub(crate) fn reuse<D: Disk<File = F>>(
        disk: &D,
        directory: &Path,
        segment: Segment,
    ) -> io::Result<Active<F>> {
        let path = segment.path(directory);
        let (file, length) = disk.open(&path)?;
        let tail = disk.tail(&path, TAIL)?;
        let is_torn = tail.last().is_some_and(|last| *last != b'\n');
        // The first line of the tail may be the end of one; and the first of a file does not count.
        let lines = tail.split(|byte| *byte == b'\n').skip(1);
        let keys = lines.filter_map(|line| segment.kind.decode(line)).map(|line| line.key);
        let newest = match (length <= TAIL, keys.clone().max(), keys.last()) {
            (true, newest, _) => newest.unwrap_or(Wall::FIRST),
            // What is not seen is not later than that.
            (false, _, Some(last)) => last.plus(SLACK),
            // No line tells: no other can follow.
            (false, _, None) => Wall::LAST,
        };
        let has_lines = length > 0;
        Ok(Active { segment, path, file, length, newest, is_torn, has_lines, unsynced: 0 })
    }

    /// Whether the path still leads to it.
    pub(crate) fn is_there(&self) -> bool {
        self.file.is_at(&self.path)
    }

    /// How many of these lines it can take now: those that find room, and do not begin too early for its order.
    /// A file without lines takes one in any case.
    pub(crate) fn takes<'l>(&self, lines: impl Iterator<Item = &'l Line>, size: u64) -> usize {
        let (mut length, mut newest, mut has_lines) = (self.length, self.newest, self.has_lines);
        let fits = |line: &&Line| {
            length += line.text.len() as u64;
            let fits = !has_lines || (length <= size && keeps_order(newest, line.key));
            (newest, has_lines) = (newest.max(line.key), true);
            fits
        };
        lines.take_while(fits).count()
    }

    /// Writes the first line of a file, or of a run in it.
    pub(crate) fn begin(&mut self, line: &[u8], key: Wall) -> io::Result<()> {
        if self.has_lines {
            self.newest = self.newest.max(key);
        }
        let (written, result) = self.append(line);
        debug_assert!(written == line.len() || result.is_err(), "a line is one");
        result
    }

    /// Writes lines, and tells how many.
    pub(crate) fn write<'l>(
        &mut self,
        lines: impl Iterator<Item = &'l Line> + Clone,
    ) -> (usize, io::Result<()>) {
        let text: Vec<u8> = lines.clone().flat_map(|line| &line.text).copied().collect();
        let (mut written, result) = self.append(&text);
        let mut count = 0;
        for line in lines {
            let Some(rest) = written.checked_sub(line.text.len()) else { break };
            self.newest = self.newest.max(line.key);
            (written, count, self.has_lines) = (rest, count + 1, true);
        }
        self.unsynced += count as u64;
        (count, result)
    }

    /// Appends whole lines, and tells how many bytes of them there are.
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

    /// Appends, and tells how many bytes, all of them or fewer with the reason.
    fn append_all(&mut self, bytes: &[u8]) -> (usize, io::Result<()>) {
        let mut written = 0;
        while written < bytes.len() {
            match self.file.append(&bytes[written..]) {
                Ok(0) => return (written, Err(ErrorKind::WriteZero.into())),
                Ok(more) => {
                    written += more;
                    self.length += more as u64;
                }
                Err(error) => return (written, Err(error)),
            }
        }
        (written, Ok(()))
    }

    /// Brings it to the disk.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        self.file.sync()?;
        self.unsynced = 0;
        Ok(())
    }

    /// Whether a line of so many bytes fits into it.
    pub(crate) fn has_room(&self, line: usize, size: u64) -> bool {
        !self.has_lines || self.length + line as u64 <= size
    }

    /// Whether a run that began at `started` may go on in it.
    pub(crate) fn may_go_on(&self, started: Wall) -> bool {
        keeps_order(self.newest, started)
    }
}

/// Whether a line of `key` may come behind one of `newest`: see [`SLACK`].
fn keeps_order(newest: Wall, key: Wall) -> bool {
    key >= newest.minus(SLACK)
}
