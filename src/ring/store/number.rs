//! What a bucket holds at a position: what was added through its block, and to its shared cells.
//!
//! While the bucket is open, the first is a difference of its block's sums; afterwards it is its total.

use std::ops::Range;

use crate::arena::rows;
use crate::event::layout::BucketLayout;
use crate::ring::cells::wide::{GROUP, Sparse, by_group};
use crate::ring::order::bucket::Bucket;
use crate::ring::store::Store;
use crate::ring::store::block::Block;
use crate::sync::Ordering;

impl Store {
    /// What a bucket holds at a position.
    #[inline(always)]
    #[allow(clippy::inline_always)] // a sum of many buckets is a loop around this
    pub(in crate::ring) fn number(&self, bucket: &Bucket, position: usize) -> u64 {
        if !self.layout.is_of_count(position) {
            return self.number_of_value(bucket, position);
        }
        // SAFETY: a `Count` event's is one of the layout's, and not wide.
        let cell = unsafe { bucket.cell(position) };
        let total = || cell.total.load(Ordering::Relaxed);
        let difference = |block: &Block| block.difference_of_count(position);
        let through_block = self.through_block(bucket, difference, total);
        // Acquire: pairs with the Release in `Target::add`.
        through_block.wrapping_add(cell.shared.load(Ordering::Acquire))
    }

    #[inline(never)] // a `Count` must not pay for its registers
    fn number_of_value(&self, bucket: &Bucket, position: usize) -> u64 {
        let (cells, difference) = (self.cells(bucket), |block: &Block| block.difference(position));
        let through_block = self.through_block(bucket, difference, || cells.total(position));
        // Acquire: as above.
        let shared = cells.shared(position, Ordering::Acquire);
        self.layout.join(position, through_block, shared)
    }

    /// What was added through a bucket's block: `difference` tells while the bucket is open, and `total` when it is closed.
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
            // The closer publishes CLOSED before it touches the base or the extremes, and before the
            // next owner adds: a difference that has any of that is followed by CLOSED here.
            if !bucket.is_closed() {
                return difference;
            }
        }
        total() // final: CLOSED was seen with Acquire
    }

    /// Calls `see` with each position of these wide pairs at which a bucket holds something, and what it holds there. Of a pair, the count is
    /// read first.
    pub(in crate::ring) fn each_number(
        &self,
        bucket: &Bucket,
        pairs: Range<usize>,
        mut see: impl FnMut(usize, u64),
    ) {
        let cells = self.cells(bucket);
        for range in by_group(pairs) {
            let wide = &cells.wide[range.start / GROUP];
            let of = |group: &Sparse, order| {
                let cells = &group.get()?[range.start % GROUP..][..range.len()];
                let mut numbers = [0; GROUP];
                rows::merge(&mut numbers[..range.len()], cells, order, u64::wrapping_add);
                Some(numbers)
            };
            let difference = |block: &Block| {
                let mut numbers = [0; GROUP];
                block.add_differences(range.start, &mut numbers[..range.len()]);
                BucketLayout::pairs_without_pending(&mut numbers);
                Some(numbers)
            };
            // Relaxed and Acquire: as above.
            let through_block =
                self.through_block(bucket, difference, || of(&wide.totals, Ordering::Relaxed));
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
}
