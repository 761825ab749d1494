//! The cells of one column, in all rows of a file.
//!
//! A plain add or raise is to the cell of this processor's row, in a [`sequence`]. A locked one is
//! to a cell of a row behind those: for a thread without restartable sequences, on a processor
//! without a row, or whose sequences the kernel has aborted too often. The two never meet in a
//! cell.

use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::layout::{ROW, Shape};
use crate::sequence;
use crate::sequence::miss::Miss;

/// The number of attempts of a plain change before a locked one.
const ATTEMPTS: u32 = 32;

/// The cells of a column. A copy is of the same cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cells {
    /// The cell in row 0. The other rows are behind it, [`ROW`] bytes apart. (A pointer, because a
    /// reference to one cell gives no right to the others.)
    pub(crate) first: NonNull<AtomicU64>,
    /// The offset of a thread's area from its thread pointer. Not used if `rows` is zero.
    pub(crate) area: isize,
    /// The rows for plain changes of this process: those of the file, or none.
    pub(crate) rows: u32,
    /// The rows of the file for plain changes, and behind them those for locked ones.
    pub(crate) plain: u32,
    pub(crate) locked: u32,
}

// SAFETY: it has a pointer to atomics that are mapped for ever.
unsafe impl Send for Cells {}
// SAFETY: as above.
unsafe impl Sync for Cells {}

impl Cells {
    /// Makes the cells of a column, whose cell in row 0 is `first`.
    ///
    /// # Safety
    /// The column's cells in all rows of a file of this shape are mapped, for ever, and `first` may
    /// be used for all of them.
    pub(crate) unsafe fn new(
        first: NonNull<AtomicU64>,
        area: Option<isize>,
        shape: Shape,
    ) -> Cells {
        Cells {
            first,
            area: area.unwrap_or(0),
            rows: if area.is_some() { shape.plain } else { 0 },
            plain: shape.plain,
            locked: shape.locked,
        }
    }

    /// Returns the cells of a column to the right.
    ///
    /// # Safety
    /// The column is in the same segment, and is one of the file's.
    #[inline]
    pub(crate) unsafe fn right(self, columns: usize) -> Cells {
        // SAFETY: by the contract: the cells of a row are side by side, and mapped for ever.
        Cells { first: unsafe { self.first.add(columns) }, ..self }
    }

    /// Adds `n`, wrapping.
    #[inline]
    pub(crate) fn add(&self, n: u64) {
        if self.rows == 0 || self.add_here(n).is_err() {
            self.add_again(n);
        }
    }

    /// Raises the greatest of the cells to `value`, if that is greater.
    #[inline]
    pub(crate) fn raise(&self, value: u64) {
        if self.rows == 0 || self.raise_here(value).is_err() {
            self.raise_again(value);
        }
    }

    /// Returns the sum of all cells, wrapping.
    pub(crate) fn sum(&self) -> u64 {
        self.values().fold(0, u64::wrapping_add)
    }

    /// Returns the greatest of all cells.
    pub(crate) fn greatest(&self) -> u64 {
        self.values().max().unwrap_or(0)
    }

    /// Adds to the cell of a row for locked changes.
    pub(crate) fn add_locked(&self, row: u32, n: u64) {
        self.cell(row).fetch_add(n, Ordering::Relaxed); // nothing else is published
    }

    /// Returns the cell of a row of the file.
    pub(crate) fn cell(&self, row: u32) -> &'static AtomicU64 {
        debug_assert!(row < self.plain + self.locked);
        let distance = row as usize * ROW as usize;
        // SAFETY: by the contract of `new`.
        unsafe { self.first.byte_add(distance).as_ref() }
    }

    fn values(&self) -> impl Iterator<Item = u64> + use<> {
        let cells = *self;
        // Relaxed: each cell only grows, and is read once. A change before this call began is in
        // its cell, or in a value that was written later.
        (0..cells.plain + cells.locked).map(move |row| cells.cell(row).load(Ordering::Relaxed))
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // the whole point: no call on the path of an add
    fn add_here(&self, n: u64) -> Result<(), Miss> {
        // SAFETY: there is an area, or `rows` would be zero and this not called. The mapping has
        // the column's cells in all rows.
        unsafe { sequence::add(self.area, self.rows, self.first.as_ptr(), n) }
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    fn raise_here(&self, value: u64) -> Result<(), Miss> {
        // SAFETY: as above.
        unsafe { sequence::raise(self.area, self.rows, self.first.as_ptr(), value) }
    }

    /// Adds after a plain add has failed, or where there is none.
    #[cold]
    #[inline(never)]
    fn add_again(&self, n: u64) {
        if !self.is_done_again(|| self.add_here(n)) {
            self.add_locked(self.locked_row(), n);
        }
    }

    /// Raises after a plain raise has failed, or where there is none.
    #[cold]
    #[inline(never)]
    fn raise_again(&self, value: u64) {
        if !self.is_done_again(|| self.raise_here(value)) {
            let cell = self.cell(self.locked_row());
            cell.fetch_max(value, Ordering::Relaxed); // nothing else is published
        }
    }

    /// Tries a plain change some times more, and returns whether it was done.
    fn is_done_again(&self, change: impl Fn() -> Result<(), Miss>) -> bool {
        if self.rows != 0 {
            for _ in 1..ATTEMPTS {
                match change() {
                    Ok(()) => return true,
                    Err(Miss::Aborted) => {}
                    Err(Miss::NoRow) => break,
                }
            }
        }
        false
    }

    /// Returns this thread's row for locked changes.
    fn locked_row(&self) -> u32 {
        self.plain + thread_number() % self.locked
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
