//! The memory of a window, from which buckets and blocks come, and the numbers in it. This room may
//! use `cells` and `order`. Start here, then read `block`, `blocks` and `slab`.

use std::collections::HashMap;
use std::ops::Range;
use std::ptr::from_ref;

use crate::arena::rows;
use crate::event::layout::BucketLayout;
use crate::ring::cells::wide::{GROUP, Sparse, by_group};
use crate::ring::cells::{Cells, Update};
use crate::ring::order::bucket::{Bucket, CLOSED, OPEN};
use crate::ring::order::bucket_ref::BucketRef;
use crate::ring::order::geometry::Geometry;
use crate::ring::order::level::{self, Level};
use crate::ring::order::opening::Opening;
use crate::ring::order::slots::Lookup;
use crate::ring::order::tier::Tier;
use crate::ring::store::block::Block;
use crate::ring::store::blocks::{BLOCKS, Blocks};
use crate::ring::store::slab::Slab;
use crate::stripe::Strategy;
use crate::sync::Ordering;

pub(super) mod block;
mod blocks;
pub(super) mod slab;

/// The number of buckets without a block up to which their slab does not take it that threads have
/// stalled.
const BLOCKLESS: usize = 8;

#[derive(Debug)]
pub(super) struct Store {
    pub(super) layout: BucketLayout,
    pub(super) blocks: Blocks,
    /// Buckets that count in blocks.
    with_block: Slab,
    /// Buckets that never do. An add that has loaded one from `current` goes elsewhere, whatever
    /// the memory was reused for. So these may be reused without a grace period.
    without_block: Slab,
    /// The memory of each tier.
    pub(super) tiers: Box<[OfTier]>,
    /// See [`Store::number_of_value`]; `None` in a window of counts alone.
    pub(super) number_of_value: Option<fn(&Store, &Bucket, usize) -> u64>,
}

/// The memory of a tier, and of the tier that takes its place after a `clear`.
#[derive(Debug)]
pub(super) struct OfTier {
    pub(super) geometry: Geometry,
    /// The buckets of each level, which count in no block either. A level has a slab of its own,
    /// because a search takes no bucket of another ring out of its slot.
    slabs: Box<[Slab]>,
}

impl OfTier {
    pub(super) fn new(geometry: Geometry) -> OfTier {
        let slab = |level: Geometry| Slab::new(level.buckets().saturating_add(2));
        OfTier { geometry, slabs: level::geometries(geometry).map(slab).collect() }
    }
}

impl Store {
    /// Makes a store for a first ring of `slots` slots, and tiers with these slabs.
    pub(super) fn new(
        layout: BucketLayout,
        strategy: Strategy,
        slots: usize,
        tiers: Box<[OfTier]>,
    ) -> Store {
        Store {
            layout,
            blocks: Blocks::new(layout, strategy),
            // Besides those in the slots, some are retired and not closed, and one is being opened.
            with_block: Slab::new(slots.saturating_add(BLOCKS + 1)),
            without_block: Slab::new(BLOCKLESS),
            tiers,
            number_of_value: None,
        }
    }

    /// Opens a bucket, with a free block if there is one or columns for one. `prefix` writes the
    /// bucket's prefix, a part of which stands with the block: when the block is the bucket's own,
    /// and before the bucket is open. A closer that finds the bucket there, and takes it for a
    /// retired one, leaves it alone until then: its totals stand where the prefix is.
    pub(super) fn open(&self, opening: &Opening<'_>, prefix: &dyn Fn(&Bucket, &Block)) -> &Bucket {
        let mut free = self.blocks.free();
        if free.is_some() {
            let bucket = self.take(&self.with_block, opening);
            while let Some((index, block)) = free {
                bucket.attach_block(index, block.word(), opening.length());
                if block.try_own(bucket) {
                    // Release: the block was free, and so its last owner retired. A reader that
                    // takes the interval for that owner's sees the retirement: pairs with the fence
                    // in `is_current`.
                    block.interval().store(opening.interval(), Ordering::Release);
                    prefix(bucket, block);
                    bucket.end_init(OPEN);
                    return bucket;
                }
                bucket.detach_block();
                free = self.blocks.free();
            }
            bucket.end_init(CLOSED);
            bucket.references.release();
        }
        self.open_without_block(opening, OPEN)
    }

    /// Opens a bucket that counts in its shared cells.
    pub(super) fn open_without_block(&self, opening: &Opening<'_>, state: u64) -> &Bucket {
        let bucket = self.take(&self.without_block, opening);
        bucket.end_init(state);
        bucket
    }

    /// Returns the coarse bucket of a time, and opens it if there is none; `None` if it has left
    /// the tier, whose newest bucket is that of `newest`.
    pub(super) fn coarse_bucket<'r>(
        &'r self,
        tier: &'r Tier,
        at: u64,
        newest: u64,
    ) -> Option<BucketRef<'r>> {
        self.slice(&tier.coarse, at, newest)
    }

    /// Returns the slice of a time in a level of a tier, as `coarse_bucket` does.
    fn slice<'r>(&'r self, level: &'r Level, at: u64, newest: u64) -> Option<BucketRef<'r>> {
        let geometry = level.slots.geometry;
        let (start, newest) = (geometry.start_of(at), geometry.start_of(newest));
        if !geometry.in_ring(start, newest) {
            return None;
        }
        loop {
            // SAFETY: a tier lives in its window, as its buckets do.
            match unsafe { level.slots.find(start) } {
                Lookup::Found(bucket) => return Some(bucket),
                Lookup::Left { .. } => return None,
                Lookup::Free(older) => {
                    let opening = &Opening::coarse(start, level, newest);
                    let new = self.take(&self.tiers[level.place.0].slabs[level.place.1], opening);
                    new.end_init(OPEN);
                    if !level.slots.slot_at(start).replace(&older, new) {
                        new.references.release(); // it will never be in a slot
                    }
                }
            }
        }
    }

    /// Calls `put` with the slices of a time in all levels of a tier, its coarse bucket first; with
    /// none if that has left the tier, whose newest bucket is that of `newest`.
    pub(super) fn each_slice(
        &self,
        tier: &Tier,
        at: u64,
        newest: u64,
        mut put: impl FnMut(&Bucket),
    ) {
        for level in tier.levels() {
            let Some(slice) = self.slice(level, at, newest) else { return };
            put(&slice);
        }
    }

    /// Counts `update` in each tier that reaches back to its time.
    pub(super) fn put_in_tiers(&self, tiers: &[Tier], at: u64, newest: u64, update: Update) {
        for tier in tiers {
            self.put_in_tier(tier, at, newest, update);
        }
    }

    /// Counts `update` in the shared cells of the slices of a time.
    fn put_in_tier(&self, tier: &Tier, at: u64, newest: u64, update: Update) {
        tier.touch(at);
        self.each_slice(tier, at, newest, |slice| update.put(&self.cells(slice)));
    }

    /// Takes a bucket from a slab, and begins its initialisation.
    fn take<'r>(&'r self, slab: &'r Slab, opening: &Opening<'_>) -> &'r Bucket {
        let bucket = slab.take(self.layout, |bucket| opening.evict(bucket));
        // SAFETY: all buckets have this layout.
        unsafe { bucket.begin_init(self.layout, opening) };
        bucket
    }

    /// Returns the cells of a bucket, by position.
    #[inline]
    pub(super) fn cells<'r>(&self, bucket: &'r Bucket) -> Cells<'r> {
        // SAFETY: all buckets have this layout.
        unsafe { bucket.cells(self.layout) }
    }

    /// Gives up a bucket that was not made current.
    ///
    /// No thread has written to its block. But a closer may have found the bucket there, and taken
    /// it for a retired one: then the closer frees the block.
    pub(super) fn discard(&self, bucket: &Bucket) {
        if let Some(block) = self.block_of(bucket)
            && bucket.cancel()
        {
            block.disown(bucket);
        }
        bucket.references.release(); // for the slot, which will never hold it
    }

    /// Returns the block that a bucket counts in, or has counted in.
    #[inline]
    pub(super) fn block_of(&self, bucket: &Bucket) -> Option<&Block> {
        self.blocks.get(bucket.block()?)
    }

    /// Returns the number of a bucket at a position: what was added through its block, which is a
    /// difference of the block's sums while the bucket is open, and its total afterwards; and what
    /// was added to its shared cells.
    #[inline(always)]
    #[allow(clippy::inline_always)] // a sum of many buckets is a loop around this
    pub(super) fn number(&self, bucket: &Bucket, position: usize) -> u64 {
        if !self.layout.is_of_count(position) {
            return self.number_of_value.map_or(0, |number| number(self, bucket, position));
        }
        // SAFETY: the position of a `Count` event is one of the layout's, and not wide.
        let cell = unsafe { bucket.cell(position) };
        let total = || cell.total().load(Ordering::Relaxed);
        let difference = |block: &Block| block.difference_of_count(position);
        let through_block = self.through_block(bucket, difference, total);
        // Acquire: pairs with the Release in `Target::add`.
        through_block.wrapping_add(cell.shared.load(Ordering::Acquire))
    }

    /// Returns the number of a bucket at a position of another event than a count. (By a pointer:
    /// so a `Count` does not pay for its registers, nor a window of counts for its code.)
    pub(super) fn number_of_value(&self, bucket: &Bucket, position: usize) -> u64 {
        let (cells, difference) = (self.cells(bucket), |block: &Block| block.difference(position));
        let through_block = self.through_block(bucket, difference, || cells.total(position));
        // Acquire: as above.
        let shared = cells.shared(position, Ordering::Acquire);
        self.layout.join(position, through_block, shared)
    }

    /// Returns what a bucket holds at two extremes of the same pairs.
    #[inline(never)] // as above
    pub(super) fn extremes(&self, bucket: &Bucket, extremes: [usize; 2]) -> [u64; 2] {
        let cells = self.cells(bucket);
        let total = || extremes.map(|position| cells.total(position));
        let through_block = self.through_block(bucket, |block| block.extremes(extremes), total);
        // Acquire: as above.
        let shared = extremes.map(|position| cells.shared(position, Ordering::Acquire));
        rows::greater(through_block, shared)
    }

    /// Returns what was added through a bucket's block: `difference` while the bucket is open,
    /// `total` when it is closed.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    fn through_block<T>(
        &self,
        bucket: &Bucket,
        difference: impl FnOnce(&Block) -> T,
        total: impl FnOnce() -> T,
    ) -> T
    where
        T: Default,
    {
        if !bucket.is_closed() {
            let Some(block) = self.block_of(bucket) else {
                return T::default();
            };
            let difference = difference(block);
            // The closer publishes CLOSED before it changes the base or the extremes, and before
            // the next owner adds: a difference that contains any of that is followed by CLOSED
            // here.
            if !bucket.is_closed() {
                return difference;
            }
        }
        total() // final: CLOSED was seen with Acquire
    }

    /// Calls `see` with the positions of these wide pairs at which a bucket holds something, and
    /// the numbers there. Of a pair, the count is read first.
    pub(super) fn each_number(
        &self,
        bucket: &Bucket,
        pairs: Range<usize>,
        mut see: impl FnMut(usize, u64),
    ) {
        let cells = self.cells(bucket);
        for range in by_group(pairs) {
            let wide = &cells.wide[range.start / GROUP];
            if bucket.is_closed() && wide.shared.get().is_none() {
                // The ordinary case, which needs no copies. Relaxed: the totals are final, and
                // CLOSED was seen with Acquire. Without shared cells, nothing was added beside the
                // block before this read.
                let Some(totals) = wide.totals().get() else { continue };
                let totals = &totals[range.start % GROUP..][..range.len()];
                for (pair, totals) in range.step_by(2).zip(totals.as_chunks::<2>().0) {
                    let [count, sum] = totals.each_ref().map(|total| total.load(Ordering::Relaxed));
                    if count > 0 {
                        see(pair, count);
                    }
                    if sum > 0 {
                        see(pair + 1, sum);
                    }
                }
                continue;
            }
            let of = |group: &Sparse, order| {
                let cells = &group.get()?[range.start % GROUP..][..range.len()];
                let mut numbers = [0; GROUP];
                rows::merge(&mut numbers[..range.len()], cells, order, u64::wrapping_add);
                Some(numbers)
            };
            let difference = |block: &Block| {
                let mut numbers = [0; GROUP];
                block.add_differences(&range, &mut numbers[..range.len()]);
                BucketLayout::pairs_without_pending(&mut numbers);
                Some(numbers)
            };
            // Relaxed and Acquire: as above.
            let through_block =
                self.through_block(bucket, difference, || of(wide.totals(), Ordering::Relaxed));
            let shared = of(&wide.shared, Ordering::Acquire);
            if through_block.is_none() && shared.is_none() {
                continue;
            }
            let numbers = through_block.unwrap_or_default().into_iter();
            for (position, (one, other)) in range.zip(numbers.zip(shared.unwrap_or_default())) {
                let number = one.wrapping_add(other);
                if number > 0 {
                    see(position, number);
                }
            }
        }
    }

    /// Returns the blocks that have an owner, with their owners.
    pub(super) fn owners(&self) -> impl Iterator<Item = (&Block, BucketRef<'_>)> {
        // SAFETY: a store lives in its window, as the blocks' owners do.
        self.blocks.iter().filter_map(|block| Some((block, unsafe { block.owner() }?)))
    }

    /// Returns all buckets.
    fn buckets(&self) -> impl Iterator<Item = &Bucket> {
        let of_tiers = self.tiers.iter().flat_map(|tier| &tier.slabs);
        [&self.with_block, &self.without_block].into_iter().chain(of_tiers).flat_map(Slab::buckets)
    }

    /// Returns whether each bucket has exactly the references of the slots that it is in, which are
    /// given, and of the blocks that it owns.
    pub(super) fn references_are_accounted_for<'r>(
        &'r self,
        in_slots: impl Iterator<Item = &'r Bucket>,
    ) -> bool {
        let mut expected = HashMap::new();
        let owners = self.blocks.iter().map(Block::owner_address);
        for bucket in in_slots.map(from_ref).chain(owners) {
            *expected.entry(bucket).or_insert(0) += 1;
        }
        self.buckets().all(|bucket| {
            bucket.references.is(expected.get(&from_ref(bucket)).copied().unwrap_or(0))
        })
    }
}

/// Frees what buckets have taken for wide cells; the slabs free the rest.
impl Drop for Store {
    fn drop(&mut self) {
        for bucket in self.buckets() {
            for wide in self.cells(bucket).wide {
                // SAFETY: `&mut self`: no other thread is in the window.
                unsafe { wide.free() };
            }
        }
    }
}
