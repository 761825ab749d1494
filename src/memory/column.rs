//! A column: the cells at the same position in every row.
//!
//! ```text
//!            column 0   column 1   column 2          one page or more
//!   row 0  [    .     |    .     |    .     | ... ]  written by one core (or thread group)
//!   row 1  [    .     |    .     |    .     | ... ]  written by another
//! ```
//!
//! Rows are a fixed number of cells apart. So a column is one pointer, and a row's cell is a shift
//! and an add away.

use std::ptr::NonNull;

use crate::sync::{AtomicU64, sized};

/// The number of columns in a row: 64 KiB of cells.
pub(crate) const COLUMNS: usize = sized(8192, 16);

/// A column, by its cell in row 0. Columns that were claimed together are neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Column(NonNull<AtomicU64>);

// SAFETY: a reference to cells, which are atomics that are never freed.
unsafe impl Send for Column {}
// SAFETY: as above.
unsafe impl Sync for Column {}

impl Column {
    /// Returns the column whose cell in row 0 is `first`.
    ///
    /// # Safety
    /// `first` is a cell of row 0 of a segment that is never unmapped. The segment has every row
    /// with which [`cell`](Self::cell) will be called.
    #[inline]
    pub(crate) unsafe fn new(first: NonNull<AtomicU64>) -> Column {
        Column(first)
    }

    /// Returns its cell in row 0, from which [`new`](Self::new) makes the column again.
    #[inline]
    pub(crate) fn first(self) -> NonNull<AtomicU64> {
        self.0
    }

    /// Returns the column `distance` positions to the right, which was claimed together with this
    /// one.
    #[inline]
    pub(crate) fn right(self, distance: usize) -> Column {
        debug_assert!(distance < COLUMNS);
        // SAFETY: `Arena::claim` hands out runs that lie within one row, and the caller stays
        // within its run.
        Column(unsafe { self.0.add(distance) })
    }

    /// Returns its cell in `row`, one of [`mapped_rows`](crate::stripe::mapped_rows).
    #[inline]
    pub(crate) fn cell(self, row: usize) -> &'static AtomicU64 {
        // SAFETY: by the contract of `new` the segment has that row, and is never unmapped.
        unsafe { self.0.add(row * COLUMNS).as_ref() }
    }

    /// Returns its cell in `row`, as [`cell`](Self::cell) does, and those of columns to the right
    /// that were claimed together with it: `count` in all.
    #[inline]
    pub(crate) fn cells(self, row: usize, count: usize) -> &'static [AtomicU64] {
        // SAFETY: as in `cell`; and a run lies within one row.
        unsafe { std::slice::from_raw_parts(self.cell(row), count) }
    }

    /// Returns the distance in bytes from row 0 to `row`. A thread may remember this instead of its
    /// row.
    #[inline]
    pub(crate) const fn offset(row: usize) -> usize {
        row * COLUMNS * size_of::<AtomicU64>()
    }
}
