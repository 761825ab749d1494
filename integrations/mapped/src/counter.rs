//! A counter in a mapped file.

use crate::cells::Cells;

/// A sharded counter in a mapped file, to which many processes add.
///
/// Returned by [`File::counter`](crate::File::counter). A copy adds to the same number. It stays
/// valid for as long as the process lives, whatever becomes of the [`File`](crate::File).
///
/// # Promise
///
/// An add is counted once if [`add`](Self::add) has returned. A thread that is killed inside of it
/// has added once or not at all. Nothing is lost when a process dies. Adds may be made in signal
/// handlers. The sum wraps at 2^64.
///
/// # Cost
///
/// An add is a plain one to the cell of this processor, as of a `windrow::Counter`, where
/// [`is_plain`](crate::File::is_plain): it shares no line with other processors. Other adds, and
/// those that the kernel interrupts 32 times in a row, are atomic additions. [`sum`](Self::sum)
/// reads a cell for each processor.
#[derive(Clone, Copy)]
pub struct Counter {
    pub(crate) cells: Cells,
}

impl Counter {
    /// Adds `n` to the counter, wrapping.
    ///
    /// ```
    /// # let directory = tempfile::tempdir_in("/dev/shm")?;
    /// # let path = directory.path().join("app.windrow");
    /// let file = windrow_mapped::File::open(path)?;
    /// let calls = file.counter("calls", &[("route", "cart")])?;
    /// calls.add(3);
    /// assert_eq!(calls.sum(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn add(&self, n: u64) {
        self.cells.add(n);
    }

    /// Adds 1 to the counter.
    #[inline]
    pub fn increment(&self) {
        self.add(1);
    }

    /// Returns the sum over all processes, wrapping.
    ///
    /// The sum is at least what had been added when this call began, and at most what had been
    /// added when it returned. Consecutive sums never fall.
    pub fn sum(&self) -> u64 {
        self.cells.sum()
    }
}

shown! {
    /// Shows the sum.
    Counter(counter) { sum: counter.sum() }
}
