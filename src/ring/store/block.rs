//! Blocks: sets of columns that buckets own in turn.
//!
//! The additive cells of a block only ever grow. The owner counts from `base`, the sums that it
//! found; when the owner closes, the difference becomes its totals, and the new sums become the
//! next owner's base. Nothing is reset, no number moves, and the sum of all blocks is what was ever
//! added to them. Extremes cannot be differences: they are reset when the block is quiescent, after
//! the window has kept them for its lifetime.
//!
//! # A block at rest
//!
//! A block that no bucket owns is at rest: its base is the sum of all its rows. A read of all that
//! was counted takes the base then, one load in place of one a row. A reader that has seen an add
//! through the block has seen its owner, too. So it finds the block at rest only after that owner
//! has closed, and then the base has the add. A block may be taken, and be closed, after the reader
//! has found it at rest: then the reader finds a later base, which has all that the earlier one
//! had.

use std::ops::Range;
use std::ptr::{from_ref, null_mut};

use crate::arena::{arena, rows};
use crate::event::layout::BucketLayout;
use crate::memory::column::Column;
use crate::ring::cells::wide::{GROUP, Sparse, groups};
use crate::ring::cells::zeroed;
use crate::ring::order::bucket::Bucket;
use crate::ring::order::bucket_ref::{BucketPtr, BucketRef};
use crate::stripe::live_bucket::PENDING;
use crate::stripe::{Strategy, portable};
use crate::sync::{AtomicU64, Ordering, Witness};

/// A set of columns, one for each cell of a bucket.
#[derive(Debug)]
pub(in crate::ring) struct Block {
    column: Column,
    strategy: Strategy,
    layout: BucketLayout,
    /// Null when the block is free.
    owner: BucketPtr,
    /// The interval that ends with the owner, in nanoseconds.
    interval: AtomicU64,
    /// The sums when the owner took over; zero for extremes. Without those at wide positions.
    base: Box<[AtomicU64]>,
    wide: Box<[WideBase]>,
    witness: Witness,
}

/// The numbers of a block at a group of wide positions.
#[derive(Debug)]
struct WideBase {
    /// The sums when the owner took over.
    base: Sparse,
    /// The owner's prefixes (see `prefix`).
    prefix: Sparse,
}

impl Block {
    /// Makes a free block for adds by `strategy`; `None` if the arena has no columns left.
    pub(in crate::ring) fn claim(layout: BucketLayout, strategy: Strategy) -> Option<Block> {
        let column = arena().claim(columns(layout, strategy))?;
        let wide = || WideBase { base: Sparse::new(), prefix: Sparse::new() };
        Some(Block {
            column,
            strategy,
            layout,
            owner: BucketPtr::new(null_mut()),
            interval: AtomicU64::new(0),
            base: zeroed(layout.cells() - layout.wide()),
            wide: (0..groups(layout)).map(|_| wide()).collect(),
            witness: Witness::new(),
        })
    }

    /// Checks, in models, that the making of the block happened before.
    #[inline]
    pub(in crate::ring) fn check(&self) {
        self.witness.check();
    }

    /// Returns the first column, as a [live bucket](crate::stripe::live_bucket) has it.
    pub(in crate::ring) fn word(&self) -> *mut AtomicU64 {
        match self.strategy {
            Strategy::PerCore => self.column.first().as_ptr(),
            _ => portable::tag(self.column),
        }
    }

    /// Returns whether no bucket owned the block a moment ago.
    pub(in crate::ring) fn is_free(&self) -> bool {
        self.owner.load(Ordering::Relaxed).is_null() // only a hint
    }

    /// Makes `bucket` the owner. Returns false if there is one. The block is a reference to its
    /// owner.
    pub(in crate::ring) fn try_own(&self, bucket: &Bucket) -> bool {
        // Acquire: pairs with the Release in `disown`; the base is seen. Release: publishes the
        // bucket to closers, which find it here, and leave it alone until its initialisation ends.
        let (order, failed) = (Ordering::AcqRel, Ordering::Relaxed);
        let new = from_ref(bucket).cast_mut();
        self.owner.compare_exchange(null_mut(), new, order, failed).is_ok()
    }

    /// Returns the interval that ends with the owner, in nanoseconds. The thread that has just
    /// taken the block for a bucket writes it.
    #[inline]
    pub(in crate::ring) fn interval(&self) -> &AtomicU64 {
        &self.interval
    }

    /// Frees the block, and releases its reference to the owner. Called by the thread that has
    /// closed or cancelled the owner.
    pub(in crate::ring) fn disown(&self, owner: &Bucket) {
        // Release: pairs with the Acquire in `try_own`: hands on the base.
        self.owner.store(null_mut(), Ordering::Release);
        owner.references.release();
    }

    /// Returns the owner, if there is one.
    ///
    /// # Safety
    /// The block's window lives for `'r`.
    pub(in crate::ring) unsafe fn owner<'r>(&self) -> Option<BucketRef<'r>> {
        // SAFETY: an owner is a bucket of the same window.
        unsafe { BucketRef::acquire(&self.owner) }
    }

    /// Returns the pointer to the owner, for a thread that takes no reference to it.
    pub(in crate::ring) fn owner_ptr(&self) -> &BucketPtr {
        &self.owner
    }

    /// Returns the address of the owner, or null.
    pub(in crate::ring) fn owner_address(&self) -> *const Bucket {
        // Relaxed: a reader that has seen a row of the next owner sees that owner too.
        self.owner.load(Ordering::Relaxed).cast_const()
    }

    /// Returns what all owners have counted in a cell.
    pub(in crate::ring) fn sum(&self, position: usize) -> u64 {
        if self.layout.adds_up(position) {
            self.layout.without_pending(position, self.rows_apart(position))
        } else {
            self.greatest(position)
        }
    }

    /// Returns what all owners have counted in an additive cell, row by row.
    pub(in crate::ring) fn by_row(&self, position: usize) -> impl Iterator<Item = u64> {
        let rows = rows::by_place(self.column.right(position));
        rows.map(move |number| self.layout.without_pending(position, number))
    }

    /// Returns what the present owner has counted in a cell.
    pub(in crate::ring) fn difference(&self, position: usize) -> u64 {
        let difference = self.sum(position).wrapping_sub(self.base(position));
        self.layout.without_pending(position, difference)
    }

    /// Returns what the present owner has counted in an additive cell, of records modulo 2^63.
    pub(in crate::ring) fn difference_of_count(&self, position: usize) -> u64 {
        self.rows_apart(position).wrapping_sub(self.base(position))
    }

    /// Returns the sum of the rows of an additive cell.
    #[inline(never)] // its code once, which is long
    fn rows_apart(&self, position: usize) -> u64 {
        rows::sum(self.column.right(position))
    }

    /// Returns what all owners have counted in an additive cell, with one load if the block is
    /// free. Of records, modulo 2^63.
    #[inline(never)] // its code once
    pub(in crate::ring) fn present_sum(&self, position: usize) -> u64 {
        if self.is_at_rest() { self.base(position) } else { self.rows_apart(position) }
    }

    /// Returns the [present sum](Self::present_sum) to a caller that passes the fence in
    /// `is_current` afterwards.
    ///
    /// # Safety
    /// The position is one of the layout's, and not wide.
    #[inline]
    pub(in crate::ring) unsafe fn present_dense_sum(&self, position: usize) -> u64 {
        // SAFETY: by contract.
        self.present(position, || unsafe { self.dense_base(position) })
    }

    #[inline]
    fn present(&self, position: usize, base: impl FnOnce() -> u64) -> u64 {
        if self.is_at_rest() { base() } else { rows::sum(self.column.right(position)) }
    }

    /// Returns the sum when the owner took over; of a free block, the sum. To be called after the
    /// rows are read.
    #[inline]
    pub(in crate::ring) fn base(&self, position: usize) -> u64 {
        match position.checked_sub(self.layout.wide()) {
            // Acquire: pairs with the Release in `rebase`. A reader of the next base sees CLOSED
            // too.
            Some(dense) => self.base[dense].load(Ordering::Acquire),
            None => self.wide_base(position),
        }
    }

    /// Returns the [base](Self::base) to a caller that passes the fence in `is_current` afterwards.
    ///
    /// # Safety
    /// The position is one of the layout's, and not wide.
    #[inline]
    unsafe fn dense_base(&self, position: usize) -> u64 {
        // SAFETY: by contract.
        let base = unsafe { self.base.get_unchecked(position - self.layout.wide()) };
        base.load(Ordering::Relaxed) // before the fence in `is_current`
    }

    #[inline(never)] // so that the others cost little
    fn wide_base(&self, position: usize) -> u64 {
        let cells = self.wide[position / GROUP].base.get();
        cells.map_or(0, |cells| cells[position % GROUP].load(Ordering::Acquire)) // as above
    }

    /// Adds what all owners have counted at wide positions, which lie in one group, to `numbers`:
    /// of records modulo 2^63. In each row, or base, the count of a pair is read before its sum.
    pub(in crate::ring) fn add_present_sums(&self, positions: &Range<usize>, numbers: &mut [u64]) {
        if self.is_at_rest() {
            self.add_bases(positions, numbers);
        } else {
            rows::add_up(self.column.right(positions.start), numbers);
        }
    }

    /// Adds what the present owner has counted at such positions to `numbers`, as
    /// [`difference`](Self::difference), of records modulo 2^63.
    pub(in crate::ring) fn add_differences(&self, positions: &Range<usize>, numbers: &mut [u64]) {
        rows::add_up(self.column.right(positions.start), numbers);
        self.take_off_bases(positions, numbers);
    }

    /// Adds what the present owner has counted at such positions to `totals`, which are zeros, as
    /// [`add_differences`](Self::add_differences). Called by its closer. Returns whether a value
    /// may be pending there.
    pub(in crate::ring) fn add_totals(&self, positions: &Range<usize>, totals: &mut [u64]) -> bool {
        let bits = rows::add_up(self.column.right(positions.start), totals);
        // A count goes back to zero after 2^63 records. So where all sums are zero, none was ever
        // recorded, and the base is zero.
        if totals.iter().fold(0, |all, total| all | total) != 0 {
            self.take_off_bases(positions, totals);
            BucketLayout::pairs_without_pending(totals);
        }
        bits & PENDING != 0
    }

    /// Subtracts the sums when the owner took over, at such positions, from `numbers`.
    fn take_off_bases(&self, positions: &Range<usize>, numbers: &mut [u64]) {
        if let Some(base) = self.wide[positions.start / GROUP].base.at(positions) {
            rows::merge(numbers, base, Ordering::Acquire, u64::wrapping_sub); // as in `base`
        }
    }

    /// Returns whether no bucket owns the block. Then its base is what all owners have counted.
    #[inline]
    pub(in crate::ring) fn is_at_rest(&self) -> bool {
        // Acquire: pairs with the Release in `disown`: the base is the sum.
        self.owner.load(Ordering::Acquire).is_null()
    }

    /// Adds the sums when the owner took over, at wide positions, which lie in one group, to
    /// `numbers`.
    pub(in crate::ring) fn add_bases(&self, positions: &Range<usize>, numbers: &mut [u64]) {
        if let Some(base) = self.wide[positions.start / GROUP].base.at(positions) {
            rows::merge(numbers, base, Ordering::Acquire, u64::wrapping_add); // as in `base`
        }
    }

    /// Returns the prefixes of the present owner, by group of wide positions.
    pub(in crate::ring) fn prefixes(&self) -> impl Iterator<Item = &Sparse> {
        self.wide.iter().map(|wide| &wide.prefix)
    }

    /// Subtracts the owner's prefixes at wide positions, which lie in one group, from `numbers`.
    pub(in crate::ring) fn take_off_prefixes(&self, positions: &Range<usize>, numbers: &mut [u64]) {
        if let Some(prefixes) = self.wide[positions.start / GROUP].prefix.at(positions) {
            // Relaxed: before the fence in `is_current`.
            rows::merge(numbers, prefixes, Ordering::Relaxed, u64::wrapping_sub);
        }
    }

    /// Returns the greatest rows of two extremes of the same pairs, in which no value is pending.
    pub(in crate::ring) fn raised(&self, extremes: [usize; 2]) -> [u64; 2] {
        extremes.map(|position| rows::greatest(self.column.right(position)))
    }

    /// Returns the greatest rows of two extremes of the same pairs.
    pub(in crate::ring) fn extremes(&self, extremes: [usize; 2]) -> [u64; 2] {
        match self.strategy {
            Strategy::PerCore => self.with_pending(extremes, self.layout.bounded_by(extremes[0])),
            _ => self.raised(extremes),
        }
    }

    /// Returns the greatest rows of two extremes, and of the pending values of `pairs` pairs.
    fn with_pending(&self, extremes: [usize; 2], (first, pairs): (usize, usize)) -> [u64; 2] {
        rows::extremes(&rows::Extremes {
            pair: self.column.right(first),
            pending: self.column.right(self.layout.pending(first)),
            pairs,
            cells: self.column.right(extremes[0]),
        })
    }

    /// Returns the greatest row of a cell that rises.
    fn greatest(&self, position: usize) -> u64 {
        match self.strategy {
            Strategy::PerCore if self.layout.is_bound(position) => {
                let which = usize::from(self.layout.is_complement(position));
                self.extremes([position - which, position - which + 1])[which]
            }
            _ => rows::greatest(self.column.right(position)),
        }
    }

    /// Prepares a cell that is not wide for the next owner: the sum, `total` more than the base,
    /// becomes the base; an extreme is reset.
    ///
    /// Called by the closer of a quiescent bucket, after it has published CLOSED: a reader in the
    /// middle of a difference that sees any of this must see CLOSED.
    pub(in crate::ring) fn rebase(&self, position: usize, total: u64) {
        let column = self.column.right(position);
        if self.layout.counts_records(position) {
            rows::forget_pending(column);
        }
        if self.layout.adds_up(position) {
            self.raise_base(&self.base[position - self.layout.wide()], position, total);
        } else {
            // Release: pairs with the Acquire in `rows::value`, and in `rows::extremes`.
            rows::reset(column, Ordering::Release);
        }
    }

    /// Prepares wide pairs from `first` on, which lie in one group, for the next owner, as
    /// [`rebase`](Self::rebase). Values may be `pending` in some of them.
    pub(in crate::ring) fn rebase_pairs(&self, first: usize, totals: &[AtomicU64], pending: bool) {
        for (pair, totals) in (first..).step_by(2).zip(totals.as_chunks::<2>().0) {
            // Relaxed: written by this thread.
            let [count, sum] = totals.each_ref().map(|total| total.load(Ordering::Relaxed));
            if count | sum == 0 {
                continue; // nothing is pending there either
            }
            if pending {
                rows::forget_pending(self.column.right(pair));
            }
            // The sum first: a reader that counts a value, by the first of a pair, finds it in the
            // sum, even if the block was at rest when the reader came to it.
            let base = self.wide[pair / GROUP].base.cells();
            self.raise_base(&base[pair % GROUP + 1], pair + 1, sum);
            self.raise_base(&base[pair % GROUP], pair, count);
        }
    }

    /// Adds the owner's total to the base at a position.
    #[inline]
    fn raise_base(&self, base: &AtomicU64, position: usize, total: u64) {
        // Relaxed: what the last closer stored happened before, by `disown` and `try_own`.
        let sum = base.load(Ordering::Relaxed).wrapping_add(total);
        // Release: pairs with the Acquire in `base`.
        base.store(self.layout.without_pending(position, sum), Ordering::Release);
    }
}

/// Returns the number of columns of a block: one for each cell, and per core another for each
/// pending value.
fn columns(layout: BucketLayout, strategy: Strategy) -> usize {
    match strategy {
        Strategy::PerCore => layout.columns(),
        _ => layout.cells(),
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: claimed in `claim`. A block is dropped with its window, by `&mut`: no thread adds
        // to it or reads it any more.
        unsafe { arena().free(self.column, columns(self.layout, self.strategy)) };
    }
}
