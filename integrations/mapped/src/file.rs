//! A mapped file, and its settings.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use windrow::histogram::Scale;

use crate::counter::Counter;
use crate::error::MappedError;
use crate::extreme::{Extreme, Maximum, Minimum};
use crate::histogram::Histogram;
use crate::kind::Kind;
use crate::layout::header::Header;
use crate::layout::{
    LINE_WORDS, MOST_COLUMNS, MOST_GAUGES, MOST_OWNERS, MOST_ROWS, MOST_TABLE, Shape,
};
use crate::shared::Shared;
use crate::system::create::{self, SEALED};
use crate::system::{machine, open};
use crate::text;

mod levels;
mod paces;

/// The number of times that a file is looked for and created, before it is an error that the path
/// keeps changing.
const ATTEMPTS: u32 = 100;

/// A file of metrics that this process has mapped.
///
/// Each process that counts opens the same path; the first one creates the file. A process that is
/// started again goes on with the same numbers. Clones share the mapping.
///
/// Open a file once in a process: a mapping is never taken back, because counters have pointers
/// into it.
///
/// ```
/// use windrow_mapped::File;
///
/// # let directory = tempfile::tempdir_in("/dev/shm")?;
/// # let path = directory.path().join("app.windrow");
/// let file = File::open(&path)?; // such as /dev/shm/app.windrow
/// let calls = file.counter("calls", &[("route", "cart")])?;
/// calls.increment();
///
/// // In another process:
/// let file = File::open(&path)?;
/// let calls = file.counter("calls", &[("route", "cart")])?;
/// assert_eq!(calls.sum(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Forks
///
/// A forked child may use the parent's `File` and `Counter`s: its adds are to the same numbers.
/// Of a gauge it has a part of its own: see [`Gauge`](crate::Gauge#forks).
///
/// Names are best registered before the fork, or by one thread: if the process forks while another
/// thread registers, the child's registrations fail with
/// [`LockedTooLong`](MappedError::LockedTooLong).
///
/// A registration opens the file again through its descriptor. So a child that has become another
/// user registers names in a [sealed](FileBuilder::sealed) file alone. For one that has closed all
/// its descriptors a new name is an error, [`LostDescriptor`](MappedError::LostDescriptor),
/// whatever file has the number by now.
#[derive(Clone, Copy)]
pub struct File {
    shared: &'static Shared,
}

impl File {
    /// Opens a file, or creates it with the default [settings](FileBuilder).
    ///
    /// # Errors
    ///
    /// The errors of [`FileBuilder::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<File, MappedError> {
        File::builder().open(path)
    }

    /// Returns the settings with which a file is created.
    pub fn builder() -> FileBuilder {
        FileBuilder {
            columns: 16_384,
            names_bytes: None,
            locked_rows: 4,
            owners: 64,
            gauges: 63,
            lock_timeout: Duration::from_secs(1),
        }
    }

    /// Maps a file that is open already: one that was [sealed](FileBuilder::sealed), and came from
    /// a parent or over a socket.
    ///
    /// A sealed file may have any owner: no process can cut it off. Other files are checked as by
    /// [`open`](Self::open).
    ///
    /// # Errors
    ///
    /// The errors of [`FileBuilder::open`].
    ///
    /// ```
    /// use std::os::fd::AsFd;
    /// use windrow_mapped::File;
    ///
    /// let file = File::builder().columns(512).sealed()?;
    /// let descriptor = file.as_fd().try_clone_to_owned()?; // or as a worker has inherited it
    ///
    /// let again = File::from_fd(descriptor)?;
    /// again.counter("calls", &[])?.add(2);
    /// assert_eq!(file.counter("calls", &[])?.sum(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_fd(descriptor: OwnedFd) -> Result<File, MappedError> {
        let timeout = File::builder().lock_timeout;
        File::of(fs::File::from(descriptor), Path::new(SEALED), timeout)
    }

    /// Returns the counter with this name and these labels, which is registered if it is not there.
    ///
    /// The order of labels does not matter. The same name and labels are the same number, in each
    /// process.
    ///
    /// # Errors
    ///
    /// * [`MappedError::BadName`]: a name is empty, or has a control character, a `"` or a `\`; a
    ///   value has the character zero; a label is there twice; or all texts together are longer
    ///   than 1024 bytes.
    /// * [`MappedError::OtherKind`]: the name is that of another kind of metric.
    /// * [`MappedError::Full`]: the file has no place for the name.
    /// * [`MappedError::NoSpace`]: the file system is full.
    /// * [`MappedError::LockedTooLong`]: another process was stopped while it registered.
    /// * [`MappedError::Damaged`], [`Failed`](MappedError::Failed).
    ///
    /// # Cost
    ///
    /// Some microseconds for a new name, which takes a lock; about one for a name that this process
    /// knows. Keep the counter: an add by it costs neither.
    pub fn counter(&self, name: &str, labels: &[(&str, &str)]) -> Result<Counter, MappedError> {
        let (column, _) = self.register(name, labels, Kind::Counter)?;
        Ok(Counter { cells: self.shared.cells(column) })
    }

    /// Returns the maximum with this name and these labels, as [`counter`](Self::counter) does. It
    /// takes two columns.
    ///
    /// # Errors
    ///
    /// The errors of [`counter`](Self::counter).
    pub fn maximum(&self, name: &str, labels: &[(&str, &str)]) -> Result<Maximum, MappedError> {
        Ok(Maximum { extreme: self.extreme(name, labels, Kind::Maximum)? })
    }

    /// Returns the minimum with this name and these labels, as [`counter`](Self::counter) does. It
    /// takes two columns.
    ///
    /// # Errors
    ///
    /// The errors of [`counter`](Self::counter).
    pub fn minimum(&self, name: &str, labels: &[(&str, &str)]) -> Result<Minimum, MappedError> {
        Ok(Minimum { extreme: self.extreme(name, labels, Kind::Minimum)? })
    }

    /// Returns the histogram with this name, this scale and these labels, as
    /// [`counter`](Self::counter) does.
    ///
    /// It takes a column for each [place](Scale::place) of its scale, and one more. All histograms
    /// of a name have one scale. A file knows no units, so exporters show the numbers as they were
    /// recorded: let the name of a histogram of durations end in `_nanoseconds`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow_mapped::{File, Scale};
    ///
    /// let file = File::builder().sealed()?;
    /// let cart = file.histogram("http_nanoseconds", Scale::DEFAULT, &[("route", "/cart")])?;
    /// cart.record(Duration::from_millis(2));
    /// assert_eq!(cart.distribution().sum(), 2_000_000);
    /// # Ok::<(), windrow_mapped::MappedError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`counter`](Self::counter); and [`MappedError::OtherKind`] also if the
    /// name is that of a histogram with another scale.
    pub fn histogram(
        &self,
        name: &str,
        scale: Scale,
        labels: &[(&str, &str)],
    ) -> Result<Histogram, MappedError> {
        let (column, _) = self.register(name, labels, Kind::Histogram(scale))?;
        Ok(Histogram::new(scale, column, |column| self.shared.cells(column)))
    }

    fn extreme(
        self,
        name: &str,
        labels: &[(&str, &str)],
        kind: Kind,
    ) -> Result<Extreme, MappedError> {
        let (column, _) = self.register(name, labels, kind)?;
        let [greatest, zero] = [column, column + 1].map(|column| self.shared.cells(column));
        Ok(Extreme { greatest, zero })
    }

    /// Returns the first column of a metric, and its word if it is a gauge.
    fn register(
        self,
        name: &str,
        labels: &[(&str, &str)],
        kind: Kind,
    ) -> Result<(u32, u32), MappedError> {
        self.shared.register(&text::join(name, labels)?, kind)
    }

    /// Returns whether adds of this process are plain ones, in restartable sequences.
    ///
    /// They are locked, at a few times the cost, where glibc has not registered the threads
    /// (another C library, an old kernel, a sandbox), and in a file that was created under another
    /// kernel (before the machine was started again) or by a process that could not read the boot
    /// id. Counts are exact in any mixture.
    pub fn is_plain(&self) -> bool {
        self.shared.area.is_some()
    }

    /// Returns the number of metrics in the file, where each set of labels counts as one.
    ///
    /// # Errors
    ///
    /// [`MappedError::Damaged`], if another process has destroyed the names.
    pub fn metrics(&self) -> Result<usize, MappedError> {
        self.shared.names()
    }

    /// Returns the path with which the file was opened.
    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    /// Returns the inside of the file, for tests.
    #[cfg(test)]
    pub(crate) fn shared_for_tests(self) -> &'static Shared {
        self.shared
    }

    fn of(file: fs::File, path: &Path, timeout: Duration) -> Result<File, MappedError> {
        let shared = Shared::open(file, path, timeout)?;
        // Never freed, as the mapping: counters have pointers into it.
        Ok(File { shared: Box::leak(Box::new(shared)) })
    }
}

/// Lends the descriptor of the file, to hand it to a worker.
impl AsFd for File {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shared.file.as_fd()
    }
}

shown! {
    /// Shows the path.
    File(file) { path: file.path() }
}

/// The settings with which a file is created. A file that is there keeps its own.
///
/// # Memory
///
/// An empty file takes 4 KiB. Names take 16 bytes each and their text, rounded up to 8, and 8 more
/// for a histogram or a gauge. Each 512 columns take 4 KiB for each row: a row for each processor
/// that the machine may have, and the locked rows. The first gauge takes 4 KiB (8 bytes for each of
/// the [owners](Self::owners)), and each process that has gauges takes 8 bytes for each of the
/// [gauges](Self::gauges) and 8 more, by the 4 KiB.
///
/// Memory is claimed as names are registered and slots are taken, and charged to the control group
/// of the process that does so. The file's length is address space, 64 KiB for each row and each
/// 8192 columns; a process that locks its memory (`mlockall`) makes all of it resident.
///
/// ```
/// use windrow_mapped::File;
///
/// # let directory = tempfile::tempdir_in("/dev/shm")?;
/// # let path = directory.path().join("app.windrow");
/// let file = File::builder().columns(512).open(path)?;
/// assert_eq!(file.metrics()?, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "settings do nothing before a file is opened"]
pub struct FileBuilder {
    columns: u32,
    names_bytes: Option<u32>,
    locked_rows: u32,
    owners: u32,
    gauges: u32,
    lock_timeout: Duration,
}

impl FileBuilder {
    /// Sets the number of columns, 1 to 2^24. The default is 16 384.
    ///
    /// A counter takes one, an extreme two, and a histogram one for each [place](Scale::place) of
    /// its scale and one more.
    pub fn columns(self, columns: u32) -> FileBuilder {
        FileBuilder { columns, ..self }
    }

    /// Sets the bytes for names and labels, 8 to 2^28, rounded up to a multiple of 8. The
    /// default is 64 for each column, and at least 4096.
    pub fn names_bytes(self, bytes: u32) -> FileBuilder {
        FileBuilder { names_bytes: Some(bytes), ..self }
    }

    /// Sets the number of rows for locked adds, 1 to 8192, over which threads are spread. The
    /// default is 4. More rows make such adds cheaper, and sums dearer.
    pub fn locked_rows(self, rows: u32) -> FileBuilder {
        FileBuilder { locked_rows: rows, ..self }
    }

    /// Sets the number of processes that can have gauges at once, 1 to 4096. The default is 64.
    ///
    /// A process has a slot from its first gauge or in-flight count until it ends.
    pub fn owners(self, owners: u32) -> FileBuilder {
        FileBuilder { owners, ..self }
    }

    /// Sets the number of gauges and in-flight counts: 1 to 4095, 63 by default. Each set of labels
    /// counts as one. The number is rounded up to one less than a multiple of 8.
    pub fn gauges(self, gauges: u32) -> FileBuilder {
        FileBuilder { gauges, ..self }
    }

    /// Sets the time for which a registration waits for that of another process. The default is a
    /// second.
    pub fn lock_timeout(self, timeout: Duration) -> FileBuilder {
        FileBuilder { lock_timeout: timeout, ..self }
    }

    /// Opens the file at a path, or creates it with these settings, for this user alone (mode
    /// 0600).
    ///
    /// A file system of memory is best, as `/dev/shm`: where pages are written to a disk, an add
    /// may wait for that. Take one name for all processes: a name by process id would be that of
    /// another process in another container.
    ///
    /// # Errors
    ///
    /// * [`MappedError::IsLink`], [`NotRegular`](MappedError::NotRegular),
    ///   [`ForeignOwner`](MappedError::ForeignOwner),
    ///   [`OthersMayWrite`](MappedError::OthersMayWrite),
    ///   [`UnfitFileSystem`](MappedError::UnfitFileSystem): it would not be safe, or not exact, to
    ///   map what the path leads to.
    /// * [`MappedError::Foreign`], [`OtherVersion`](MappedError::OtherVersion),
    ///   [`CutOff`](MappedError::CutOff), [`Damaged`](MappedError::Damaged): it is not a whole file
    ///   of this version. It is left as it is.
    /// * [`MappedError::NoSpace`]: the file system is full.
    /// * [`MappedError::BadSetting`], and [`Failed`](MappedError::Failed) if the system refuses an
    ///   operation.
    pub fn open(self, path: impl AsRef<Path>) -> Result<File, MappedError> {
        let path = path.as_ref();
        for _ in 0..ATTEMPTS {
            match open::open(path, true) {
                Ok(file) => return File::of(file, path, self.lock_timeout),
                Err(MappedError::Failed { error, .. }) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            create::create(path, self.header()?)?; // or another process has
        }
        let error = io::Error::other("the path comes and goes");
        Err(MappedError::failed("open", path)(error))
    }

    /// Creates a file of memory without a name, whose length no process can change: for servers
    /// that fork their workers. Workers inherit it, or get its
    /// [descriptor](File#impl-AsFd-for-File) and map it by [`File::from_fd`].
    ///
    /// The descriptor is closed at `exec`, unless the program clears `FD_CLOEXEC`. The numbers end
    /// with the last process that has the file.
    ///
    /// # Errors
    ///
    /// [`MappedError::NoSpace`], [`BadSetting`](MappedError::BadSetting), and
    /// [`Failed`](MappedError::Failed) if the system refuses an operation.
    pub fn sealed(self) -> Result<File, MappedError> {
        let file = create::create_sealed(self.header()?)?;
        File::of(file, Path::new(SEALED), self.lock_timeout)
    }

    fn header(&self) -> Result<Header, MappedError> {
        let by_columns = || self.columns.saturating_mul(64).clamp(4096, MOST_TABLE);
        let table = self.names_bytes.unwrap_or_else(by_columns);
        check("columns", self.columns, 1, MOST_COLUMNS)?;
        check("names_bytes", table, 8, MOST_TABLE)?;
        check("locked_rows", self.locked_rows, 1, MOST_ROWS)?;
        check("owners", self.owners, 1, MOST_OWNERS)?;
        check("gauges", self.gauges, 1, MOST_GAUGES)?;
        let shape = Shape {
            plain: machine::processors(),
            locked: self.locked_rows,
            columns: self.columns,
            table: table.next_multiple_of(8),
            owners: self.owners,
            gauges: (self.gauges + 1).next_multiple_of(LINE_WORDS) - 1,
        };
        Ok(Header { shape, boot: machine::boot() })
    }
}

fn check(setting: &'static str, value: u32, min: u32, max: u32) -> Result<(), MappedError> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    let [value, min, max] = [value, min, max].map(u64::from);
    Err(MappedError::BadSetting { setting, value, min, max })
}
