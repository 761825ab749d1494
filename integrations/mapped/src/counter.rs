//! A counter in a mapped file.

use std::cell::Cell;
use std::fmt::{self, Debug, Formatter};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::layout::{ROW, Shape};
use crate::sequence;
use crate::sequence::miss::Miss;

/// The number of attempts of a plain add before a locked one.
const ATTEMPTS: u32 = 32;

/// A sharded counter in a mapped file, to which many processes add.
///
/// From [`File::counter`](crate::File::counter). A copy adds to the same number. It stays valid for
/// as long as the process lives, whatever becomes of the [`File`](crate::File).
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
    /// The cell in row 0. The other rows are behind it, [`ROW`] bytes apart.
    first: &'static AtomicU64,
    /// The offset of a thread's area from its thread pointer. Not used if `rows` is zero.
    area: isize,
    /// The rows for plain adds of this process: those of the file, or none.
    rows: u32,
    /// The rows of the file for plain adds, and behind them those for locked adds.
    plain: u32,
    locked: u32,
}

impl Counter {
    /// Makes the counter of a column, whose cell in row 0 is `first`.
    pub(crate) fn new(first: &'static AtomicU64, area: Option<isize>, shape: Shape) -> Counter {
        Counter {
            first,
            area: area.unwrap_or(0),
            rows: if area.is_some() { shape.plain } else { 0 },
            plain: shape.plain,
            locked: shape.locked,
        }
    }

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
        if self.rows == 0 || self.add_here(n).is_err() {
            self.add_again(n);
        }
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
        // Relaxed: each cell only grows, and is read once. What was added before this call began is
        // in its cell, or in one that was written later.
        let cells = (0..self.plain + self.locked).map(|row| self.cell(row).load(Ordering::Relaxed));
        cells.fold(0, u64::wrapping_add)
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // the whole point: no call on the path of an add
    fn add_here(&self, n: u64) -> Result<(), Miss> {
        let first = std::ptr::from_ref(self.first).cast_mut();
        // SAFETY: there is an area, or `rows` would be zero and this not called. The mapping has
        // the column's cells in all rows.
        unsafe { sequence::add(self.area, self.rows, first, n) }
    }

    /// Adds after a plain add has failed, or where there is none.
    #[cold]
    #[inline(never)]
    fn add_again(&self, n: u64) {
        if self.rows != 0 {
            for _ in 1..ATTEMPTS {
                match self.add_here(n) {
                    Ok(()) => return,
                    Err(Miss::Aborted) => {}
                    Err(Miss::NoRow) => break,
                }
            }
        }
        self.add_locked(self.plain + thread_number() % self.locked, n);
    }

    /// Adds to the cell of a row for locked adds.
    fn add_locked(&self, row: u32, n: u64) {
        self.cell(row).fetch_add(n, Ordering::Relaxed); // nothing else is published
    }

    /// Returns the cell of a row of the file.
    fn cell(&self, row: u32) -> &'static AtomicU64 {
        let distance = row as usize * ROW as usize;
        // SAFETY: the mapping has the column's cells in all rows, and is never taken back.
        unsafe { &*std::ptr::from_ref(self.first).byte_add(distance) }
    }
}

/// Shows the sum.
impl Debug for Counter {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counter").field("sum", &self.sum()).finish_non_exhaustive()
    }
}

/// Returns a number that few other threads of this process have.
///
/// (A thread-local without a destructor: adds may be made while a thread ends, and in signal
/// handlers. If a handler comes between, two numbers are dealt, and the second one stays.)
fn thread_number() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    thread_local! {
        static NUMBER: Cell<u32> = const { Cell::new(0) };
    }
    let number = NUMBER.get();
    if number != 0 {
        return number;
    }
    let number = NEXT.fetch_add(1, Ordering::Relaxed).max(1); // only a number
    NUMBER.set(number);
    number
}

#[cfg(test)]
mod tests;
