//! A window's blocks and buckets, and taking one for a slice of time.

use std::collections::HashMap;
use std::ptr::from_ref;

use crate::event::layout::BucketLayout;
use crate::reclaim::Shared;
use crate::ring::block::Block;
use crate::ring::bucket::{Bucket, CLOSED, OPEN, Opening};
use crate::ring::bucket_ref::BucketRef;
use crate::ring::generation::Generation;
use crate::ring::slab::Slab;
use crate::stripe::Strategy;
use crate::sync::sized;

/// One for the live bucket, one to move on to, and as many again for retired buckets that wait for a grace
/// period.
pub(super) const BLOCKS: usize = sized(4, 2);

/// How many buckets without a block are made when the first is needed. That is seldom.
const BLOCKLESS_AT_FIRST: usize = sized(8, 1);

#[derive(Debug)]
pub(super) struct Store {
    pub(super) layout: BucketLayout,
    pub(super) blocks: Box<[Block]>,
    /// Buckets that count in blocks.
    with_block: Slab,
    /// Buckets that never do. An add that has loaded one from `current` goes elsewhere, whatever
    /// it was reused for. So these may be reused without a grace period.
    without_block: Slab,
}

impl Store {
    /// For so many slots of the first ring, and so many coarse buckets of tiers.
    pub(super) fn new(
        layout: BucketLayout,
        strategy: Strategy,
        slots: usize,
        coarse: usize,
    ) -> Store {
        // Beside those in the slots, some are retired and not closed, and one is being opened.
        let at_first = sized(slots.saturating_add(BLOCKS + 1), 1);
        Store {
            layout,
            blocks: (0..BLOCKS).map_while(|_| Block::claim(layout, strategy)).collect(),
            with_block: Slab::new(layout, at_first),
            without_block: Slab::new(layout, BLOCKLESS_AT_FIRST.saturating_add(coarse)),
        }
    }

    /// A bucket for the slice at `start`, with a free block if there is one. `mark` writes the mark of a bucket
    /// that may get a block: before that, because a closer may find the bucket there, take it for a retired one,
    /// and write its totals in the same place.
    pub(super) fn open(
        &self,
        generation: Shared<'_, Generation>,
        start: u64,
        mark: impl FnOnce(&Bucket),
    ) -> &Bucket {
        if self.blocks.iter().any(Block::is_free) {
            let bucket = self.with_block.take();
            bucket.begin_init(&Opening::fine(generation, start));
            mark(bucket);
            // SAFETY: as in `Opening::fine`.
            let length = unsafe { generation.deref() }.geometry().length_at(start);
            for (index, block) in
                self.blocks.iter().enumerate().filter(|(_, block)| block.is_free())
            {
                bucket.attach_block(index, block.word(), length);
                if block.try_own(bucket) {
                    bucket.end_init(OPEN);
                    return bucket;
                }
                bucket.detach_block();
            }
            bucket.end_init(CLOSED);
            bucket.references.release();
        }
        self.open_without_block(&Opening::fine(generation, start), OPEN)
    }

    /// A bucket that counts in its shared cells.
    pub(super) fn open_without_block(&self, opening: &Opening<'_>, state: u64) -> &Bucket {
        let bucket = self.without_block.take();
        bucket.begin_init(opening);
        bucket.end_init(state);
        bucket
    }

    /// Gives up a bucket that was not made current.
    ///
    /// No thread has written to its block. But a closer may have found the bucket there, and taken it for a
    /// retired one: then the closer frees the block.
    pub(super) fn discard(&self, bucket: &Bucket) {
        if let Some(index) = bucket.block()
            && bucket.cancel()
        {
            self.blocks[index].disown(bucket);
        }
        bucket.references.release(); // for the slot, which will never hold it
    }

    /// The owner of a block.
    pub(super) fn owner(&self, index: usize) -> Option<BucketRef<'_>> {
        // SAFETY: a store lives in its window, as the blocks' owners do.
        unsafe { self.blocks[index].owner() }
    }

    /// Whether each bucket has exactly the references of the slots that it is in, which are given, and of
    /// the blocks that it owns.
    pub(super) fn references_are_accounted_for(
        &self,
        in_slots: impl Iterator<Item = *const Bucket>,
    ) -> bool {
        let mut expected = HashMap::new();
        for bucket in in_slots.chain(self.blocks.iter().map(Block::owner_address)) {
            *expected.entry(bucket).or_insert(0) += 1;
        }
        self.with_block.buckets().chain(self.without_block.buckets()).all(|bucket| {
            bucket.references.is(expected.get(&from_ref(bucket)).copied().unwrap_or(0))
        })
    }
}
