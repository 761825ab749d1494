//! The past: the sums of a log by time, for charts of any span.
//!
//! The lines of a week of a busy service are a gigabyte, which takes seconds to read. So each file
//! is read once, and its sums by resource and minute are kept in memory; as the file grows, its new
//! lines are added. A range is made of these sums, or, if its bins are shorter than a minute, of
//! the lines themselves, which are then few. Either way each number is the sum of the lines whose
//! buckets ended in the bin.

mod cells;
mod file;
mod grid;
mod read;

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::entry::Run;
use crate::error::ReadError;
use crate::order::Ends;
use crate::past::cells::EVENTS;
use crate::past::file::Summed;
use crate::past::grid::Grid;
use crate::segment::Segment;
use crate::total::Total;
use crate::wall::Wall;

/// The greatest number of bytes of lines that are read for a range.
const LINES: u64 = 8 << 20;

/// The greatest number of bins of a range.
const BINS: usize = 1_000;

/// The greatest number of runs that are returned with a range.
const RUNS: usize = 200;

/// The number of files among which the memory is divided at least: a log keeps 16 by default.
const FILES: usize = 16;

/// A reader of a log for charts: sums by resource and time, of any span, in a few milliseconds.
///
/// It reads each line once, keeps sums by minute in bounded memory, and reads the lines that were
/// written since whenever it [catches up](Self::catch_up). It takes no lock, and needs no
/// permission to write: the log may be written meanwhile, by this process or another one.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use windrow_log::Past;
///
/// # let directory = tempfile::tempdir()?;
/// let mut past = Past::new(directory.path());
/// while past.catch_up(16 << 20)? > 0 {} // reads all there is, in steps of 16 MiB
///
/// let now = SystemTime::now();
/// let week = past.span("http{route=\"/cart\"}", now - Duration::from_secs(604_800), now, 400);
/// for event in &week.events {
///     println!("{}: {}", event.name, event.bins.iter().map(|bin| bin.count).sum::<i128>());
/// }
/// for run in &week.runs {
///     println!("started at {:?}", run.started);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Past {
    directory: PathBuf,
    memory: usize,
    files: BTreeMap<Segment, Summed>,
}

/// The sums of a resource over a span of time, in bins of equal length: from [`Past::span`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Span {
    /// The beginning of the first bin. It is a multiple of `bin` since 1970.
    pub start: SystemTime,
    /// The length of each bin. Bin `i` has the buckets that ended after `start + i * bin`, and at
    /// or before `start + (i + 1) * bin`.
    pub bin: Duration,
    /// The number of bins.
    pub bins: usize,
    /// The events of the resource's lines, in the order in which they were found.
    pub events: Vec<PastEvent>,
    /// True if the resource has more than 32 events; the others are left out.
    pub has_more_events: bool,
    /// The longest bucket of the resource in the files of the span. No bin is shorter, if that is a
    /// day or less.
    pub longest: Duration,
    /// The runs that began in the span, the oldest first: with one log a process, its starts. These
    /// are the newest 200.
    pub runs: Vec<Run>,
    /// The number of runs before these that began in the span. Of a file with more than 1000 runs,
    /// those before the last 1000 count if some of them may have begun in the span.
    pub earlier_runs: u64,
    /// The number of lines, of any resource, in gaps that touch the span: see
    /// [`Dropped`](crate::Dropped). The gaps of a file beyond 1000 count as one.
    pub dropped: u64,
    /// The number of bytes of the log that are not in the sums, for one of four reasons: they were
    /// not read yet; their file [failed](Self::failed); they are more than one span may read; or
    /// they have gone from the log since they were read. If the number is 0, and no file failed,
    /// all lines that could be decoded are in the sums.
    pub unread: u64,
    /// The errors of the files that could not be read, one for each of them.
    pub failed: Vec<Arc<ReadError>>,
    /// The number of lines of the log that could not be decoded.
    pub unreadable: u64,
    /// The earliest and the latest end of all buckets in the log.
    pub held: Option<(SystemTime, SystemTime)>,
}

/// The sums of an event, by bin.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PastEvent {
    /// The name of the event.
    pub name: String,
    /// Its sums in each bin. An empty bucket has no line, so they are zero where nothing was
    /// counted, and also where no process ran.
    pub bins: Vec<Total>,
}

impl Past {
    /// Creates a reader of the log in a directory. It reads nothing yet.
    #[must_use]
    pub fn new(directory: impl AsRef<Path>) -> Past {
        Past { directory: directory.as_ref().to_owned(), memory: 64 << 20, files: BTreeMap::new() }
    }

    /// Sets the memory for sums in bytes: 64 MiB by default, which is enough for 190 000 minutes of
    /// a resource with four events.
    ///
    /// Each file that is not empty has an equal part of it, of a sixteenth at most. If that is too
    /// little for sums by minute, as with many resources that count seldom, the bins of this file
    /// are longer: up to a day. A file with more resources than that allows has no sums; spans read
    /// its lines.
    #[must_use]
    pub fn memory(mut self, bytes: usize) -> Past {
        self.memory = bytes;
        self
    }

    /// Lists the files, and reads about `budget` bytes of the lines that it does not have, the
    /// newest file first. Returns the number of bytes that are left to read.
    ///
    /// The sums of files that were removed are removed. A file that is replaced by another one is
    /// read anew, unless both have the same length. A file that cannot be read is tried anew in the
    /// next call: until then, its error is in [`Span::failed`], and what it lacks in
    /// [`Span::unread`], but not in the number that is returned. Costs a look at each file, and
    /// about 3 µs a line.
    ///
    /// # Errors
    ///
    /// Returns [`ReadError`] if the directory cannot be listed. Then all is as it was.
    pub fn catch_up(&mut self, mut budget: u64) -> Result<u64, ReadError> {
        let segments = crate::read::list(&self.directory)?;
        self.files.retain(|segment, _| segments.binary_search(segment).is_ok());
        for segment in segments {
            let file =
                self.files.entry(segment).or_insert_with(|| Summed::new(segment, &self.directory));
            let looked = file.look();
            if let Ok(false) = looked {
                self.files.remove(&segment);
            } else {
                file.failed = looked.err().map(|error| file.error(error));
            }
        }
        let files = self.files.values().filter(|file| file.length > 0).count();
        let memory = self.memory / files.max(FILES);
        let mut left: u64 = 0;
        for file in self.files.values_mut().rev() {
            file.fit(memory);
            if file.failed.is_none() && budget > 0 && file.unread() > 0 {
                let read = file.read_on(&mut budget, memory);
                file.failed = read.err().map(|error| file.error(error));
            }
            if file.failed.is_none() {
                left = left.saturating_add(file.unread());
            }
        }
        Ok(left)
    }

    /// Returns the memory that the sums take, in bytes, roughly.
    pub fn memory_used(&self) -> usize {
        self.files.values().map(|file| file.cells.bytes).sum()
    }

    /// Returns the sums of a resource over a span, in at most `bins` bins. A span holds the lines
    /// that [`catch_up`](Self::catch_up) has read.
    ///
    /// The length of a bin is one of 1, 5, 10 or 30 s, 1, 5, 10 or 30 minutes, 1, 3, 6, 12 or 24
    /// hours, or days by powers of two: the shortest with at most `bins` bins (4 to 1000), but not
    /// shorter than the buckets. Bins begin at multiples of their length, so the first begins at
    /// `from` or before, and the last ends at `to` or behind. A bucket is entirely in the bin in
    /// which it ended.
    ///
    /// A file keeps sums of a fixed length, by default a minute. Shorter bins are made of the
    /// file's lines, if these are at most 8 MiB; otherwise bins are longer. To find the lines takes
    /// a read of some kilobytes in each file, or of a megabyte or two for each length of bins in a
    /// file that no log has written.
    ///
    /// The lines of a file that cannot be read are missing: see [`Span::failed`].
    pub fn span(&self, resource: &str, from: SystemTime, to: SystemTime, bins: usize) -> Span {
        let range = (Wall::from(from), Wall::from(to).max(from.into()));
        let grid = Grid::of(range, bins.min(BINS) as u64);
        let Plan { grid, longest, lines, mut left_out, mut failed } =
            self.plan(resource, grid, range);
        let (first, end) = grid.bins(range);
        let count = usize::try_from(end - first).unwrap_or(0);
        let mut sums = Sums { first, count, events: Vec::new(), has_more: false };
        let range = (grid.start(first), grid.start(end));
        for file in self.files.values().filter(|file| touches(file, range)) {
            if file.cells.can_make(grid)
                && let Some(found) = file.cells.resource(resource)
            {
                sums.has_more |= found.has_more;
                file.cells.visit(found, (grid, first, end), |bin, totals| {
                    for (name, total) in found.events.iter().zip(totals) {
                        sums.add(bin, name, total);
                    }
                });
            }
        }
        for (file, stretch) in lines {
            let see = |end: Wall, events: &[(&str, Total)]| {
                for (name, total) in events {
                    sums.add(grid.bin(end), name, total);
                }
            };
            let length = stretch.end - stretch.start;
            let missing = read::read(file, stretch, resource, range, see).unwrap_or_else(|error| {
                failed.push(file.error(error));
                length
            });
            left_out = left_out.saturating_add(missing);
        }
        let known = self.files.values().filter_map(|file| file.failed.clone());
        failed.extend(known);
        failed.sort_by(|one, other| one.path.cmp(&other.path));
        failed.dedup_by(|one, other| one.path == other.path);
        let unread = self.files.values().map(Summed::unread).fold(left_out, u64::saturating_add);
        let (runs, earlier_runs) = self.runs(range);
        Span {
            start: range.0.into(),
            bin: grid.length(),
            bins: count,
            events: sums.events,
            has_more_events: sums.has_more,
            longest,
            runs,
            earlier_runs,
            dropped: self.dropped(range),
            unread,
            failed,
            unreadable: self.files.values().map(|file| file.unreadable).sum(),
            held: self.held(),
        }
    }

    /// Returns the grid on which a range can be shown, and the lines to read for it.
    fn plan(&self, resource: &str, mut grid: Grid, range: (Wall, Wall)) -> Plan<'_> {
        loop {
            let (first, end) = grid.bins(range);
            let aligned = (grid.start(first), grid.start(end));
            let near = self.files.values().filter(|file| touches(file, aligned));
            let longest = near.map(|file| file.cells.longest(resource)).max().unwrap_or_default();
            if grid.is_shorter(longest) {
                grid = grid.next();
                continue;
            }
            let (mut lines, mut bytes, mut left_out, mut is_too_fine) = (Vec::new(), 0, 0, false);
            let mut failed = Vec::new();
            // The newest lines first.
            for file in self.files.values().rev().filter(|file| touches(file, aligned)) {
                let is_over = file.cells.is_over();
                let has_lines = is_over || file.cells.resource(resource).is_some();
                if file.cells.can_make(grid) || !has_lines {
                    continue;
                }
                let found = read::find(file, aligned).unwrap_or_else(|error| {
                    failed.push(file.error(error));
                    None
                });
                let Some(stretch) = found else {
                    left_out = u64::saturating_add(left_out, file.offset);
                    continue;
                };
                let length = stretch.end - stretch.start;
                if bytes + length <= LINES {
                    bytes += length;
                    lines.push((file, stretch));
                } else if is_over {
                    left_out = u64::saturating_add(left_out, length);
                } else {
                    is_too_fine = true;
                    break;
                }
            }
            if !is_too_fine {
                lines.reverse();
                return Plan { grid, longest, lines, left_out, failed };
            }
            grid = grid.next();
        }
    }

    /// Returns the newest runs that began in a range, and the number of those before them.
    fn runs(&self, (from, to): (Wall, Wall)) -> (Vec<Run>, u64) {
        let all = self.files.values().flat_map(|file| &file.runs);
        let is_in = |run: &&Run| from < run.started.into() && Wall::from(run.started) <= to;
        let mut runs: Vec<&Run> = all.filter(is_in).collect();
        runs.sort_by(|one, other| (one.started, &one.id).cmp(&(other.started, &other.id)));
        runs.dedup(); // each file begins with a line of its run
        let earlier = runs.len().saturating_sub(RUNS);
        let others = self.files.values().map(|file| file.other_runs.near((from, to)));
        let count = others.fold(earlier as u64, u64::saturating_add);
        (runs[earlier..].iter().map(|run| (*run).clone()).collect(), count)
    }

    /// Returns the number of lines in gaps that touch a range.
    fn dropped(&self, (from, to): (Wall, Wall)) -> u64 {
        let all = self.files.values().flat_map(|file| &file.dropped);
        let touching = all.filter(|gap| from < gap.to.into() && Wall::from(gap.from) < to);
        touching.fold(0, |lines, gap| lines.saturating_add(gap.lines))
    }

    /// Returns the earliest and the latest end of all buckets.
    fn held(&self) -> Option<(SystemTime, SystemTime)> {
        let ends = self.files.values().filter_map(|file| file.ends).reduce(Ends::and)?;
        Some((ends.first.into(), ends.last.into()))
    }
}

/// Shows the directory and the number of files.
impl Debug for Past {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Past");
        shown.field("directory", &self.directory).field("files", &self.files.len());
        shown.finish_non_exhaustive()
    }
}

/// The way to make the bins of a range.
struct Plan<'a> {
    grid: Grid,
    /// The longest bucket.
    longest: Duration,
    /// The lines to read, in files whose sums are too coarse.
    lines: Vec<(&'a Summed, Range<u64>)>,
    /// The number of bytes that are too many to read, or cannot be read.
    left_out: u64,
    /// The errors of files in which no lines can be found.
    failed: Vec<Arc<ReadError>>,
}

/// The sums of events by bin.
struct Sums {
    first: i64,
    count: usize,
    events: Vec<PastEvent>,
    has_more: bool,
}

impl Sums {
    fn add(&mut self, bin: i64, name: &str, total: &Total) {
        let known = self.events.iter().position(|event| event.name == name);
        let at = known.unwrap_or(self.events.len());
        if at == EVENTS {
            self.has_more = true;
            return;
        }
        if known.is_none() {
            let bins = vec![Total::default(); self.count];
            self.events.push(PastEvent { name: name.to_owned(), bins });
        }
        let place = usize::try_from(bin - self.first).ok();
        if let Some(sum) = place.and_then(|place| self.events[at].bins.get_mut(place)) {
            sum.add(total);
        }
    }
}

/// Returns whether a file may have lines of a range.
fn touches(file: &Summed, range: (Wall, Wall)) -> bool {
    file.ends.is_some_and(|ends| ends.touches(range))
}
