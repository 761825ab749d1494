//! Rotation: how the ring moves on to the next bucket.
//!
//! 1. Put `current` into its slot, if it is not there yet: the thread that made it current may have
//!    stalled.
//! 2. Close retired buckets that are known to be quiescent, which frees blocks.
//! 3. Write the prefixes of the coarse buckets in which `current` lies (see `prefix`).
//! 4. Open a bucket for the new start, with a free block if there is one, and write its prefix.
//! 5. Compare-exchange `current`. The winner puts its bucket into its slot; a loser discards its
//!    own bucket, and goes on with the winner's.
//!
//! A change of geometry does the same with a bucket of another generation (see `change`). If a
//! change is proposed (see `proposal`), the rotation makes that instead.
//!
//! The other order, slot first, would leave buckets in slots that were never current; or, with a
//! single slot, take the current bucket out of the ring.

use crate::reclaim::{self, Guard};
use crate::ring::Ring;
use crate::ring::order::bucket::Bucket;
use crate::ring::order::bucket_ref::BucketRef;
use crate::ring::order::opening::Opening;
use crate::ring::store::block::Block;

impl Ring {
    /// Moves on from `current` to the bucket of `at`, which is newer, or to another geometry, if
    /// that is proposed. Returns false if another thread has moved on.
    #[cold]
    pub(in crate::ring) fn rotate(&self, current: &BucketRef<'_>, at: u64, guard: &Guard) -> bool {
        let generation = current.generation(guard);
        // SAFETY: of a bucket that was current under the guard.
        let of = unsafe { generation.deref() };
        if let Some((proposed, change)) = self.proposal.of(of.number, guard) {
            return change(self, current, proposed, guard);
        }
        let slots = &of.slots;
        slots.install(current);
        let all_closed = self.close_quiescent(guard);
        self.write_tier_prefixes(current, of, all_closed);
        let prefix =
            |new: &Bucket, block: &Block| self.write_prefix(current, (new, block), of, all_closed);
        let start = slots.geometry.start_of(at);
        let new = self.store.open(&Opening::fine(generation, start, current.start()), &prefix);
        self.replace_current(current, new, slots)
    }

    /// Moves on to the bucket of `now` if the one before it holds anything, or if an add's lead is
    /// bounded; and closes the one before. An add at `now` does the same, and counts.
    pub(crate) fn close_past(&self, now: u64) {
        loop {
            let guard = reclaim::pin_apart();
            let current = self.acquire_current();
            // SAFETY: of a bucket that is current under the guard.
            let geometry = unsafe { current.generation(&guard).deref() }.geometry();
            let (start, newest) = (geometry.start_of(now), current.start());
            // Where a lead is bounded, also over an empty bucket: otherwise none could be opened
            // any more after a long time without adds.
            let is_over = self.max_lead < u64::MAX || !self.is_empty(&current);
            if start <= newest || !geometry.follows(start, newest, self.max_lead) || !is_over {
                return;
            }
            let moved = self.rotate(&current, now, &guard);
            drop((current, guard));
            if moved && !self.is_closed_by_another() {
                self.close_retired();
            }
        }
    }

    /// Returns whether all numbers of a bucket are zero. Those that are not wide come last, and
    /// each record changes one of them.
    pub(in crate::ring) fn is_empty(&self, bucket: &Bucket) -> bool {
        let mut positions = (0..self.store.layout.cells()).rev();
        positions.all(|position| self.store.number(bucket, position) == 0)
    }
}
