//! Draining windows into lines.

use std::fmt::{self, Debug, Display, Formatter};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use windrow::export::{AnyMetric, AnyWindow, Series, Source};
use windrow::heavy::Key;
use windrow::{Clock, HeavyKeys, Kind, Stats, Timestamp};

use crate::disk::System;
use crate::entry::Run;
use crate::error::{LogError, Step};
use crate::format::{self, Facts, Format};
use crate::heavy::HeavyTurns;
use crate::names::name;
use crate::options::Options;
use crate::order::Ends;
use crate::pending::Line;
use crate::turns::Turns;
use crate::wall::{Wall, Zeros};
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
/// let minute = Duration::from_secs(60);
/// let checkout = SlidingWindow::<Http>::builder().interval(minute).buckets(60).build()?;
///
/// let mut log = Log::open(directory, Options::default())?;
/// checkout.record(Http::Micros, 1_250);
/// log.write("checkout", &checkout)?; // every second or so: see `every`
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// When the log is dropped, it tries once more to write the waiting lines, and syncs;
/// [`flush`](Self::flush) does the same and reports whether it succeeded.
pub struct Log {
    writer: Writer<System>,
    zeros: Zeros,
    turns: Turns,
    heavy: HeavyTurns,
    overdue: u64,
}

/// The lines of a log that are not on the disk: waiting, unsynced, dropped or removed early.
///
/// Buckets that are still in the windows are not included: see [what a crash
/// loses](crate#what-a-crash-loses).
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
    /// Lines that wait in memory because they could not be written. They are lost if the process
    /// ends.
    pub waiting: usize,
    /// The total length of the waiting lines in bytes.
    pub bytes: usize,
    /// Lines that were written to the current file and not yet synced. They may be lost if the
    /// system fails.
    pub unsynced: u64,
    /// Lines that were dropped since the log was opened, because the memory for waiting lines was
    /// full.
    pub dropped: u64,
    /// The number of times a window was added to a batch too late: by the window's clock, more than
    /// its interval less one bucket had passed since it was last added. Some of its buckets may
    /// have been overwritten: they are in its [`lifetime`](windrow::SlidingWindow::lifetime), and
    /// in no line. For a window that is added for the first time, the time since it was built
    /// counts, or since the log was opened if that was later. At most 131 072 windows are watched.
    /// Late additions of heavy keys count, too: from the second addition of a name on.
    pub overdue: u64,
    /// Files that were removed since the log was opened to free space on a full disk, although
    /// fewer than [`Options::files`] existed.
    pub removed: u64,
}

impl Log {
    /// Opens a directory, creates it if it does not exist, and begins a run in it.
    ///
    /// The last file is continued if it has the same format, is not full and is writable.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::Locked`] if another log has the directory. The lock is the system's: it
    /// ends when the process that holds it ends, in whatever way. Returns [`LogError::Failed`] if
    /// the directory or a file in it cannot be created, read or written.
    pub fn open(directory: impl AsRef<Path>, options: Options) -> Result<Log, LogError> {
        let directory = directory.as_ref();
        fs::create_dir_all(directory).map_err(|error| LogError::Failed {
            step: Step::Create,
            path: directory.to_owned(),
            error,
        })?;
        let id = format!("{:016x}", fastrand::u64(..));
        let run = Run { id, started: SystemTime::from(Wall::now()) };
        let writer = Writer::open(System, directory, options, run)?;
        let (zeros, turns) = (Zeros::default(), Turns::new());
        Ok(Log { writer, zeros, turns, heavy: HeavyTurns::default(), overdue: 0 })
    }

    /// Writes a line for each bucket that closed since the last call, and all waiting lines.
    /// Returns the number of lines written.
    ///
    /// The source is a window, a family of windows, or a [field](windrow::export::field) of a
    /// family's metrics. A series with labels is logged by its [`name`].
    ///
    /// A window belongs to one log: buckets that another
    /// [drain](windrow::SlidingWindow::drain_closed) has received are not in this log. Call `write`
    /// at least once per interval less one bucket of the window.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Batch::write`].
    pub fn write(
        &mut self,
        resource: &str,
        source: &(impl Source + ?Sized),
    ) -> Result<usize, LogError> {
        let mut batch = self.batch();
        batch.add(resource, source);
        batch.write()
    }

    /// Begins a batch, which writes the buckets of several windows together, in the order of their
    /// ends.
    ///
    /// ```
    /// # use windrow::{Family, SlidingWindow, events, labels};
    /// # use windrow_log::{Log, Options};
    /// events! { enum Http { Pass: Count } }
    /// labels! { struct Route { route: str } }
    ///
    /// static ROUTES: Family<Route, SlidingWindow<Http>> =
    ///     Family::with_constructor(|| SlidingWindow::builder().build().expect("the default"));
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

    /// Writes the waiting lines and syncs all written lines to the disk.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::Failed`] or [`LogError::Locked`]. After an error at [`Step::Sync`],
    /// lines written since the last sync may be lost if the system fails, even if a later sync
    /// succeeds: some systems forget them.
    pub fn flush(&mut self) -> Result<(), LogError> {
        let written = self.writer.write();
        let synced = self.writer.sync(); // also if lines wait: it syncs those that were written
        written.and(synced)
    }

    /// Returns the numbers of lines that wait and that were lost.
    pub fn unwritten(&self) -> Unwritten {
        let pending = &self.writer.pending;
        Unwritten {
            waiting: pending.lines.len(),
            bytes: pending.bytes,
            unsynced: self.writer.unsynced(),
            dropped: pending.dropped_ever,
            overdue: self.overdue,
            removed: self.writer.removed,
        }
    }
}

/// Shows the directory and the waiting lines.
impl Debug for Log {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Log");
        shown.field("directory", &self.writer.directory).field("unwritten", &self.unwritten());
        shown.finish_non_exhaustive()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // An error cannot be returned from here; a caller that needs it calls `flush`.
        let _ = self.flush();
    }
}

/// A batch of buckets of several windows, which are written together: from [`Log::batch`].
///
/// The buckets that a batch has taken are not lost if it is dropped, nor if [`write`](Self::write)
/// fails: the next batch writes them.
#[must_use = "a batch writes nothing before `write`"]
pub struct Batch<'l> {
    log: &'l mut Log,
    lines: Vec<Line>,
    begun: Instant,
    /// The error for a window, or for heavy keys, of which no line could say anything.
    refused: Option<LogError>,
}

impl Batch<'_> {
    /// Takes the closed buckets of each window of a source that have not been handed out, by
    /// [`close_past`](windrow::SlidingWindow::close_past) and
    /// [`drain_closed`](windrow::SlidingWindow::drain_closed). An empty bucket has no line.
    ///
    /// The source is a source of [`Log::write`]. Of a family of [`metrics!`](windrow::metrics!),
    /// the windows among the fields are added, each as `resource_field`. If a series of a family is
    /// [removed](windrow::Family::retain), its counts since it was last added to a batch are in no
    /// line: give `retain` an idle time longer than a few batches.
    pub fn add(&mut self, resource: &str, source: &(impl Source + ?Sized)) {
        source.visit(&mut |series| {
            if !self.add_windows(resource, series, series.metric()) {
                self.refuse(resource, "a log has lines for the buckets of windows");
            }
        });
    }

    /// Adds a window, or the windows among several metrics. Returns whether there was one.
    fn add_windows(&mut self, resource: &str, series: &dyn Series, metric: AnyMetric<'_>) -> bool {
        match metric {
            AnyMetric::Window(window) => {
                self.add_window(&name(resource, series), window);
                true
            }
            AnyMetric::Fields(fields) => {
                fields.all().into_iter().fold(false, |found, (field, metric)| {
                    let resource = format!("{resource}_{field}");
                    self.add_windows(&resource, series, metric) || found
                })
            }
            _ => false,
        }
    }

    fn refuse(&mut self, resource: &str, rule: &'static str) {
        self.refused = Some(LogError::NoLines { resource: resource.to_owned(), rule });
    }

    fn add_window(&mut self, resource: &str, window: &dyn AnyWindow) {
        if !self.log.writer.options.format.can_show(window.events()) {
            return self
                .refuse(resource, "the window has none of the events that the columns name");
        }
        let reach = window.interval().saturating_sub(window.bucket_length());
        let ever = window.lifetime();
        let times = (ever.start, ever.end);
        let is_overdue = self.log.turns.note(resource, times, reach, self.begun);
        self.log.overdue += u64::from(is_overdue);
        // Read once for the batch, so that the order and the distances of its buckets are those of
        // the window.
        let mut zero = None;
        let (mut events, mut distributions) = (Vec::new(), Vec::new());
        window.drain_closed(&mut |bucket| {
            let kinds = window.events().iter().enumerate();
            events.clear();
            events.extend(kinds.map(|(event, (name, kind))| (*name, *kind, bucket.stats(event))));
            if events.iter().all(|(_, _, stats)| *stats == Stats::default()) {
                return;
            }
            let zeros = &mut self.log.zeros;
            let zero = *zero.get_or_insert_with(|| {
                zeros.settle(|| window.system_time(Timestamp::from_nanos(0)).into())
            });
            distributions.clear();
            let of_event = |(event, (name, _)): (usize, &(&'static str, Kind))| {
                bucket.distribution(event).map(|values| (*name, values))
            };
            distributions.extend(window.events().iter().enumerate().filter_map(of_event));
            let facts = Facts {
                resource,
                start: zero.plus(Duration::from_nanos(bucket.start.as_nanos())),
                length: bucket.interval,
                at: bucket.start,
                events: &events,
                distributions: &distributions,
            };
            let format = &self.log.writer.options.format;
            let (start, ends) = (facts.start, Ends::at(format.end(&facts)));
            self.lines.push(Line { start, ends, text: format.bucket(&facts) });
        });
    }

    /// Takes the closed buckets of heavy keys that the log does not have: a line for each, with the
    /// exact total, and the `n` heaviest keys with their bounds. An empty bucket has no line.
    ///
    /// A key's text is its `Display`, escaped, and cut to 256 bytes. Call it at least once per
    /// interval less one bucket of the keys; [`Unwritten::overdue`](crate::Unwritten::overdue)
    /// counts later calls, by the `resource`. A log that is opened anew in the same process begins
    /// with the buckets that are in the interval then. Sentinel's format has no such lines:
    /// [`LogError::NoLines`].
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::HeavyKeys;
    /// use windrow_log::{Log, Options};
    ///
    /// static CLIENTS: HeavyKeys<str> = HeavyKeys::of(1_000, Duration::from_secs(60), 6);
    ///
    /// # let directory = tempfile::tempdir()?;
    /// let log = Log::open(directory.path(), Options::default())?;
    /// let logging = log.every(Duration::from_secs(10), |batch| {
    ///     batch.add_heavy("clients", &CLIENTS, 20);
    /// });
    /// CLIENTS.increment("acme"); // and so on, by the service
    /// logging.finish()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_heavy<K: Key<Owned: Display> + ?Sized, C: Clock>(
        &mut self,
        resource: &str,
        keys: &HeavyKeys<K, C>,
        n: usize,
    ) {
        let Log { writer, zeros, heavy, overdue, .. } = &mut *self.log;
        if !matches!(writer.options.format, Format::Json) {
            return self.refuse(resource, "Sentinel's format has none for heavy keys");
        }
        let (buckets, is_overdue) = heavy.take(resource, keys, n, zeros);
        *overdue += u64::from(is_overdue);
        for bucket in buckets {
            let start = Wall::from(bucket.start);
            let ends = Ends::at(start.plus(bucket.length));
            self.lines.push(Line { start, ends, text: format::heavy(&bucket) });
        }
    }

    /// Writes the buckets of this batch and all waiting lines. Returns the number of lines written.
    ///
    /// # Errors
    ///
    /// Returns [`LogError::Failed`] if the system refuses an operation; lines that were not written
    /// wait for the next batch. Returns [`LogError::Locked`] if the directory vanished, came back,
    /// and another log has locked it. An error at [`Step::Remove`] keeps no line from being
    /// written. Returns [`LogError::NoLines`] for what has no lines in this format; all others were
    /// written.
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

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.hand_over();
    }
}
