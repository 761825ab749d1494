//! Making a displaced bucket final.
//!
//! Whoever comes by may close: the next rotation, a change of geometry. A closer claims the header,
//! looks whether it is *silent* (nobody can be adding through its block any more), writes its totals
//! down, says CLOSED, and only then hands the block on. A closer that stalls holds up one block and
//! one `is_closed`; everybody else goes round it.
//!
//! Silent means that a grace period has passed which began after the header was displaced, by
//! the first of the ring's rules: blocks are reached through `current` alone.

use crate::reclaim::{self, Guard, Shared};
use crate::ring::cells::Target;
use crate::ring::header::{CLOSED, CLOSING, Header, OPEN};
use crate::ring::{Ring, grace};
use crate::sync::{Ordering, sized};

/// How often a rotation looks whether what it has displaced can be closed already.
const LOOKS: usize = sized(3, 1);

impl Ring {
    /// Closes every displaced header that can be closed and that nobody else is closing. True if
    /// none is left open.
    pub(super) fn close_displaced(&self, guard: &Guard) -> bool {
        let mut all = true;
        for index in 0..self.blocks.len() {
            all &= self.close_owner(index, guard);
        }
        all
    }

    /// Gives the grace period of what was just displaced a chance to pass, and closes what it can.
    ///
    /// With nobody else pinned this is where a bucket is closed: each new pin of ours lets the
    /// epoch advance by one. With somebody pinned a later rotation will find it.
    pub(super) fn settle(&self) {
        for _ in 0..LOOKS {
            let guard = reclaim::pin();
            guard.flush();
            if self.close_displaced(&guard) {
                return;
            }
        }
    }

    /// Closes the owner of a block, if it is displaced and silent. False if it remains to be done.
    fn close_owner(&self, index: usize, guard: &Guard) -> bool {
        // Acquire: pairs with the Release in `open`; we see the header.
        let owner = self.blocks[index].owner.load(Ordering::Acquire, guard);
        // SAFETY: null, or loaded under the guard.
        let Some(header) = (unsafe { owner.as_ref() }) else {
            return true;
        };
        header.check();
        if !self.is_displaced(owner, header, guard) {
            return true;
        }
        // The claim. Acquire: pairs with the Release of a claimant who gave it back, whose ticket
        // we read.
        if header
            .state
            .compare_exchange(OPEN, CLOSING, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {
            return false;
        }
        if !Self::is_silent(header, guard) {
            header.state.store(OPEN, Ordering::Release); // for the next who comes by
            return false;
        }
        self.write_totals(index, header);
        // Release: publishes the base to the next owner, who claims the block with Acquire.
        self.blocks[index].owner.store(Shared::null(), Ordering::Release);
        // SAFETY: just taken out of its block.
        unsafe { Header::release(owner, guard) };
        true
    }

    /// Whether a header that owns a block is displaced, or can never become current. For ever, then.
    fn is_displaced(&self, owner: Shared<'_, Header>, header: &Header, guard: &Guard) -> bool {
        let current = self.current(guard);
        // SAFETY: never null, and loaded under the guard.
        owner != current && header.place() <= unsafe { current.deref() }.place()
    }

    /// Whether nobody can be adding to the block any more. For the claimant of a header that it has
    /// seen displaced.
    fn is_silent(header: &Header, guard: &Guard) -> bool {
        // Relaxed, both: the claim hands the ticket on.
        let mut ticket = header.ticket.load(Ordering::Relaxed);
        if ticket == 0 {
            ticket = grace::ticket();
            header.ticket.store(ticket, Ordering::Relaxed);
        }
        grace::begin(ticket, guard);
        grace::passed(ticket)
    }

    /// Writes the totals of a silent bucket down, and makes its block ready for another.
    fn write_totals(&self, index: usize, header: &Header) {
        let block = &self.blocks[index];
        for position in 0..self.shape.cells() {
            let total = block.difference(position);
            header.totals.store(position, total, Ordering::Relaxed);
            if !self.shape.adds_up(position) {
                // Before the block forgets it. Release, and read after the block with Acquire: a
                // lifetime that finds it gone there finds it here.
                self.past.raise(position, total);
            }
        }
        // Release: publishes the totals. Before the base and the extremes change: see `number`.
        header.state.store(CLOSED, Ordering::Release);
        for position in 0..self.shape.cells() {
            block.rebase(position);
        }
    }
}
