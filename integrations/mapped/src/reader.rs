//! Reading a file from outside, while its processes run, hang, or after they were killed.

use std::fs;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::entries::Entries;
use crate::error::MappedError;
use crate::layout::header::{END, End};
use crate::layout::{PAGE, PAGE_COLUMNS, Shape};
use crate::owners;
use crate::reading::Reading;
use crate::system::{open, read};

/// The bytes of cells that are read in any file. A file with more must have the memory for them.
const LEAST_EFFORT: u64 = 1 << 30;

/// A reader of a mapped file, of this user or of another one.
///
/// It reads the file by `pread(2)` and does not map it, so nothing that other processes do to the
/// file can stop the program: a file that is cut off is an error. It needs the right to read the
/// file, and takes no lock.
///
/// ```
/// use windrow_mapped::{File, Reader};
///
/// # let directory = tempfile::tempdir_in("/dev/shm")?;
/// # let path = directory.path().join("app.windrow");
/// File::open(&path)?.counter("calls", &[("route", "cart")])?.add(3);
///
/// // In another process:
/// let reader = Reader::open(&path)?;
/// let reading = reader.read()?;
/// for metric in reading.metrics() {
///     let labels: Vec<_> = metric.labels().collect();
///     assert_eq!((metric.name(), metric.sum()), ("calls", Some(3)));
///     assert_eq!(labels, [("route", "cart")]);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Promise
///
/// Each sum is at least what had been added, over all processes, when the read began, and at most
/// what had been added when it returned. The sums of a counter never fall from one read to the
/// next. Two counters have no common instant. For a histogram, the same holds for each cell and for
/// the sum of its values. That sum may be ahead of the count or behind it, by records in progress.
///
/// A gauge has one part for each process. The part that is read is one that its process had at some
/// moment of the read. It counts for the living if the process lived at that moment, and otherwise
/// for the dead.
///
/// This holds as long as nothing but this library writes to the file.
///
/// It rests on the kernel's copying aligned words whole, which Linux does on x86-64 and arm64, and
/// does not promise. [`Counter::sum`](crate::Counter::sum) needs no such thing.
///
/// # Cost
///
/// A read takes one system call for each row of 8192 columns, and copies 8 bytes for each row and
/// counter. It takes up to five more system calls for each process that has or had gauges. Each
/// name is read once. If the cells of all metrics, in pages of 512, take more than 1 GiB, the file
/// must really have that memory, or the read fails. So a small file that claims many columns does
/// not keep the reader busy for hours.
pub struct Reader {
    pub(crate) file: fs::File,
    pub(crate) path: PathBuf,
    pub(crate) shape: Shape,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    entries: Arc<Entries>,
    /// The bytes of a part of a row.
    buffer: Vec<u8>,
}

impl Reader {
    /// Opens a file for reading.
    ///
    /// # Errors
    ///
    /// * [`MappedError::Failed`]: there is no such file, or no right to read it.
    /// * [`MappedError::IsLink`], [`NotRegular`](MappedError::NotRegular).
    /// * [`MappedError::Foreign`], [`OtherVersion`](MappedError::OtherVersion),
    ///   [`CutOff`](MappedError::CutOff), [`Damaged`](MappedError::Damaged): it is not a whole file
    ///   of this version.
    pub fn open(path: impl AsRef<Path>) -> Result<Reader, MappedError> {
        let path = path.as_ref();
        Reader::of(open::open(path, false)?, path)
    }

    /// Reads a file that is open already: a copy, or one that was
    /// [sealed](crate::FileBuilder::sealed).
    ///
    /// # Errors
    ///
    /// The errors of [`open`](Self::open).
    pub fn from_file(file: fs::File) -> Result<Reader, MappedError> {
        Reader::of(file, Path::new("(an open file)"))
    }

    /// Reads all metrics of the file.
    ///
    /// # Errors
    ///
    /// [`MappedError::CutOff`] or [`Damaged`](MappedError::Damaged), if the file was cut off or
    /// damaged after it was opened; [`TooSparse`](MappedError::TooSparse), if it has more than
    /// 1 GiB of cells and not the memory for them; [`Failed`](MappedError::Failed), if the system
    /// refuses to read it.
    pub fn read(&self) -> Result<Reading, MappedError> {
        let mut state = self.state();
        let State { entries, buffer } = &mut *state;
        self.catch_up(entries)?;
        self.check_effort(entries)?;
        let mut values = vec![0_u64; entries.end.columns as usize];
        let mut extremes = &entries.extremes[..];
        for span in &entries.spans {
            let first = span.start;
            let values = &mut values[first as usize..span.end as usize];
            let here = extremes.partition_point(|column| *column < span.end);
            let (here, behind) = extremes.split_at(here);
            extremes = behind;
            let mut greatest = vec![0_u64; here.len()];
            buffer.resize(values.len() * 8, 0);
            for row in 0..self.shape.rows() {
                self.fill(self.shape.cell_place(row, first), buffer)?;
                let cells = buffer.as_chunks::<8>().0;
                for (value, cell) in values.iter_mut().zip(cells) {
                    *value = value.wrapping_add(u64::from_le_bytes(*cell));
                }
                for (greatest, column) in greatest.iter_mut().zip(here) {
                    let cell = cells[(column - first) as usize];
                    *greatest = u64::from_le_bytes(cell).max(*greatest);
                }
            }
            for (greatest, column) in greatest.into_iter().zip(here) {
                values[(column - first) as usize] = greatest;
            }
        }
        let owners = owners::read(&self.file, &self.path, self.shape, entries.words)?;
        Ok(Reading::new(Arc::clone(entries), values, owners))
    }

    fn of(file: fs::File, path: &Path) -> Result<Reader, MappedError> {
        let length = open::length(&file, path)?;
        let shape = read::header(&file, path, length)?.shape;
        let reader = Reader { file, path: path.to_owned(), shape, state: Mutex::default() };
        reader.catch_up(&mut reader.state().entries)?;
        Ok(reader)
    }

    /// Checks that the cells are not many more than the file has memory for. Without this, a few
    /// bytes with great numbers of rows and columns would be read for hours.
    fn check_effort(&self, entries: &Entries) -> Result<(), MappedError> {
        let pages = |span: &Range<u32>| {
            u64::from(span.end.div_ceil(PAGE_COLUMNS) - span.start / PAGE_COLUMNS)
        };
        let rows = u64::from(self.shape.rows());
        let bytes = entries.spans.iter().map(pages).sum::<u64>() * rows * PAGE;
        if bytes <= LEAST_EFFORT {
            return Ok(());
        }
        let failed = MappedError::failed("inspect", &self.path);
        let taken = self.file.metadata().map_err(failed)?.blocks() * 512;
        if bytes <= taken {
            return Ok(());
        }
        Err(MappedError::TooSparse {
            path: self.path.clone(),
            bytes,
            most: taken.max(LEAST_EFFORT),
        })
    }

    /// Reads the entries that were registered since the last call.
    fn catch_up(&self, entries: &mut Arc<Entries>) -> Result<(), MappedError> {
        let mut end = [0; 8];
        self.fill(END, &mut end)?;
        let end = End::of(u64::from_le_bytes(end));
        if end == entries.end {
            return Ok(());
        }
        // Acquire: pairs with the store of the end by the process that registered. The kernel's
        // loads for the call above come before those for the calls below.
        fence(Ordering::Acquire);
        let read = |place, into: &mut [u8]| self.fill(place, into);
        Arc::make_mut(entries).catch_up(end, self.shape, &self.path, read)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner) // a panic leaves what is valid
    }

    pub(crate) fn fill(&self, place: u64, into: &mut [u8]) -> Result<(), MappedError> {
        read::exactly(&self.file, &self.path, place, into)
    }
}

shown! {
    /// Shows the path.
    Reader(reader) { path: reader.path }
}

#[cfg(test)]
mod tests;
