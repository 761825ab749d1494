//! Draining windows into lines.

use std::fmt::{self, Debug, Formatter};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use windrow::export::{AnyMetric, AnyWindow, Source};
use windrow::{Kind, Stats, Timestamp};

use crate::disk::System;
use crate::entry::Run;
use crate::error::{LogError, Step};
use crate::every::Every;
use crate::format::Facts;
use crate::names::name;
use crate::options::Options;
use crate::order::Ends;
use crate::pending::Line;
use crate::turns::Turns;
use crate::wall::{Differences, Wall};
use crate::writer::Writer;

/// A log of closed buckets in a directory.
///
/// ```
/// use std::time::Duration;
/// use windrow::{SlidingWindow, events};
/// use windrow_log::{Log, Options};
///
/// events! { enum Http { Pass: Count, Micros: Value } }
///
/// # let directory = tempfile::tempdir()?;
/// # let directory = directory.path();
/// let checkout = SlidingWindow::<Http>::builder().interval(Duration::from_secs(60)).buckets(60).build()?;
///
/// let mut log = Log::open(directory, Options::default())?;
/// checkout.record(Http::Micros, 1_250);
/// log.write("checkout", &checkout)?; // every second or so: see `every`
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// When it is dropped, it tries once more to write what waits, and syncs; [`flush`](Self::flush)
/// does the same, and says whether that was possible.
pub struct Log {
    writer: Writer<System>,
    differences: Differences,
    turns: Turns,
    overdue: u64,
}

/// What a log has taken out of windows, or should have, and has not brought to the disk; or has
/// removed from it too early.
///
/// What is still in the windows comes on top: see [what a crash loses](crate#what-a-crash-loses).
///
/// ```
/// use windrow_log::{Log, Options, Unwritten};
///
/// # let directory = tempfile::tempdir()?;
/// let log = Log::open(directory.path(), Options::default())?;
/// assert_eq!(log.unwritten(), Unwritten::default());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unwritten {
    /// Lines that wait in memory, because they could not be written. A process that ends takes them
    /// with it.
    pub waiting: usize,
    /// How many bytes these have.
    pub bytes: usize,
    /// Lines that were written to the present file, and not yet synced. A system that fails may
    /// take them with it.
    pub unsynced: u64,
    /// Lines that found no room in memory and were dropped, since the log was opened.
    pub dropped: u64,
    /// How often a window was added to a batch later than its ring allows: by the window's clock,
    /// since it was added the time before, more than its interval less one bucket had passed.
    /// Buckets of it may have been overwritten: they are in its
    /// [`lifetime`](windrow::SlidingWindow::lifetime), and in no line. A window that is added for
    /// the first time has waited since it was built, or since the log was opened. Of more than 131
    /// 072 windows, not all are watched.
    pub overdue: u64,
    /// Files that were removed to make room on a full disk, since the log was opened, though fewer
    /// than [`Options::files`] were there.
    pub removed: u64,
}

impl Log {
    /// Opens a directory, which is made if it is not there, and begins a run in it.
    ///
    /// The last file is continued if it is of the same format, has room, and may be written to.
    ///
    /// # Errors
    ///
    /// [`LogError::Locked`] if another log has the directory. The lock is the system's: it ends
    /// with the process that has it, in whatever way that ends. [`LogError::Failed`] if the
    /// directory or a file in it cannot be made, read or written.
    pub fn open(directory: impl AsRef<Path>, options: Options) -> Result<Log, LogError> {
        let directory = directory.as_ref();
        fs::create_dir_all(directory).map_err(|error| LogError::Failed {
            step: Step::MakeDirectory,
            path: directory.to_owned(),
            error,
        })?;
        let id = format!("{:016x}", fastrand::u64(..));
        let run = Run { id, started: SystemTime::from(Wall::now()) };
        let writer = Writer::open(System, directory, options, run)?;
        let (differences, turns) = (Differences::default(), Turns::new());
        Ok(Log { writer, differences, turns, overdue: 0 })
    }

    /// Writes a line for each bucket that closed since the last time, and all that waits. Returns
    /// how many lines it wrote.
    ///
    /// The source is a window, a family of windows, or a
    /// [field](windrow::export::field) of a family's metrics. A series with labels is logged by its
    /// [`name`].
    ///
    /// A window is one log's: what another [drain](windrow::SlidingWindow::drain_closed) was handed
    /// is not in it. Call it at least once in the window's interval less one bucket.
    ///
    /// # Errors
    ///
    /// As [`Batch::write`].
    pub fn write(
        &mut self,
        resource: &str,
        source: &(impl Source + ?Sized),
    ) -> Result<usize, LogError> {
        let mut batch = self.batch();
        batch.add(resource, source);
        batch.write()
    }

    /// Begins a batch: buckets of several windows, which are written together, in the order of
    /// their ends.
    ///
    /// ```
    /// # use windrow::{Family, SlidingWindow, events, labels};
    /// # use windrow_log::{Log, Options};
    /// events! { enum Http { Pass: Count } }
    /// labels! { struct Route { route: str } }
    ///
    /// static ROUTES: Family<Route, SlidingWindow<Http>> =
    ///     Family::with_constructor(|| SlidingWindow::builder().build().expect("a second, two buckets"));
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let mut log = Log::open(directory.path(), Options::default())?;
    /// let mut batch = log.batch();
    /// for series in &ROUTES {
    ///     // A name of your own.
    ///     batch.add(series.labels().map_or("(others)", |labels| labels.route), &*series);
    /// }
    /// batch.write()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn batch(&mut self) -> Batch<'_> {
        Batch { log: self, lines: Vec::new(), begun: Instant::now(), refused: None }
    }

    /// Writes what waits, and brings all that was written to the disk.
    ///
    /// # Errors
    ///
    /// [`LogError::Failed`] or [`LogError::Locked`]. After an error whose step is [`Step::Sync`],
    /// what was written since the last sync may be lost if the system fails, even if a later sync
    /// succeeds: some systems forget it.
    pub fn flush(&mut self) -> Result<(), LogError> {
        let written = self.writer.write();
        let synced = self.writer.sync(); // also if lines wait: those that do not
        written.and(synced)
    }

    /// Returns what waits, and what was lost.
    pub fn unwritten(&self) -> Unwritten {
        let (waiting, bytes) = self.writer.pending().size();
        Unwritten {
            waiting,
            bytes,
            unsynced: self.writer.unsynced(),
            dropped: self.writer.pending().dropped_ever(),
            overdue: self.overdue,
            removed: self.writer.removed(),
        }
    }

    /// Has a thread write a batch in each period, until the result is dropped or
    /// [finished](Every::finish).
    ///
    /// `fill` adds the windows to the batch. The period should be at most a bucket's length; it is
    /// a millisecond at least.
    ///
    /// # Panics
    ///
    /// If the system has no thread.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use windrow::{SlidingWindow, events};
    /// # use windrow_log::{Log, Options};
    /// events! { enum Http { Pass: Count } }
    ///
    /// # let directory = tempfile::tempdir()?;
    /// let window = std::sync::Arc::new(SlidingWindow::<Http>::builder().build()?);
    /// let log = Log::open(directory.path(), Options::default())?;
    /// let logged = window.clone();
    /// let logging = log.every(Duration::from_millis(250), move |batch| batch.add("checkout", &logged));
    /// window.add(Http::Pass, 1);
    /// // ... and when the service ends:
    /// logging.finish()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn every(
        self,
        period: Duration,
        fill: impl FnMut(&mut Batch<'_>) + Send + 'static,
    ) -> Every {
        Every::start(self, period, fill)
    }
}

/// Shows where it is and what waits.
impl Debug for Log {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Log");
        shown.field("directory", &self.writer.directory()).field("unwritten", &self.unwritten());
        shown.finish_non_exhaustive()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // An error has nowhere to go; `flush` has told of it, if that matters.
        let _ = self.flush();
    }
}

/// Buckets of several windows, which are written together: from [`Log::batch`].
///
/// What it has taken is not lost if it is dropped, nor if [`write`](Self::write) fails: it goes
/// with the next one.
pub struct Batch<'l> {
    log: &'l mut Log,
    lines: Vec<Line>,
    begun: Instant,
    /// A window of which no line could say anything.
    refused: Option<LogError>,
}

impl Batch<'_> {
    /// Takes the closed buckets of each window of a source that have not been handed out, by
    /// [`close_past`](windrow::SlidingWindow::close_past) and
    /// [`drain_closed`](windrow::SlidingWindow::drain_closed). What a bucket counts nothing of has
    /// no line.
    ///
    /// The source is as of [`Log::write`]. What a series of a family has counted since its last
    /// turn is in no line if it is [removed](windrow::Family::retain): give `retain` an idle time
    /// longer than some batches.
    pub fn add(&mut self, resource: &str, source: &(impl Source + ?Sized)) {
        source.visit(&mut |series| match series.metric() {
            AnyMetric::Window(window) => self.add_window(&name(resource, series), window),
            _ => self.refused = Some(LogError::NoWindow { resource: resource.to_owned() }),
        });
    }

    fn add_window(&mut self, resource: &str, window: &dyn AnyWindow) {
        if !self.log.writer.options().format.can_show(window.events()) {
            self.refused = Some(LogError::NoColumn { resource: resource.to_owned() });
            return;
        }
        let reach = window.interval().saturating_sub(window.bucket_length());
        let times = (window.built(), window.now());
        let is_overdue = self.log.turns.note(resource, times, reach, self.begun);
        self.log.overdue += u64::from(is_overdue);
        window.close_past();
        // Read once: no two buckets of a batch stand in another order, or further apart, than in
        // the window.
        let mut difference = None;
        let (mut events, mut distributions) = (Vec::new(), Vec::new());
        window.drain_closed(&mut |bucket| {
            let kinds = window.events().iter().enumerate();
            events.clear();
            events.extend(kinds.map(|(event, (name, kind))| (*name, *kind, bucket.stats(event))));
            if events.iter().all(|(_, _, stats)| *stats == Stats::default()) {
                return;
            }
            let differences = &mut self.log.differences;
            let difference = difference.get_or_insert_with(|| read_difference(window, differences));
            let nanos = i64::try_from(bucket.start().as_nanos()).unwrap_or(i64::MAX);
            distributions.clear();
            let of_event = |(event, (name, _)): (usize, &(&'static str, Kind))| {
                bucket.distribution(event).map(|values| (*name, values))
            };
            distributions.extend(window.events().iter().enumerate().filter_map(of_event));
            let facts = Facts {
                resource,
                start: Wall(difference.saturating_add(nanos)),
                length: bucket.interval(),
                at: bucket.start(),
                events: &events,
                distributions: &distributions,
            };
            let format = &self.log.writer.options().format;
            let (start, ends) = (facts.start, Ends::at(format.end(&facts)));
            self.lines.push(Line { start, ends, text: format.bucket(&facts) });
        });
    }

    /// Writes what was taken, and all that waits. Tells how many lines it wrote.
    ///
    /// # Errors
    ///
    /// [`LogError::Failed`] if the system refuses something; what was not written waits for the
    /// next batch. [`LogError::Locked`] if the directory vanished, came back, and another log has
    /// it. An error whose step is [`Step::Remove`] keeps no line from being written.
    /// [`LogError::NoColumn`] for a window that was not drained; all others were written.
    pub fn write(mut self) -> Result<usize, LogError> {
        self.hand_over();
        let count = self.log.writer.write()?;
        match self.refused.take() {
            Some(error) => Err(error),
            None => Ok(count),
        }
    }

    fn hand_over(&mut self) {
        self.lines.sort_by_key(|line| line.ends.last);
        self.lines.drain(..).for_each(|line| self.log.writer.push(line));
    }
}

/// Shows how many lines it has taken.
impl Debug for Batch<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch").field("lines", &self.lines.len()).finish_non_exhaustive()
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.hand_over();
    }
}

/// Returns what to add to a moment on the window's clock, in nanoseconds, for that on the wall
/// clock.
fn read_difference(window: &dyn AnyWindow, differences: &mut Differences) -> i64 {
    differences.settle(|| Wall::from(window.system_time(Timestamp::from_nanos(0))).0)
}
