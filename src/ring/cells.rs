//! The numbers of a bucket: its cells, and what an add puts into them. This room uses no other room
//! of the ring. Start here; `wide` has the cells that take memory only when they are used, and
//! `side_numbers` the numbers that no bucket has.
//!
//! # Memory
//!
//! The cells of a bucket stand in a run of units in the slab, equally long in all buckets of a
//! window.
//!
//! ```text
//!   group | group | ... | cell | cell | ...
//!   of wide cells        the others
//! ```
//!
//! A unit has the size of a group and of a cell. So one pointer leads to both: a bucket has the
//! pointer to its cells, and the groups stand before them. A window without histograms has no
//! groups, and pays nothing for them.

use std::mem::ManuallyDrop;

use crate::event::layout::{BucketLayout, CellIndex, raise_of};
use crate::recorded_value::{MAX_SUMMAND, summand};
use crate::ring::cells::wide::{GROUP, Sparse, Wide, groups};
use crate::stripe::portable::{self, Dealt, Leased, Mine};
use crate::sync::{AtomicU64, Ordering};

pub(super) mod side_numbers;
pub(super) mod wide;

/// A target of adds: a set of cells, by position.
pub(super) trait Target {
    /// True for a row of a block. It takes no value above [`MAX_SUMMAND`], so its maxima stay
    /// below, and every greater value is found by the comparison with the maximum.
    const IS_ROW: bool;
    /// Returns whether a cell is below `value`.
    fn is_below(&self, position: usize, value: u64) -> bool;
    /// Adds `n` to a cell, wrapping, with Release.
    fn add(&self, position: usize, n: u64);
    /// Raises a cell to `value`, unless it is there already, with Release.
    fn raise(&self, position: usize, value: u64);
}

/// The columns of a block, in a portable strategy: the cells of the row that this thread has
/// leased.
impl Target for Leased {
    const IS_ROW: bool = true;

    #[inline]
    fn is_below(&self, position: usize, value: u64) -> bool {
        Leased::is_below(*self, position, value)
    }

    #[inline]
    fn add(&self, position: usize, n: u64) {
        self.add_in_steps(position, n);
    }

    #[inline]
    fn raise(&self, position: usize, value: u64) {
        self.raise_in_steps(position, value);
    }
}

/// The columns of a block, in a portable strategy: the cells of the row that this thread was dealt.
impl Target for Dealt {
    const IS_ROW: bool = true;

    #[inline]
    fn is_below(&self, position: usize, value: u64) -> bool {
        Dealt::is_below(*self, position, value)
    }

    #[inline]
    fn add(&self, position: usize, n: u64) {
        Dealt::add(*self, position, n, Ordering::Release);
    }

    #[inline]
    fn raise(&self, position: usize, value: u64) {
        Dealt::raise(*self, position, value);
    }
}

/// The two cells of a bucket at one position.
#[derive(Debug, Default)]
pub(super) struct BucketCell {
    /// The sum of adds through blocks: the [prefix](Self::prefix) or the [total](Self::total), as
    /// the bucket's state says.
    through_blocks: AtomicU64,
    /// The sum of all other adds to the bucket.
    pub(super) shared: AtomicU64,
}

impl BucketCell {
    /// Returns the prefix, of an open bucket that says that it has one, or of a coarse one (see
    /// `prefix`).
    #[inline]
    pub(super) fn prefix(&self) -> &AtomicU64 {
        &self.through_blocks
    }

    /// Returns what was added through the block, of a bucket that is CLOSED or is being closed.
    #[inline]
    pub(super) fn total(&self) -> &AtomicU64 {
        &self.through_blocks
    }

    /// Sets both cells to zero. Called by the thread that initialises the bucket, behind its fence.
    #[inline]
    pub(super) fn clear(&self) {
        self.through_blocks.store(0, Ordering::Relaxed);
        self.shared.store(0, Ordering::Relaxed);
    }
}

/// A unit of the memory that a bucket's cells stand in: a bucket has one for each of its groups,
/// then one for each cell that is not wide.
#[repr(C)]
pub(super) union Unit {
    wide: ManuallyDrop<Wide>,
    cell: ManuallyDrop<BucketCell>,
}

// A run of units can be read as groups, and as cells.
const _: () = assert!(size_of::<Unit>() == size_of::<BucketCell>());
const _: () = assert!(size_of::<Unit>() == size_of::<Wide>());

impl Unit {
    /// Returns the number of units of a bucket.
    pub(super) fn count(layout: BucketLayout) -> usize {
        groups(layout) + layout.cells() - layout.wide()
    }

    /// Makes the units of `buckets` buckets, all zero.
    pub(super) fn zeroed(layout: BucketLayout, buckets: usize) -> Box<[Unit]> {
        let groups = groups(layout);
        let unit = |index: usize| {
            if index < groups {
                Unit { wide: ManuallyDrop::new(Wide::new()) }
            } else {
                Unit { cell: ManuallyDrop::new(BucketCell::default()) }
            }
        };
        let count = Unit::count(layout);
        let mut units = Vec::with_capacity(buckets * count);
        for _ in 0..buckets {
            units.extend((0..count).map(unit));
        }
        units.into()
    }
}

/// All cells of a bucket, by position. Wide positions come first.
#[derive(Clone, Copy)]
pub(super) struct Cells<'r> {
    pub(super) wide: &'r [Wide],
    pub(super) dense: &'r [BucketCell],
    /// The first position that is not wide.
    pub(super) first: usize,
}

impl Cells<'_> {
    /// Returns the total at a position, Relaxed.
    #[inline]
    pub(super) fn total(self, position: usize) -> u64 {
        self.load(position, Ordering::Relaxed, Wide::totals, BucketCell::total)
    }

    /// Returns the prefix at a position, Relaxed; of a coarse bucket, also an extreme.
    #[inline]
    pub(super) fn prefix(self, position: usize) -> u64 {
        self.load(position, Ordering::Relaxed, Wide::prefixes, BucketCell::prefix)
    }

    /// Returns the shared cell at a position.
    #[inline]
    pub(super) fn shared(self, position: usize, order: Ordering) -> u64 {
        self.load(position, order, |wide| &wide.shared, |cell| &cell.shared)
    }

    #[inline]
    fn load(
        self,
        position: usize,
        order: Ordering,
        group: impl FnOnce(&Wide) -> &Sparse,
        cell: impl FnOnce(&BucketCell) -> &AtomicU64,
    ) -> u64 {
        if let Some(dense) = position.checked_sub(self.first) {
            return cell(&self.dense[dense]).load(order);
        }
        let cells = group(&self.wide[position / GROUP]).get();
        cells.map_or(0, |cells| cells[position % GROUP].load(order))
    }

    /// Stores the prefix of a coarse bucket where zero stood, Relaxed.
    pub(super) fn set_prefix(self, position: usize, prefix: u64) {
        if let Some(dense) = position.checked_sub(self.first) {
            self.dense[dense].prefix().store(prefix, Ordering::Relaxed);
        } else if prefix != 0 {
            let cells = self.wide[position / GROUP].prefixes().cells();
            cells[position % GROUP].store(prefix, Ordering::Relaxed);
        }
    }

    /// Raises an extreme of a coarse bucket, with Release. (Extremes are not wide.)
    pub(super) fn raise_extreme(self, position: usize, value: u64) {
        portable::raise_cell(self.dense[position - self.first].prefix(), value);
    }

    /// Returns a cell to a caller that writes a number other than zero to it.
    fn cell(
        &self,
        position: usize,
        group: impl FnOnce(&Wide) -> &Sparse,
        cell: impl FnOnce(&BucketCell) -> &AtomicU64,
    ) -> &AtomicU64 {
        match position.checked_sub(self.first) {
            Some(dense) => cell(&self.dense[dense]),
            None => &group(&self.wide[position / GROUP]).cells()[position % GROUP],
        }
    }

    #[inline(never)] // its code once
    fn shared_cell(&self, position: usize) -> &AtomicU64 {
        self.cell(position, |wide| &wide.shared, |cell| &cell.shared)
    }
}

/// The shared cells of a bucket.
impl Target for Cells<'_> {
    const IS_ROW: bool = false;

    fn is_below(&self, position: usize, value: u64) -> bool {
        portable::is_below(self.shared_cell(position), value)
    }

    fn add(&self, position: usize, n: u64) {
        add_to(self.shared_cell(position), n);
    }

    fn raise(&self, position: usize, value: u64) {
        portable::raise_cell(self.shared_cell(position), value);
    }
}

/// Adds to a cell that all cores share.
fn add_to(cell: &AtomicU64, n: u64) {
    // Release: pairs with the Acquire in `shared` and in `Beside`, and with the fence in
    // `identity_after`. A thread that counts this add sees what the adding thread had seen and done
    // before it; of a value, the sum and the extremes.
    cell.fetch_add(n, Ordering::Release);
}

/// Makes `count` cells, all zero.
pub(super) fn zeroed(count: usize) -> Box<[AtomicU64]> {
    (0..count).map(|_| AtomicU64::new(0)).collect()
}

/// An add: the cells of its event, and its number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Update {
    pub(super) cells: CellIndex,
    pub(super) number: u64,
}

impl Update {
    #[inline]
    pub(crate) fn new(cells: CellIndex, number: u64) -> Update {
        Update { cells, number }
    }

    /// Returns whether the add is of a value that is no part of a sum. A row takes no such value.
    pub(super) fn is_beyond_sums(self) -> bool {
        match self.cells {
            CellIndex::Value { .. } => self.number > MAX_SUMMAND,
            CellIndex::Count { .. } | CellIndex::Extreme { .. } => false,
        }
    }

    /// Puts the add into a target, which takes every value: into any but a row.
    #[inline(never)] // its code once
    pub(super) fn put<T: Target + ?Sized>(self, target: &T) {
        let _always = self.try_put(target);
    }

    /// Puts the add into a target. Returns false, without having written, if that is a row and the
    /// value is no part of a sum.
    ///
    /// The extremes of a value are raised first, and its count comes last: a reader that sees the
    /// value counted sees it in the sum and in the extremes too.
    #[inline(always)]
    #[allow(clippy::inline_always)] // of a known kind it is one instruction
    pub(super) fn try_put<T: Target + ?Sized>(self, target: &T) -> bool {
        match self.cells {
            CellIndex::Count { cell } => target.add(cell.into(), self.number),
            CellIndex::Value { pair, extremes } => {
                let (pair, extremes) = (usize::from(pair), usize::from(extremes));
                if !T::IS_ROW {
                    target.raise(extremes, self.number);
                } else if target.is_below(extremes, self.number) {
                    if self.is_beyond_sums() {
                        return false;
                    }
                    target.raise(extremes, self.number);
                }
                target.raise(extremes + 1, !self.number);
                target.add(pair + 1, if T::IS_ROW { self.number } else { summand(self.number) });
                target.add(pair, 1);
            }
            CellIndex::Extreme { cell, is_minimum } => {
                let (position, to) = raise_of(cell, is_minimum, self.number);
                target.raise(position, to);
            }
        }
        true
    }

    /// Puts the add through the columns of a block, in this thread's row, as
    /// [`try_put`](Self::try_put).
    ///
    /// # Safety
    /// `word` is the encoded column of a block of a portable strategy.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    pub(super) unsafe fn put_in_row(self, word: *mut AtomicU64) -> bool {
        // SAFETY: by contract.
        match unsafe { portable::any(word) } {
            Mine::Leased(cells) => self.try_put(&cells),
            Mine::Dealt(cells) => self.try_put(&cells),
        }
    }
}
