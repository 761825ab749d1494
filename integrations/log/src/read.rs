//! Reading a log.

mod file;

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::entry::{Entry, Run};
use crate::error::ReadError;
use crate::read::file::{Next, OpenFile, Range};
use crate::regular;
use crate::segment::{self, Segment};
use crate::wall::Wall;

/// Lists the files of a log, in either format.
///
/// Takes no lock, and needs no permission to write: a log may be read while it is being written.
///
/// # Errors
///
/// Returns [`ReadError`] if the directory cannot be listed.
///
/// ```no_run
/// use std::time::{Duration, SystemTime};
/// use windrow_log::Entry;
///
/// let now = SystemTime::now();
/// let from = now - Duration::from_secs(600);
/// let mut entries = windrow_log::read("/var/log/shop")?.between(from, now);
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
    Ok(Files { directory: directory.to_owned(), segments: list(directory)?.into() })
}

/// Returns the files of a log, the oldest first.
pub(crate) fn list(directory: &Path) -> Result<Vec<Segment>, ReadError> {
    segment::list(directory).map_err(|error| ReadError { path: directory.to_owned(), error })
}

/// The files of a log, as they were when [`read`] listed them.
#[derive(Debug)]
#[must_use = "no entry is read before `all` or `between`"]
pub struct Files {
    directory: PathBuf,
    segments: VecDeque<Segment>,
}

impl Files {
    /// Returns all entries in the order in which they were written.
    pub fn all(self) -> Entries {
        self.range(None, None)
    }

    /// Returns the entries whose buckets ended after `from`, and at or before `to`, by the wall
    /// clock, in the order in which they were written; with the runs that began in this range, and
    /// the gaps that touch it.
    ///
    /// A bucket is in a range entirely or not at all, so consecutive ranges add up. The bucket of
    /// an hour is in the range in which the hour ended. So a past range has all its lines, however
    /// long its buckets are. The line of a run that began earlier is not in the range, though lines
    /// of that run are.
    ///
    /// Costs a binary search in each file: about twenty reads of 8 KiB in a file of 64 MiB. Then it
    /// reads all lines whose buckets ended from a minute before `from` to a minute after `to`. In a
    /// file with more disorder, it reads more: see [the time of a line](crate#the-time-of-a-line).
    pub fn between(self, from: SystemTime, to: SystemTime) -> Entries {
        self.range(Some(from.into()), Some(to.into()))
    }

    fn range(self, from: Option<Wall>, to: Option<Wall>) -> Entries {
        let (range, skipped) = (Range { from, to }, Skipped::default());
        Entries { files: self, open: None, range, run: None, skipped }
    }
}

/// An iterator over the entries of a log, in the order in which they were written: from
/// [`Files::between`] and [`Files::all`].
///
/// An error ends the reading of its file; the next entry comes from the next file.
#[must_use = "iterators are lazy"]
pub struct Entries {
    files: Files,
    open: Option<OpenFile>,
    range: Range,
    /// The last run that was returned: each of its files begins with it.
    run: Option<Run>,
    skipped: Skipped,
}

/// The numbers of lines and files that a reader passed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// Incomplete lines: the process or the system ended while the line was written, or it is being
    /// written now. The log did not report such a line as written.
    pub torn: u64,
    /// Other lines that could not be decoded, and lines of more than 16 MiB, which no log writes.
    /// Another program has changed them.
    pub unreadable: u64,
    /// Files that were removed since the directory was listed.
    pub removed: u64,
    /// Entries with the name of a log's file that are not regular files: directories, symbolic
    /// links, pipes. No log has made them.
    pub foreign: u64,
}

impl Entries {
    /// Returns the numbers of lines and files passed over so far.
    pub fn skipped(&self) -> Skipped {
        self.skipped
    }

    /// Opens the next regular file.
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
            // A gap touches every range within its span.
            Entry::Dropped(dropped) => {
                let (from, to) = (Wall::from(dropped.from), Wall::from(dropped.to));
                self.range.from.is_none_or(|first| first < to)
                    && self.range.to.is_none_or(|last| from < last)
            }
            // The file has compared the end of the bucket with the range.
            Entry::Bucket(_) | Entry::Second(_) | Entry::Heavy(_) => true,
        }
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
