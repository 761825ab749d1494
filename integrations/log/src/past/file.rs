//! The sums of one file, which is read once, in parts, as it grows.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::entry::{Dropped, Entry, Run};
use crate::error::ReadError;
use crate::format::{GIVEN_UP, Kinds};
use crate::lines::{self, LONGEST};
use crate::order::Ends;
use crate::past::cells::Cells;
use crate::regular;
use crate::segment::Segment;
use crate::wall::Wall;

/// The number of bytes by which a file is recognized: they have the random id of its first run.
const HEAD: u64 = 120;

/// The greatest number of runs and of gaps that are kept of a file.
const MOST: usize = 1_000;

/// The longest id of a run that is kept, in bytes. A log writes 16.
const LONGEST_ID: usize = 64;

/// The number of bytes that are read at once from a file of which all lines are wanted, or many.
pub(super) const CHUNK: usize = 64 << 10;

/// A file with the sums of its lines so far.
#[derive(Debug, Default)]
pub(super) struct Summed {
    pub(super) path: PathBuf,
    pub(super) kind: Kinds,
    /// The number of bytes read: all lines before it are in the sums.
    pub(super) offset: u64,
    /// The length of the file when it was last looked at.
    pub(super) length: u64,
    /// The file's length when it was last read to its end; behind `offset` there may be a part of a
    /// line.
    ended: Option<u64>,
    head: Vec<u8>,
    /// True if a line of more than 16 MiB was read in part.
    is_inside: bool,
    /// The slack that the first line states; `None` if the order of the lines is unknown.
    pub(super) slack: Option<Duration>,
    pub(super) cells: Cells,
    /// The newest runs that have lines in it, those before them, and the gaps.
    pub(super) runs: Vec<Run>,
    pub(super) other_runs: OtherRuns,
    pub(super) dropped: Vec<Dropped>,
    /// The ends of its buckets.
    pub(super) ends: Option<Ends>,
    /// Lines that cannot be decoded.
    pub(super) unreadable: u64,
    /// The error of the last look at it, or the last reading.
    pub(super) failed: Option<Arc<ReadError>>,
}

impl Summed {
    pub(super) fn new(segment: Segment, directory: &Path) -> Summed {
        Summed { path: segment.path(directory), kind: segment.kind, ..Summed::default() }
    }

    /// Returns an error of this file.
    pub(super) fn error(&self, error: io::Error) -> Arc<ReadError> {
        Arc::new(ReadError { path: self.path.clone(), error })
    }

    /// Looks at the file's length. Returns false if the file is gone, or is none of a log.
    pub(super) fn look(&mut self) -> io::Result<bool> {
        let found = match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            found => found?,
        };
        if !found.is_file() {
            return Ok(false);
        }
        if found.len() < self.offset {
            self.restart();
        }
        self.length = found.len();
        Ok(true)
    }

    /// Returns the number of bytes that are not in the sums, without a part of a line at the end.
    pub(super) fn unread(&self) -> u64 {
        if self.ended == Some(self.length) { 0 } else { self.length.saturating_sub(self.offset) }
    }

    /// Forgets all but the file's length.
    fn restart(&mut self) {
        let (path, length) = (std::mem::take(&mut self.path), self.length);
        *self = Summed { path, length, kind: self.kind, ..Summed::default() };
    }

    /// Reads on, until about `budget` bytes were read, or the end of the file; and takes what it
    /// has read off the budget. The sums take about `memory` bytes at most.
    pub(super) fn read_on(&mut self, budget: &mut u64, memory: usize) -> io::Result<()> {
        let Some((mut file, head)) = self.open_with_head(HEAD)? else {
            self.ended = Some(self.length);
            return Ok(());
        };
        // Another log may have begun anew in the directory.
        if !head.starts_with(&self.head) {
            self.restart();
        }
        self.head = head;
        file.seek(SeekFrom::Start(self.offset))?;
        let (mut reader, mut line) = (BufReader::with_capacity(CHUNK, file), Vec::new());
        loop {
            let taken = lines::next(&mut reader, &mut line, LONGEST as u64)?;
            *budget = budget.saturating_sub(taken.bytes);
            if !taken.is_ended && taken.bytes < LONGEST as u64 {
                // A part of a line: it may be completed.
                self.ended = Some(self.offset + taken.bytes);
                self.length = self.offset + taken.bytes;
                return Ok(());
            }
            if self.is_inside || !taken.is_ended {
                self.unreadable += u64::from(!self.is_inside);
                self.is_inside = !taken.is_ended;
            } else {
                self.add(line.strip_suffix(b"\n").unwrap_or(&line));
                self.cells.fit(memory);
            }
            self.offset += taken.bytes;
            self.length = self.length.max(self.offset);
            if *budget == 0 {
                return Ok(());
            }
        }
    }

    /// Adds a line.
    fn add(&mut self, line: &[u8]) {
        let is_first = self.offset == 0;
        let Some(decoded) = self.kind.decode(line) else {
            self.unreadable += u64::from(line.last() != Some(&GIVEN_UP));
            return;
        };
        let (end, slack) = (decoded.end, decoded.slack);
        if let Some(sums) = decoded.content.sums() {
            self.cells.add(&sums, end);
            let ends = Ends::at(end);
            self.ends = Some(self.ends.map_or(ends, |all| all.and(ends)));
            return;
        }
        match decoded.content.into_entry() {
            Entry::Run(run) => {
                if is_first {
                    self.slack = slack;
                }
                if run.id.len() > LONGEST_ID {
                    self.other_runs.add(&run);
                } else if self.runs.last() != Some(&run) {
                    self.runs.push(run);
                    let too_many = self.runs.len().saturating_sub(MOST);
                    self.runs.drain(..too_many).for_each(|run| self.other_runs.add(&run));
                }
            }
            Entry::Dropped(dropped) if self.dropped.len() < MOST => self.dropped.push(dropped),
            Entry::Dropped(dropped) => {
                if let Some(last) = self.dropped.last_mut() {
                    last.lines = last.lines.saturating_add(dropped.lines);
                    last.from = last.from.min(dropped.from);
                    last.to = last.to.max(dropped.to);
                }
            }
            Entry::Bucket(_) | Entry::Second(_) | Entry::Heavy(_) => {}
        }
    }

    /// Makes the sums smaller. If there are none because there was too little memory, and there is
    /// more now, it begins anew.
    pub(super) fn fit(&mut self, memory: usize) {
        if self.cells.has_too_little(memory) {
            self.restart();
        }
        self.cells.fit(memory);
    }

    /// Returns the file, opened for reading its lines, so that a read takes this number of bytes;
    /// `None` if it is gone, or is another one.
    pub(super) fn open(&self, at_once: usize) -> io::Result<Option<BufReader<File>>> {
        let opened = self.open_with_head(self.head.len() as u64)?;
        let Some((mut file, _)) = opened.filter(|(_, head)| *head == self.head) else {
            return Ok(None);
        };
        file.seek(SeekFrom::Start(0))?;
        Ok(Some(BufReader::with_capacity(at_once, file)))
    }

    /// Opens the file, and reads this number of bytes of it; `None` if it is gone, or is none of a
    /// log.
    fn open_with_head(&self, bytes: u64) -> io::Result<Option<(File, Vec<u8>)>> {
        let mut file = match regular::open(&self.path, OpenOptions::new().read(true)) {
            Err(error) if error.kind() == ErrorKind::NotFound || regular::is_refusal(&error) => {
                return Ok(None);
            }
            file => file?,
        };
        let mut head = Vec::new();
        (&mut file).take(bytes).read_to_end(&mut head)?;
        Ok(Some((file, head)))
    }
}

/// Runs of which only the number is kept, and the time.
#[derive(Debug, Default)]
pub(super) struct OtherRuns {
    count: u64,
    /// Their beginnings.
    began: Option<Ends>,
}

impl OtherRuns {
    fn add(&mut self, run: &Run) {
        let began = Ends::at(run.started.into());
        self.began = Some(self.began.map_or(began, |all| all.and(began)));
        self.count = self.count.saturating_add(1);
    }

    /// Returns the number of them if some may have begun in a range, and otherwise 0.
    pub(super) fn near(&self, range: (Wall, Wall)) -> u64 {
        if self.began.is_some_and(|began| began.touches(range)) { self.count } else { 0 }
    }
}
