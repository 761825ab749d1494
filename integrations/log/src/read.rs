//! Reading a log.

use std::collections::VecDeque;
use std::fmt::{self, Debug, Formatter};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, ErrorKind, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::entry::{Entry, Run};
use crate::error::ReadError;
use crate::format::{Decoded, GIVEN_UP, Kinds, SLACK};
use crate::search::lower_bound;
use crate::segment::Segment;
use crate::wall::Wall;

/// Looks at the files of a log, of whichever formats.
///
/// It takes no lock, and needs no permission to write: a log may be read while it is written.
///
/// # Errors
///
/// [`ReadError`] if the directory cannot be listed.
///
/// ```no_run
/// use std::time::{Duration, SystemTime};
/// use windrow_log::Entry;
///
/// let now = SystemTime::now();
/// let mut entries = windrow_log::read("/var/log/shop")?.between(now - Duration::from_secs(600), now);
/// for entry in &mut entries {
///     match entry? {
///         Entry::Bucket(bucket) => println!("{}: {}", bucket.resource, bucket.stats("Pass").sum),
///         Entry::Dropped(dropped) => println!("{} lines are missing", dropped.lines),
///         _ => {}
///     }
/// }
/// assert_eq!(entries.skipped().unreadable, 0);
/// # Ok::<(), windrow_log::ReadError>(())
/// ```
pub fn read(directory: impl AsRef<Path>) -> Result<Files, ReadError> {
    let directory = directory.as_ref();
    let failed = |error| ReadError { path: directory.to_owned(), error };
    let mut segments = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        segments.extend(Segment::of(&entry.map_err(failed)?.file_name()));
    }
    segments.sort_unstable_by_key(|segment| segment.number);
    let files = segments.into_iter().map(|segment| (segment.path(directory), segment.kind));
    Ok(Files(files.collect()))
}

/// The files of a log, as they were when [`read`] listed them.
#[derive(Debug)]
pub struct Files(VecDeque<(PathBuf, Kinds)>);

impl Files {
    /// All entries, in the order in which they were written.
    pub fn all(self) -> Entries {
        self.range(Wall::FIRST, None)
    }

    /// The entries whose buckets or runs began at `from` or later, and before `to`, by the wall clock, in the order in which they were
    /// written; and what was dropped of those.
    ///
    /// A bucket is in it as a whole, or not at all: so ranges that follow each other add up. A run that began earlier is not in it, though
    /// lines are of it.
    ///
    /// Costs a binary search in each file: some twenty looks at 8 KiB in one of 64 MiB. Then all lines are read that were
    /// written for buckets from a minute before `from` to a minute after `to`.
    pub fn between(self, from: SystemTime, to: SystemTime) -> Entries {
        self.range(from.into(), Some(to.into()))
    }

    fn range(self, from: Wall, to: Option<Wall>) -> Entries {
        let skipped = Skipped::default();
        Entries { files: self.0, open: None, from, to, run: None, skipped }
    }
}

/// Entries of a log, in the order in which they were written: from [`Files::between`] and [`Files::all`].
///
/// An error ends the file that it is of; the next entry is of the next file.
pub struct Entries {
    files: VecDeque<(PathBuf, Kinds)>,
    open: Option<Open>,
    from: Wall,
    /// Exclusive; `None` for no end.
    to: Option<Wall>,
    /// The last that was told: each file of it begins with it.
    run: Option<Run>,
    skipped: Skipped,
}

/// What was passed over in the range that was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// Lines without an end: the process or the system ended while it was written, or it is being written now. What it said was
    /// not acknowledged to the writer.
    pub torn: u64,
    /// Other lines that could not be read. Something has changed them.
    pub unreadable: u64,
    /// Files that were removed since the directory was listed.
    pub removed: u64,
}

struct Open {
    path: PathBuf,
    kind: Kinds,
    reader: BufReader<File>,
    line: Vec<u8>,
    /// Whether the first line was read: it is not in the order of the others.
    is_begun: bool,
}

impl Entries {
    /// What was passed over so far.
    pub fn skipped(&self) -> Skipped {
        self.skipped
    }

    /// The next entry of the file that is open; `None` at its end.
    fn next_of(&mut self, open: &mut Open) -> io::Result<Option<Entry>> {
        loop {
            let is_first = !open.is_begun;
            if !open.read_line()? {
                return Ok(None);
            }
            let decoded = self.decode(open);
            if is_first {
                self.go_to_range(open)?;
            }
            let Some(Decoded { entry, key }) = decoded else { continue };
            let is_over = !is_first && self.to.is_some_and(|to| key >= to.plus(SLACK));
            if self.is_wanted(&entry) {
                if is_over {
                    open.seek_end()?; // what was dropped may have begun long before
                }
                return Ok(Some(entry));
            }
            if is_over {
                return Ok(None);
            }
        }
    }

    /// What the line that was read says; `None`, and counted, if it cannot be read.
    fn decode(&mut self, open: &Open) -> Option<Decoded> {
        let whole = open.line.strip_suffix(b"\n");
        let decoded = whole.and_then(|line| open.kind.decode(line));
        if decoded.is_none() {
            let is_torn = whole.is_none_or(|line| line.last() == Some(&GIVEN_UP));
            let count = if is_torn { &mut self.skipped.torn } else { &mut self.skipped.unreadable };
            *count += 1;
        }
        decoded
    }

    /// Goes from the first line to where the range may begin.
    fn go_to_range(&self, open: &mut Open) -> io::Result<()> {
        let (first, length) =
            (open.reader.stream_position()?, open.reader.get_ref().metadata()?.len());
        let start = lower_bound(&mut open.reader, open.kind, (first, length), self.from)?;
        open.reader.seek(SeekFrom::Start(start))?;
        Ok(())
    }

    fn is_wanted(&mut self, entry: &Entry) -> bool {
        let is_in = |start: SystemTime| {
            let start = Wall::from(start);
            start >= self.from && self.to.is_none_or(|to| start < to)
        };
        match entry {
            Entry::Run(run) => {
                let is_new = self.run.as_ref() != Some(run);
                let is_in = is_in(run.started);
                self.run = Some(run.clone());
                is_new && is_in
            }
            Entry::Bucket(bucket) => is_in(bucket.start),
            Entry::Second(second) => is_in(second.start),
            Entry::Dropped(dropped) => {
                Wall::from(dropped.to) >= self.from
                    && self.to.is_none_or(|to| Wall::from(dropped.from) < to)
            }
        }
    }
}

/// Shows how many files are left, and what was passed over.
impl Debug for Entries {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Entries");
        shown.field("files", &self.files.len()).field("skipped", &self.skipped);
        shown.finish_non_exhaustive()
    }
}

impl Open {
    fn new((path, kind): (PathBuf, Kinds)) -> Result<Open, ReadError> {
        match File::open(&path) {
            Ok(file) => {
                let reader = BufReader::new(file);
                Ok(Open { path, kind, reader, line: Vec::new(), is_begun: false })
            }
            Err(error) => Err(ReadError { path, error }),
        }
    }

    /// Reads the next line; false at the end.
    fn read_line(&mut self) -> io::Result<bool> {
        self.is_begun = true;
        self.line.clear();
        Ok(self.reader.read_until(b'\n', &mut self.line)? > 0)
    }

    fn seek_end(&mut self) -> io::Result<()> {
        self.reader.seek(SeekFrom::End(0)).map(drop)
    }
}

impl Iterator for Entries {
    type Item = Result<Entry, ReadError>;

    fn next(&mut self) -> Option<Result<Entry, ReadError>> {
        loop {
            let open = match self.open.take() {
                Some(open) => Ok(open),
                None => Open::new(self.files.pop_front()?),
            };
            let mut open = match open {
                Ok(open) => open,
                Err(gone) if gone.error.kind() == ErrorKind::NotFound => {
                    self.skipped.removed += 1;
                    continue;
                }
                Err(error) => return Some(Err(error)),
            };
            match self.next_of(&mut open) {
                Ok(Some(entry)) => {
                    self.open = Some(open);
                    return Some(Ok(entry));
                }
                Ok(None) => {}
                Err(error) => return Some(Err(ReadError { path: open.path, error })),
            }
        }
    }
}
