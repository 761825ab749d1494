//! Moving on to the next bucket.
//!
//! 1. Put `current` into its slot, if it is not there yet: whoever made it current may have stalled.
//! 2. Close what is displaced and known to be silent, which frees blocks.
//! 3. Make a header for the new start, with a free block if there is one.
//! 4. Compare-exchange `current`. The winner puts its header into its slot; a loser gives its block
//!    back, and takes up the winner's bucket.
//!
//! A change of geometry is the same with another generation's header; somebody may have proposed one
//! (see `proposal`), and then that is made instead.
//!
//! The other order, slot first, would leave headers in slots that were never current, or, with one
//! slot, take out of the ring the one that still is.

use std::ptr::{from_ref, null_mut};

use crate::reclaim::{Guard, Shared};
use crate::ring::Ring;
use crate::ring::block::Block;
use crate::ring::generation::Generation;
use crate::ring::header::{CLOSED, Header, OPEN};
use crate::ring::hold::Held;
use crate::ring::slots::Slots;
use crate::sync::Ordering;

impl Ring {
    /// Moves on from `current` to the bucket of `at`, which is newer; or to another geometry, if that
    /// is proposed. False if somebody else has moved on.
    #[cold]
    pub(super) fn rotate(&self, current: &Held<'_>, at: u64, guard: &Guard) -> bool {
        let generation = current.generation(guard);
        // SAFETY: of a header that was current under the guard.
        let of = unsafe { generation.deref() };
        if let Some(proposed) = self.proposed(of.number, guard) {
            return self.change(current, proposed, guard);
        }
        let slots = &of.slots;
        slots.install(current);
        self.close_silent(guard);
        let new = self.open(generation, slots.geometry.start_of(at));
        self.displace(current, new, slots)
    }

    /// Makes `new` current in place of `old`, which is in its slot. False if `old` is no longer
    /// current: then `new` is done with.
    pub(super) fn displace(&self, old: &Held<'_>, new: &Header, slots: &Slots) -> bool {
        // Held by us too: once it is current, others may put it into its slot, and move on.
        let new = Held::also(new);
        let (from, to) = (from_ref(old.header()).cast_mut(), from_ref(new.header()).cast_mut());
        // Release: publishes the header, and that the one before is in its slot. On failure,
        // Relaxed: the caller loads `current` again.
        let moved =
            self.current.compare_exchange(from, to, Ordering::Release, Ordering::Relaxed).is_ok();
        if moved {
            slots.install(&new);
        } else {
            self.discard(&new);
        }
        moved
    }

    /// A header for the bucket at `start`, with a free block if there is one.
    pub(super) fn open(&self, generation: Shared<'_, Generation>, start: u64) -> &Header {
        let free = |block: &&Block| block.owner.load(Ordering::Relaxed).is_null(); // only a hint
        if self.blocks.iter().any(|block| free(&block)) {
            let header = self.striped.take();
            header.make(generation, start);
            // SAFETY: as in `make`.
            let length = unsafe { generation.deref() }.geometry().length_at(start);
            for (index, block) in self.blocks.iter().enumerate().filter(|(_, block)| free(block)) {
                header.count_in(index, block, length);
                // Acquire: pairs with the Release that freed the block; we have its base. Release:
                // publishes the header to closers, who find it here, and leave it alone until it is
                // made.
                let (none, header_here) = (null_mut(), from_ref(header).cast_mut());
                let (order, failed) = (Ordering::AcqRel, Ordering::Relaxed);
                if block.owner.compare_exchange(none, header_here, order, failed).is_ok() {
                    header.made(OPEN);
                    return header;
                }
                header.count_alone();
            }
            header.made(CLOSED);
            header.let_go();
        }
        let header = self.unstriped.take();
        header.make(generation, start);
        header.made(OPEN);
        header
    }

    /// Gives up a header that was not made current.
    ///
    /// Nobody has written to its block. But a closer may have found it there, and taken it for one
    /// that was displaced: then the block is the closer's to free.
    fn discard(&self, header: &Header) {
        if let Some(index) = header.block()
            && header.abandon()
        {
            // Release: pairs with the Acquire in `open`; hands on the base that we had.
            self.blocks[index].owner.store(null_mut(), Ordering::Release);
            header.let_go(); // the block's hold
        }
        header.let_go(); // the slot's, where it will never be
    }
}
