//! A window's blocks and buckets, and taking one for a slice of time.

use std::collections::HashMap;
use std::ptr::from_ref;

use crate::event::layout::BucketLayout;
use crate::ring::cells::Cells;
use crate::ring::order::bucket::{Bucket, CLOSED, OPEN, Opening};
use crate::ring::order::bucket_ref::BucketRef;
use crate::ring::store::block::Block;
use crate::ring::store::blocks::{BLOCKS, Blocks};
use crate::ring::store::slab::Slab;
use crate::stripe::Strategy;

pub(super) mod block;
pub(super) mod blocks;
pub(super) mod number;
pub(super) mod slab;

/// How many buckets without a block there are before each more says that threads stand still.
const BLOCKLESS: usize = 8;

#[derive(Debug)]
pub(super) struct Store {
    pub(super) layout: BucketLayout,
    pub(super) blocks: Blocks,
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
        Store {
            layout,
            blocks: Blocks::new(layout, strategy),
            // Beside those in the slots, some are retired and not closed, and one is being opened.
            with_block: Slab::new(slots.saturating_add(BLOCKS + 1)),
            without_block: Slab::new(BLOCKLESS.saturating_add(coarse)),
        }
    }

    /// A bucket with a free block, if there is one or room for one. `mark` writes its mark, a part of which stands with the
    /// block: when it is the bucket's own, and before the bucket is open. A closer that finds the bucket there, and takes it for a retired
    /// one, leaves it alone until then: its totals stand where the mark is.
    pub(super) fn open(
        &self,
        opening: &Opening<'_>,
        mark: impl FnOnce(&Bucket, &Block),
    ) -> &Bucket {
        let mut free = self.blocks.free();
        if free.is_some() {
            let bucket = self.take(&self.with_block, opening);
            while let Some((index, block)) = free {
                bucket.attach_block(index, block.word(), opening.length());
                if block.try_own(bucket) {
                    mark(bucket, block);
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

    /// A bucket that counts in its shared cells.
    pub(super) fn open_without_block(&self, opening: &Opening<'_>, state: u64) -> &Bucket {
        let bucket = self.take(&self.without_block, opening);
        bucket.end_init(state);
        bucket
    }

    /// A bucket of a slab, whose initialisation is begun.
    fn take<'r>(&'r self, slab: &'r Slab, opening: &Opening<'_>) -> &'r Bucket {
        let bucket = slab.take(self.layout, |bucket| opening.evict(bucket));
        // SAFETY: all buckets have this layout.
        unsafe { bucket.begin_init(self.layout, opening) };
        bucket
    }

    /// A bucket's cells, by position.
    #[inline]
    pub(super) fn cells<'r>(&self, bucket: &'r Bucket) -> Cells<'r> {
        // SAFETY: all buckets have this layout.
        unsafe { bucket.cells(self.layout) }
    }

    /// Gives up a bucket that was not made current.
    ///
    /// No thread has written to its block. But a closer may have found the bucket there, and taken it for a
    /// retired one: then the closer frees the block.
    pub(super) fn discard(&self, bucket: &Bucket) {
        if let Some(block) = self.block_of(bucket)
            && bucket.cancel()
        {
            block.disown(bucket);
        }
        bucket.references.release(); // for the slot, which will never hold it
    }

    /// The block that a bucket counts in, or has counted in.
    #[inline]
    pub(super) fn block_of(&self, bucket: &Bucket) -> Option<&Block> {
        self.blocks.get(bucket.block()?)
    }

    /// Each block that has an owner, and that.
    pub(super) fn owners(&self) -> impl Iterator<Item = (&Block, BucketRef<'_>)> {
        // SAFETY: a store lives in its window, as the blocks' owners do.
        self.blocks.iter().filter_map(|block| Some((block, unsafe { block.owner() }?)))
    }

    /// Whether each bucket has exactly the references of the slots that it is in, which are given, and of
    /// the blocks that it owns.
    pub(super) fn references_are_accounted_for<'r>(
        &'r self,
        in_slots: impl Iterator<Item = &'r Bucket>,
    ) -> bool {
        let mut expected = HashMap::new();
        let owners = self.blocks.iter().map(Block::owner_address);
        for bucket in in_slots.map(from_ref).chain(owners) {
            *expected.entry(bucket).or_insert(0) += 1;
        }
        self.with_block.buckets().chain(self.without_block.buckets()).all(|bucket| {
            bucket.references.is(expected.get(&from_ref(bucket)).copied().unwrap_or(0))
        })
    }
}

/// Frees what buckets have taken for wide cells; the slabs free the rest.
impl Drop for Store {
    fn drop(&mut self) {
        for bucket in self.with_block.buckets().chain(self.without_block.buckets()) {
            for wide in self.cells(bucket).wide {
                // SAFETY: `&mut self`: no other thread is in the window.
                unsafe { wide.free() };
            }
        }
    }
}
