//! Sums at once: what an interval holds, without a walk over its buckets.
//!
//! # Theorem
//!
//! Let a thread load `current`, then the mark of that bucket, the bucket's shared cell and each block's sum; and let it
//! then find that `current` leads there still, and after that, that the bucket's version is still the same. If no other
//! bucket of the interval was touched, the blocks' sums less the mark, plus the shared cell, lie between the
//! true count of the interval when the call began and when it returned.
//!
//! # Why
//!
//! The bucket was current from the first step to the last but one. In that time its mark is a constant, what all buckets before
//! the interval have counted through blocks (see `mark`); a free block's base is its sum; and no block is added to
//! but the bucket's own, and those of retired buckets that are not closed. So each block's number is read between what it was at
//! the beginning and at the end. An add to another bucket's shared cells that happened before the call has raised
//! `touched` before; one that comes later may be left out.
//!
//! The two checks must come in this order. The version at the end says that the bucket was of that version when it was found
//! current. The other way round, the bucket could be retired, be reused, and be current again as another bucket at the second check.
//!
//! # Orderings
//!
//! Whatever the reader may find that belongs to a time after the bucket was retired was stored with Release, or behind
//! a Release fence, by a thread that had seen the retirement: the totals in the place of the mark, a base, an owner, a
//! row. The reader has an Acquire fence behind all these loads, so that its second load of `current` cannot be older
//! than the retirement. The version's load stands behind another fence, which keeps the two checks in their order.

use crate::event::cells::Addends;
use crate::ring::Ring;
use crate::ring::bucket::{Bucket, Mark};
use crate::ring::mark::each_closed;
use crate::ring::store::Store;
use crate::ring::view::{Versioned, View};
use crate::sync::{Ordering, fence};

impl Ring {
    /// The sum at a position that adds up, over the interval that ends with the live bucket; `None` if the
    /// time does not lie in that bucket, or if it takes a walk. Without a pin.
    #[inline]
    pub(crate) fn sum_at_once(&self, now: impl FnOnce() -> u64, position: usize) -> Option<u64> {
        // SAFETY: `current` leads to a bucket of this ring's.
        let current = unsafe { Versioned::load(self.current()) }?;
        let bucket = current.bucket;
        let mark = bucket.mark();
        if !bucket.live.contains(now()) || self.touched.reaches(bucket.start()) {
            return None;
        }
        let sum = self.store.interval_sum(bucket, mark, position)?;
        self.is_current(current).then(|| self.store.layout.without_pending(position, sum))
    }

    /// Whether a bucket is current still, and was so all the time since it was found.
    #[inline]
    pub(super) fn is_current(&self, found: Versioned<'_>) -> bool {
        // Pairs with the Release of whatever was read before (see above), and with that of adds: a reader that
        // counts an add sees what came before it.
        fence(Ordering::Acquire);
        std::ptr::eq(self.current().load(Ordering::Relaxed), found.bucket) && found.is_valid()
    }
}

impl Store {
    /// What the live bucket's own shared cell and all blocks hold for its interval; `None` if its mark is
    /// unknown. Of records, [modulo 2^63](crate::stripe::live_bucket::PENDING).
    #[inline]
    fn interval_sum(&self, live: &Bucket, mark: Mark, position: usize) -> Option<u64> {
        debug_assert!(self.layout.adds_up(position));
        let cell = live.cells().get(position)?;
        // Relaxed, here and for the mark: before the fence in `is_current`.
        let shared = cell.shared.load(Ordering::Relaxed);
        let through_blocks = match mark {
            Mark::Known => {
                let mark = cell.total.load(Ordering::Relaxed);
                let sums = self.blocks.iter().map(|block| block.present_sum(position));
                sums.fold(0, u64::wrapping_add).wrapping_sub(mark)
            }
            Mark::Alone => self.block_of(live)?.difference(position),
            Mark::Unknown => return None,
        };
        Some(through_blocks.wrapping_add(shared))
    }
}

impl View<'_> {
    /// What all buckets that count hold at a position that adds up, by the mark of the live bucket; `None` if
    /// it takes a walk.
    pub(super) fn total_at_once(&self, position: usize) -> Option<u64> {
        let (layout, mut total) = (self.layout(), 0_u64);
        let is_read = layout.adds_up(position)
            && self.add_up_at_once(Addends::one(position), |_, number| {
                total = total.wrapping_add(number);
            });
        is_read.then(|| layout.without_pending(position, total))
    }

    /// Calls `add` for each of these cells with numbers that add up, wrapping, to what all buckets that count hold there: with
    /// the cell's index among them. Of records, [modulo 2^63](crate::stripe::live_bucket::PENDING). False if it takes a walk: then the numbers are
    /// worth nothing.
    ///
    /// Here the interval may have touched buckets, and the time may have passed the live bucket. If `current`
    /// is the same afterwards, no bucket of its interval has left its slot.
    pub(super) fn add_up_at_once(&self, cells: Addends, mut add: impl FnMut(usize, u64)) -> bool {
        let (live, newest) = (self.live(), self.newest());
        if newest < live {
            return false;
        }
        let (ring, slots, geometry) = (self.ring(), &*self.generation().slots, self.geometry());
        let oldest = geometry.oldest(newest);
        let current = self.found();
        if oldest <= live {
            let mark = current.bucket.mark();
            // What has left, before the blocks: what is closed by then is in their sums, and grows no more. A bucket
            // that is closed only behind them may have counted in between what they do not have.
            let all_closed = each_closed(slots, geometry.oldest(live), oldest, |gone| {
                for (index, position) in cells.positions().enumerate() {
                    // Relaxed: as in `interval_sum`.
                    let total = gone.cells()[position].total.load(Ordering::Relaxed);
                    add(index, total.wrapping_neg());
                }
            });
            if !all_closed {
                return false;
            }
            let is_touched = oldest < live && ring.touched.reaches(newest);
            for (index, position) in cells.positions().enumerate() {
                let interval = ring.store.interval_sum(current.bucket, mark, position);
                let Some(interval) = interval else { return false };
                add(index, interval);
                if is_touched {
                    let shared = slots.shared_sum(oldest..=live - 1, newest, position);
                    let Some(shared) = shared else { return false };
                    add(index, shared);
                }
            }
        }
        ring.is_current(current)
    }
}
