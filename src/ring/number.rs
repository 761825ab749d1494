//! What a bucket holds at a position: what was added through its block, and to its shared cells.
//!
//! While the bucket is open, the first is a difference of its block's sums; afterwards it is its total.

use crate::ring::block::Block;
use crate::ring::bucket::Bucket;
use crate::ring::store::Store;
use crate::sync::Ordering;

impl Store {
    /// What a bucket holds at a position.
    #[inline(always)]
    #[allow(clippy::inline_always)] // a sum of many buckets is a loop around this
    pub(super) fn number(&self, bucket: &Bucket, position: usize) -> u64 {
        if !self.layout.is_of_count(position) {
            return self.number_of_value(bucket, position);
        }
        let through_block = self.through_block(bucket, position, Block::difference_of_count);
        through_block.wrapping_add(shared(bucket, position))
    }

    #[inline(never)] // a `Count` must not pay for its registers
    fn number_of_value(&self, bucket: &Bucket, position: usize) -> u64 {
        let through_block = self.through_block(bucket, position, Block::difference);
        self.layout.join(position, through_block, shared(bucket, position))
    }

    /// What was added through a bucket's block: `difference` tells while the bucket is open.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    fn through_block(
        &self,
        bucket: &Bucket,
        position: usize,
        difference: impl FnOnce(&Block, usize) -> u64,
    ) -> u64 {
        if !bucket.is_closed() {
            let Some(block) = self.block_of(bucket) else {
                return 0;
            };
            let difference = difference(block, position);
            // The closer publishes CLOSED before it touches the base or the extremes, and before the
            // next owner adds: a difference that has any of that is followed by CLOSED here.
            if !bucket.is_closed() {
                return difference;
            }
        }
        bucket.cells()[position].total.load(Ordering::Relaxed) // final: CLOSED was seen with Acquire
    }
}

/// What was added other than through the block.
#[inline]
fn shared(bucket: &Bucket, position: usize) -> u64 {
    // Acquire: pairs with the Release in `Target::add`.
    bucket.cells()[position].shared.load(Ordering::Acquire)
}
