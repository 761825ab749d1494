//! Moving on to the next bucket.
//!
//! 1. Put `current` into its slot, if it is not there yet: whoever made it current may have stalled.
//! 2. Close what is displaced, which frees blocks.
//! 3. Make a header for the new start, with a free block if there is one.
//! 4. Compare-exchange `current`. The winner puts its header into its slot; a loser gives its block
//!    back, and takes up the winner's bucket.
//!
//! The other order, slot first, would leave headers in slots that were never current, or, with one
//! slot, take out of the ring the one that still is.

use crate::reclaim::{Guard, Shared};
use crate::ring::Ring;
use crate::ring::generation::Generation;
use crate::ring::header::{CLOSED, Header, OPEN};
use crate::ring::slots::Slots;
use crate::sync::Ordering;

impl Ring {
    /// Moves on from `current` to the bucket of `at`, which is newer. False if somebody else has
    /// moved on.
    #[cold]
    pub(super) fn rotate(&self, current: Shared<'_, Header>, at: u64, guard: &Guard) -> bool {
        // SAFETY: loaded from `current` under the guard; its generation likewise.
        let generation = unsafe { current.deref() }.generation(guard);
        // SAFETY: as above.
        let slots = &unsafe { generation.deref() }.slots;
        slots.install(current, guard);
        self.close_displaced(guard);
        let new = self.open(generation, slots.geometry.start_of(at), guard);
        self.displace(current, new, slots, guard)
    }

    /// Makes `new` current in place of `old`, which is in its slot. False if `old` is no longer
    /// current: then `new` is done with.
    pub(super) fn displace(
        &self,
        old: Shared<'_, Header>,
        new: Shared<'_, Header>,
        slots: &Slots,
        guard: &Guard,
    ) -> bool {
        // Release: publishes the header, and that the one before is in its slot. On failure,
        // Relaxed: the caller loads `current` again.
        let moved = self
            .current
            .compare_exchange(old, new, Ordering::Release, Ordering::Relaxed, guard)
            .is_ok();
        if moved {
            slots.install(new, guard);
        } else {
            self.discard(new, guard);
        }
        moved
    }

    /// A header for the bucket at `start`, with a free block if there is one.
    pub(super) fn open<'g>(
        &self,
        generation: Shared<'_, Generation>,
        start: u64,
        guard: &'g Guard,
    ) -> Shared<'g, Header> {
        let mut header = Header::new(generation, start, OPEN);
        for (index, block) in self.blocks.iter().enumerate() {
            // Relaxed: only a hint; the exchange decides.
            if !block.owner.load(Ordering::Relaxed, guard).is_null() {
                continue;
            }
            header.count_in(index, block);
            // Acquire: pairs with the Release that freed the block; we have its base. Release:
            // publishes the header to closers, who find it here.
            match block.owner.compare_exchange(
                Shared::null(),
                header,
                Ordering::AcqRel,
                Ordering::Relaxed,
                guard,
            ) {
                Ok(header) => return header,
                Err(taken) => header = taken.new,
            }
        }
        header.count_alone();
        header.into_shared(guard)
    }

    /// Gives up a header that was not made current.
    ///
    /// Nobody has written to its block. But a closer may have found it there, and taken it for one
    /// that was displaced: then the block is the closer's to free.
    fn discard(&self, header: Shared<'_, Header>, guard: &Guard) {
        // SAFETY: it has its slot's link yet.
        let lost = unsafe { header.deref() };
        if let Some(index) = lost.block
            // Relaxed: it decides who frees the block, and publishes nothing.
            && lost
                .state
                .compare_exchange(OPEN, CLOSED, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
        {
            // Release: pairs with the Acquire in `open`; hands on the base that we had.
            self.blocks[index].owner.store(Shared::null(), Ordering::Release);
            // SAFETY: just taken out of its block.
            unsafe { Header::release(header, guard) };
        }
        // SAFETY: it will never be put into its slot.
        unsafe { Header::release(header, guard) };
    }
}
