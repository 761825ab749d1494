//! Moving on to the next bucket.
//!
//! 1. Put `current` into its slot, if it is not there yet: the thread that made it current may have stalled.
//! 2. Close what is retired and known to be quiescent, which frees blocks.
//! 3. Note `current` in the tiers (see `note`).
//! 4. Open a bucket for the new start, with a free block if there is one, and write its mark (see `mark`).
//! 5. Compare-exchange `current`. The winner puts its bucket into its slot; a loser discards its own, and
//!    takes up the winner's.
//!
//! A change of geometry is the same with another generation's bucket (see `reconfigure`). If one was
//! proposed (see `proposal`), it is made instead.
//!
//! The other order, slot first, would leave buckets in slots that were never current; or, with one slot,
//! take the bucket that is still current out of the ring.

use crate::reclaim::Guard;
use crate::ring::Ring;
use crate::ring::bucket::Bucket;
use crate::ring::bucket_ref::BucketRef;

impl Ring {
    /// Moves on from `current` to the bucket of `at`, which is newer; or to another geometry, if that
    /// is proposed. False if another thread has moved on.
    #[cold]
    pub(super) fn rotate(&self, current: &BucketRef<'_>, at: u64, guard: &Guard) -> bool {
        let generation = current.generation(guard);
        // SAFETY: of a bucket that was current under the guard.
        let of = unsafe { generation.deref() };
        if let Some(proposed) = self.proposal.of(of.number, guard) {
            return self.change(current, proposed, guard);
        }
        let slots = &of.slots;
        slots.install(current);
        let all_closed = self.close_quiescent(guard);
        self.note(current, of, all_closed);
        let mark = |new: &Bucket| self.mark(current, new, of, all_closed);
        let new = self.store.open(generation, slots.geometry.start_of(at), mark);
        self.replace_current(current, new, slots)
    }
}
