//! Blocks: sets of columns that buckets own in turn.
//!
//! The additive cells of a block only ever grow. The owner counts from `base`, the sums that it
//! found; when the owner closes, the difference becomes its totals, and the new sums become the
//! next owner's base. Nothing is reset, no number moves, and the sum of all blocks is what was ever
//! added to them. Extremes cannot be differences: they are reset when the block is quiescent, after
//! the window has kept them for its lifetime.
//!
//! # A window's blocks
//!
//! A block is made when a rotation finds no other free, and lives as long as the window. A window
//! that is added to now and then has two blocks. A window whose buckets are held up, by a grace
//! period or a stalled thread, has up to four, and from then on makes none. No thread waits for
//! another's block: of two threads that make the same one, the slower gives its own back, and looks
//! whether the other's is free. If the arena has no columns, the next rotation that needs a block
//! tries again; until then the bucket is unstriped.
//!
//! # Why a sum sees every block that it must
//!
//! A block is published before the bucket that is its first owner becomes current. A thread adds
//! through a block that its bucket names. So a reader that has seen the bucket (by `current`, by a
//! slot, or because an add to it has happened before) sees the block here. A block that a reader
//! does not see belongs to a later bucket, whose adds the reader may leave out: a sum at once
//! checks afterwards, by `current`, that there is none. Blocks are never taken away, so a lifetime
//! never goes back.

use std::ptr::{from_ref, null_mut};

use crate::arena::{arena, rows};
use crate::event::layout::BucketLayout;
use crate::memory::column::Column;
use crate::ring::cells::zeroed;
use crate::ring::order::bucket::Bucket;
use crate::ring::order::bucket_ref::{BucketPtr, BucketRef};
use crate::stripe::live_bucket::PENDING;
use crate::stripe::{Strategy, portable};
use crate::sync::{AtomicPtr, AtomicU64, Ordering, Witness, alike, sized};

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
    /// The sums when the owner took over; zero for extremes. Behind them, the owner's prefix at
    /// wide positions (see `prefix`).
    base: Box<[AtomicU64]>,
    witness: Witness,
}

impl Block {
    /// Makes a free block for adds by `strategy`; `None` if the arena has no columns left.
    pub(in crate::ring) fn claim(layout: BucketLayout, strategy: Strategy) -> Option<Block> {
        let column = arena().claim(columns(layout, strategy))?;
        let (owner, base) = (BucketPtr::new(null_mut()), zeroed(layout.cells() + layout.wide()));
        let interval = AtomicU64::new(0);
        Some(Block { column, strategy, layout, owner, interval, base, witness: Witness::new() })
    }

    /// Checks, in models, that the making of the block happened before.
    #[inline]
    pub(in crate::ring) fn check(&self) {
        self.witness.check();
    }

    /// Returns the first column, as a [`LiveBucket`] has it.
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
            self.layout.without_pending(position, rows::sum(self.column.right(position)))
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

    /// Returns what the present owner has counted in a `Count` event's cell: the ordinary case of a
    /// read. In another additive cell, of records, modulo 2^63.
    #[inline]
    pub(in crate::ring) fn difference_of_count(&self, position: usize) -> u64 {
        rows::sum(self.column.right(position)).wrapping_sub(self.base(position))
    }

    /// Returns what all owners have counted in an additive cell, with one load if the block is
    /// free. Of records, modulo 2^63.
    #[inline]
    pub(in crate::ring) fn present_sum(&self, position: usize) -> u64 {
        if self.is_at_rest() { self.base(position) } else { rows::sum(self.column.right(position)) }
    }

    /// Returns the sum when the owner took over; of a free block, the sum. To be called after the
    /// rows are read.
    #[inline]
    pub(in crate::ring) fn base(&self, position: usize) -> u64 {
        // Acquire: pairs with the Release in `rebase`. A reader of the next base sees CLOSED too.
        self.base[position].load(Ordering::Acquire)
    }

    /// Adds what all owners have counted at wide positions from `first` on to `numbers`: of records
    /// modulo 2^63. In each row, the count of a pair is read before its sum.
    pub(in crate::ring) fn add_sums(&self, first: usize, numbers: &mut [u64]) {
        rows::add_up(self.column.right(first), numbers);
    }

    /// Adds what the present owner has counted at wide positions from `first` on to `numbers`:
    /// group by group, as [`difference`](Self::difference), of records modulo 2^63.
    pub(in crate::ring) fn add_differences(&self, first: usize, numbers: &mut [u64]) {
        rows::add_up(self.column.right(first), numbers);
        self.take_off_bases(first, numbers);
    }

    /// Adds what the present owner has counted at wide positions from `first` on to `totals`, which
    /// are zeros, as [`add_differences`](Self::add_differences). Called by its closer. Returns
    /// whether a value may be pending there.
    pub(in crate::ring) fn add_totals(&self, first: usize, totals: &mut [u64]) -> bool {
        let bits = rows::add_up(self.column.right(first), totals);
        // A count goes back to zero after 2^63 records. So where all sums are zero, none was ever
        // recorded, and the base is zero.
        if totals.iter().fold(0, |all, total| all | total) != 0 {
            self.take_off_bases(first, totals);
            BucketLayout::pairs_without_pending(totals);
        }
        bits & PENDING != 0
    }

    /// Subtracts the sums when the owner took over, at wide positions from `first` on, from
    /// `numbers`, as [`base`](Self::base).
    fn take_off_bases(&self, first: usize, numbers: &mut [u64]) {
        let base = &self.base[first..first + numbers.len()];
        rows::merge(numbers, base, Ordering::Acquire, u64::wrapping_sub); // as in `base`
    }

    /// Returns whether no bucket owns the block. Then its base is what all owners have counted.
    #[inline]
    pub(in crate::ring) fn is_at_rest(&self) -> bool {
        // Acquire: pairs with the Release in `disown`: the base is the sum.
        self.owner.load(Ordering::Acquire).is_null()
    }

    /// Adds the sums when the owner took over, at wide positions from `first` on, to `numbers`, as
    /// [`base`](Self::base).
    pub(in crate::ring) fn add_bases(&self, first: usize, numbers: &mut [u64]) {
        let base = &self.base[first..first + numbers.len()];
        rows::merge(numbers, base, Ordering::Acquire, u64::wrapping_add); // as in `base`
    }

    /// Returns the prefixes of the present owner at all wide positions.
    pub(in crate::ring) fn prefixes(&self) -> &[AtomicU64] {
        &self.base[self.layout.cells()..]
    }

    /// Subtracts the owner's prefixes at wide positions from `first` on from `numbers`, and adds
    /// the bases of another block, if there is one, as [`add_bases`](Self::add_bases).
    pub(in crate::ring) fn take_off_prefixes(
        &self,
        bases_of: Option<&Block>,
        first: usize,
        numbers: &mut [u64],
    ) {
        let prefixes = &self.prefixes()[first..first + numbers.len()];
        match bases_of {
            Some(block) => {
                let bases = &block.base[first..first + numbers.len()];
                // Acquire: as in `base`. Relaxed: before the fence in `is_current`.
                rows::add_difference(numbers, bases, prefixes);
            }
            // Relaxed: as above.
            None => rows::merge(numbers, prefixes, Ordering::Relaxed, u64::wrapping_sub),
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

    /// Prepares a cell for the next owner: the sum, `total` more than the base, becomes the base;
    /// an extreme is reset.
    ///
    /// Called by the closer of a quiescent bucket, after it has published CLOSED: a reader in the
    /// middle of a difference that sees any of this must see CLOSED.
    pub(in crate::ring) fn rebase(&self, position: usize, total: u64) {
        let column = self.column.right(position);
        if self.layout.counts_records(position) {
            rows::forget_pending(column);
        }
        if self.layout.adds_up(position) {
            self.raise_base(position, total);
        } else {
            // Release: pairs with the Acquire in `rows::value`, and in `rows::extremes`.
            rows::reset(column, Ordering::Release);
        }
    }

    /// Prepares wide pairs from `first` on for the next owner, as [`rebase`](Self::rebase). Values
    /// may be `pending` in some of them.
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
            self.raise_base(pair, count);
            self.raise_base(pair + 1, sum);
        }
    }

    /// Adds the owner's total to the base.
    fn raise_base(&self, position: usize, total: u64) {
        let sum = self.base(position).wrapping_add(total);
        // Release: pairs with the Acquire in `base`.
        self.base[position].store(self.layout.without_pending(position, sum), Ordering::Release);
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

/// The greatest number of blocks: one for the live bucket, one to move on to, and two for retired
/// buckets that wait for a grace period.
pub(in crate::ring) const BLOCKS: usize = sized(4, 2);

#[derive(Debug)]
pub(in crate::ring) struct Blocks {
    layout: BucketLayout,
    strategy: Strategy,
    /// In the order in which they were made; null behind the last.
    made: [AtomicPtr<Block>; BLOCKS],
}

impl Blocks {
    /// Makes an empty list: blocks are made when they are needed.
    pub(in crate::ring) fn new(layout: BucketLayout, strategy: Strategy) -> Blocks {
        Blocks { layout, strategy, made: alike![AtomicPtr::new(null_mut()); BLOCKS] }
    }

    /// Returns all blocks, in the order of their numbers.
    #[inline]
    pub(in crate::ring) fn iter(&self) -> impl Iterator<Item = &Block> {
        self.made.iter().map_while(follow)
    }

    /// Returns the block with a number, if there is one.
    #[inline]
    pub(in crate::ring) fn get(&self, number: usize) -> Option<&Block> {
        follow(self.made.get(number)?)
    }

    /// Returns a block that was free a moment ago, or has just been made, and its number. `None` if
    /// no block is free and none can be made.
    pub(in crate::ring) fn free(&self) -> Option<(usize, &Block)> {
        for number in 0..BLOCKS {
            let block = match self.get(number) {
                Some(block) => block,
                None => self.make(number)?,
            };
            if block.is_free() {
                return Some((number, block));
            }
        }
        None
    }

    /// Makes the block with a number, unless another thread does; `None` if the arena has no
    /// columns for it.
    #[cold]
    fn make(&self, number: usize) -> Option<&Block> {
        let new = Box::into_raw(Box::new(Block::claim(self.layout, self.strategy)?));
        // Release: publishes the block; pairs with the Acquire in `follow`. Acquire on failure: as
        // there.
        let (order, failed) = (Ordering::Release, Ordering::Acquire);
        let made = self.made[number].compare_exchange(null_mut(), new, order, failed);
        let block = made.map_or_else(
            |theirs| {
                // SAFETY: made above, and not published.
                drop(unsafe { Box::from_raw(new) });
                theirs
            },
            |_| new,
        );
        // SAFETY: it lives as long as the window.
        unsafe { block.as_ref() }
    }
}

#[inline]
fn follow(made: &AtomicPtr<Block>) -> Option<&Block> {
    // SAFETY: null, or a block that lives as long as the window. Acquire: pairs with the Release in
    // `make`.
    let block = unsafe { made.load(Ordering::Acquire).as_ref() }?;
    block.check();
    Some(block)
}

impl Drop for Blocks {
    fn drop(&mut self) {
        for made in &self.made {
            // Relaxed: `&mut self`: no other thread is there, and all that was done comes before.
            let block = made.load(Ordering::Relaxed);
            if !block.is_null() {
                // SAFETY: no other thread is there; made by `Box::into_raw`, and published once.
                drop(unsafe { Box::from_raw(block) });
            }
        }
    }
}
