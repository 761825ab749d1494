//! The numbers of a histogram, which all cores may write at once: the sum of all values, and the
//! cells' counts.
//!
//! They are a run of neighbouring columns, claimed by the first record. Beside it, on the heap and
//! made before it, are the *shared* cells, one for each column. They are for adds that cannot use
//! this core's row, or for all adds if the arena is full. A plain add and a locked one never meet
//! in a cell.
//!
//! # Theorem
//!
//! A record that is counted is in the sum: if a read finds a record's count in a cell and reads the
//! sum afterwards, that sum includes the record's value.
//!
//! # Why
//!
//! A record adds to the sum first, and then to the cell, with Release; a read loads cells with
//! Acquire, and looks up afterwards where the sum is. So the add to the sum happened before that
//! look-up, in either place: in a row, which is open, of a run that is published; or in a shared
//! cell, of a box that is published.

use std::ops::Range;
use std::ptr::{NonNull, null_mut, slice_from_raw_parts_mut};

use crate::arena::on_demand::OnDemand;
use crate::arena::rows;
use crate::stripe::column_word::is_column;
use crate::stripe::column_write::{Add, Number, put};
use crate::sync::{AtomicPtr, AtomicU64, Ordering, const_fn};

/// The index of the sum. The cells follow.
const SUM: usize = 0;
const FIRST_CELL: usize = 1;
/// The number of cells that are read at a time by reads that do not keep them.
const AT_A_TIME: usize = 64;

/// The sum and the cells' counts.
pub(super) struct Columns {
    /// All of the columns, side by side.
    run: OnDemand,
    /// The first of the shared cells; null before the first record.
    shared: AtomicPtr<AtomicU64>,
    /// The number of cells.
    cells: usize,
}

impl Columns {
    const_fn! {
        pub(super) const fn new(cells: usize) -> Columns {
            let (run, shared) = (OnDemand::new(), AtomicPtr::new(null_mut()));
            Columns { run, shared, cells }
        }
    }

    /// Counts `count` values, whose sum is `sum`, in the cell at `place`.
    #[inline]
    pub(super) fn record(&self, place: usize, sum: u64, count: u64) {
        debug_assert!(place < self.cells);
        self.add(SUM, sum);
        self.add(FIRST_CELL + place, count); // last: see above
    }

    /// Reads the all-time count of each of these cells, and then the all-time sum.
    #[inline]
    pub(super) fn read(&self, places: Range<usize>) -> (Box<[u64]>, u64) {
        let mut counts = vec![0; places.len()].into_boxed_slice();
        self.add_counts(places.start, &mut counts);
        (counts, self.sum())
    }

    /// Calls `see` with the all-time counts of these cells, some neighbours at a time, and the
    /// place of the first of them.
    #[inline]
    pub(super) fn each_count(&self, places: Range<usize>, mut see: impl FnMut(usize, &mut [u64])) {
        for first in places.clone().step_by(AT_A_TIME) {
            let mut counts = [0; AT_A_TIME];
            let counts = &mut counts[..AT_A_TIME.min(places.end - first)];
            self.add_counts(first, counts);
            see(first, counts);
        }
    }

    /// Adds the all-time counts of the cells from the place `first` on.
    #[inline]
    fn add_counts(&self, first: usize, counts: &mut [u64]) {
        let first = FIRST_CELL + first;
        if let Some(column) = self.run.column() {
            rows::add_up(column.right(first), counts);
        }
        if let Some(shared) = self.shared() {
            // Acquire: pairs with the Release of an add aside, as in `rows::add_up`.
            let shared = &shared[first..][..counts.len()];
            rows::merge(counts, shared, Ordering::Acquire, u64::wrapping_add);
        }
    }

    /// The sum of all values.
    #[inline]
    pub(super) fn sum(&self) -> u64 {
        let rows = self.run.column().map_or(0, |column| rows::sum(column.right(SUM)));
        // Acquire: as in `read`.
        let shared = self.shared().map_or(0, |shared| shared[SUM].load(Ordering::Acquire));
        rows.wrapping_add(shared)
    }

    /// Adds `n`, wrapping, to the number at `distance`.
    #[inline]
    fn add(&self, distance: usize, n: u64) {
        put(At { columns: self, distance }, Add(n, Ordering::Release));
    }

    /// Returns the word of the column at `distance` from the first, whose word is `first`; or one
    /// that has no column.
    #[inline]
    fn word(first: *mut AtomicU64, distance: usize) -> *mut AtomicU64 {
        // A column's word is the address of its cell in row 0, with a tag in bits that are zero in
        // a cell's address. So this word plus the size of some cells is the word of a column to the
        // right, with the same strategy, in the same claim.
        if is_column(first) { first.wrapping_add(distance) } else { first }
    }

    /// Returns whether the histogram has columns.
    pub(super) fn is_striped(&self) -> bool {
        self.run.column().is_some()
    }

    /// Claims columns, unless that was tried already.
    #[cold]
    fn claim(&self) {
        if self.shared().is_none() {
            // First, so that a record with a column but without a row allocates nothing.
            self.make_shared();
        }
        self.run.claim(self.length());
    }

    /// Returns the shared cells, if there are any.
    #[inline]
    fn shared(&self) -> Option<&[AtomicU64]> {
        // Acquire: pairs with the Release in `make_shared`, so the cells are seen as they were
        // made.
        let first = NonNull::new(self.shared.load(Ordering::Acquire))?;
        // SAFETY: made so in `make_shared`, and freed by `&mut self`.
        Some(unsafe { NonNull::slice_from_raw_parts(first, self.length()).as_ref() })
    }

    #[cold]
    fn make_shared(&self) -> &[AtomicU64] {
        let made: Box<[AtomicU64]> = (0..self.length()).map(|_| AtomicU64::new(0)).collect();
        let first = Box::into_raw(made).cast::<AtomicU64>();
        // Release: publishes them. Acquire, on failure: those that another thread has published.
        let (order, failed) = (Ordering::Release, Ordering::Acquire);
        let there = match self.shared.compare_exchange(null_mut(), first, order, failed) {
            Ok(_) => first,
            Err(there) => {
                // SAFETY: made above; no other thread has seen it.
                unsafe { self.free_shared(first) };
                there
            }
        };
        // SAFETY: not null; the rest as in `shared`.
        unsafe {
            NonNull::slice_from_raw_parts(NonNull::new_unchecked(there), self.length()).as_ref()
        }
    }

    /// # Safety
    /// `first` was made in `make_shared`, and no thread uses it any more.
    #[inline]
    unsafe fn free_shared(&self, first: *mut AtomicU64) {
        // SAFETY: a box of this length, by contract.
        drop(unsafe { Box::from_raw(slice_from_raw_parts_mut(first, self.length())) });
    }

    /// Returns the number of columns.
    fn length(&self) -> usize {
        FIRST_CELL + self.cells
    }
}

/// One of the numbers.
#[derive(Clone, Copy)]
struct At<'a> {
    columns: &'a Columns,
    distance: usize,
}

// SAFETY: the words are those of columns on demand, or of one to the right in the same claim.
unsafe impl Number for At<'_> {
    #[inline]
    fn word(self) -> *mut AtomicU64 {
        Columns::word(self.columns.run.dependent_word(), self.distance)
    }

    #[inline]
    fn claimed(self) -> *mut AtomicU64 {
        self.columns.claim();
        // A thread that sees the word sees the shared cells, too: they are made before it is
        // published.
        Columns::word(self.columns.run.word(), self.distance)
    }

    #[inline]
    fn aside(&self) -> &AtomicU64 {
        let shared = self.columns.shared().unwrap_or_else(|| self.columns.make_shared());
        &shared[self.distance]
    }
}

impl Drop for Columns {
    #[inline]
    fn drop(&mut self) {
        let length = self.length();
        // SAFETY: `claim` claims this number of columns.
        unsafe { self.run.free(length) };
        let shared = self.shared.load(Ordering::Relaxed); // `&mut self`
        if !shared.is_null() {
            // SAFETY: `&mut self`: no thread uses them any more.
            unsafe { self.free_shared(shared) };
        }
    }
}
