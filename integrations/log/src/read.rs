//! Reading a log.

mod file;

use std::collections::VecDeque;
use std::fmt::{self, Debug, Formatter};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::entry::{Entry, Run};
use crate::error::ReadError;
use crate::read::file::{Next, OpenFile};
use crate::regular;
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
    segments.sort_unstable();
    Ok(Files { directory: directory.to_owned(), segments: segments.into() })
}

/// The files of a log, as they were when [`read`] listed them.
#[derive(Debug)]
pub struct Files {
    directory: PathBuf,
    segments: VecDeque<Segment>,
}

impl Files {
    /// Returns all entries, in the order in which they were written.
    pub fn all(self) -> Entries {
        self.range(None, None)
    }

    /// Returns the entries whose buckets ended after `from`, and at `to` or before, by the wall
    /// clock, in the order in which they were written; the runs that began then; and what was
    /// dropped of that time.
    ///
    /// A bucket is in it as a whole, or not at all: so ranges that follow each other add up. The
    /// bucket of an hour is in the range in which the hour ended. So a range that is past has all
    /// its lines, however long its buckets are. A run that began earlier is not in it, though lines
    /// are of it.
    ///
    /// Costs a binary search in each file: some twenty looks at 8 KiB in one of 64 MiB. Then all
    /// lines are read that were written for buckets that ended from a minute before `from` to a
    /// minute after `to`. In a file of more disorder, more are read: see [the time of a
    /// line](crate#the-time-of-a-line).
    pub fn between(self, from: SystemTime, to: SystemTime) -> Entries {
        self.range(Some(from.into()), Some(to.into()))
    }

    fn range(self, from: Option<Wall>, to: Option<Wall>) -> Entries {
        let (range, skipped) = (Range { from, to }, Skipped::default());
        Entries { files: self, open: None, range, run: None, skipped }
    }
}

/// A span of time.
#[derive(Clone, Copy, Debug)]
struct Range {
    /// Exclusive; `None` for no beginning.
    from: Option<Wall>,
    /// Inclusive; `None` for no end.
    to: Option<Wall>,
}

impl Range {
    fn has(&self, moment: Wall) -> bool {
        self.from.is_none_or(|from| from < moment) && self.to.is_none_or(|to| moment <= to)
    }
}

/// Entries of a log, in the order in which they were written: from [`Files::between`] and
/// [`Files::all`].
///
/// An error ends the file that it is of; the next entry is of the next file.
pub struct Entries {
    files: Files,
    open: Option<OpenFile>,
    range: Range,
    /// The last that was told: each file of it begins with it.
    run: Option<Run>,
    skipped: Skipped,
}

/// What was passed over in the range that was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// Lines without an end: the process or the system ended while it was written, or it is being
    /// written now. What it said was not acknowledged to the writer.
    pub torn: u64,
    /// Other lines that could not be read, and lines of more than 16 MiB, which no log writes.
    /// Something has changed them.
    pub unreadable: u64,
    /// Files that were removed since the directory was listed.
    pub removed: u64,
    /// What bears the name of a log's file and is no regular file: a directory, a symbolic link, a
    /// pipe. No log has made it.
    pub foreign: u64,
}

impl Entries {
    /// Returns what was passed over so far.
    pub fn skipped(&self) -> Skipped {
        self.skipped
    }

    /// Opens the next file that is one.
    fn open_next(&mut self) -> Option<Result<OpenFile, ReadError>> {
        loop {
            let segment = self.files.segments.pop_front()?;
            let path = segment.path(&self.files.directory);
            match OpenFile::open(&path, segment.kind) {
                Err(error) if error.kind() == ErrorKind::NotFound => self.skipped.removed += 1,
                Err(error) if regular::is_refusal(&error) => self.skipped.foreign += 1,
                opened => return Some(opened.map_err(|error| ReadError { path, error })),
            }
        }
    }

    /// Returns the next entry of the file that is open; `None` at its end.
    fn next_of(&mut self, open: &mut OpenFile) -> io::Result<Option<Entry>> {
        loop {
            match open.next(self.range)? {
                Next::Entry(entry) if self.is_wanted(&entry) => return Ok(Some(entry)),
                Next::Entry(_) => {}
                Next::Torn => self.skipped.torn += 1,
                Next::Unreadable => self.skipped.unreadable += 1,
                Next::End => return Ok(None),
            }
        }
    }

    fn is_wanted(&mut self, entry: &Entry) -> bool {
        match entry {
            Entry::Run(run) => {
                let is_new = self.run.as_ref() != Some(run);
                self.run = Some(run.clone());
                is_new && self.range.has(run.started.into())
            }
            // It has lines of all the span.
            Entry::Dropped(dropped) => {
                let (from, to) = (Wall::from(dropped.from), Wall::from(dropped.to));
                self.range.from.is_none_or(|first| first < to)
                    && self.range.to.is_none_or(|last| from < last)
            }
            // The file looks at when they ended.
            Entry::Bucket(_) | Entry::Second(_) => true,
        }
    }
}

/// Shows how many files are left, and what was passed over.
impl Debug for Entries {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Entries");
        shown.field("files", &self.files.segments.len()).field("skipped", &self.skipped);
        shown.finish_non_exhaustive()
    }
}

impl Iterator for Entries {
    type Item = Result<Entry, ReadError>;

    fn next(&mut self) -> Option<Result<Entry, ReadError>> {
        loop {
            let open = self.open.take().map(Ok).or_else(|| self.open_next())?;
            let mut open = match open {
                Ok(open) => open,
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
