//! Making a displaced bucket final.
//!
//! Whoever comes by may close: the next rotation, a change of geometry. A closer claims the header,
//! looks whether it is *silent* (nobody can be adding through its block any more), writes its totals
//! down, says CLOSED, and only then hands the block on. A closer that stalls holds up one block and
//! one `is_closed`; everybody else goes round it.
//!
//! Silent means, by the first of the ring's rules (blocks are reached through `current` alone): per
//! core, that a barrier has passed which began after the header was displaced, and which restarts
//! every sequence that had loaded it; portably, that such a grace period has passed, for which
//! everybody who had loaded it has unpinned. The first is had for the asking, and takes
//! microseconds; the second comes when it comes.

use std::ptr::null_mut;

use crate::reclaim::{self, Guard};
use crate::ring::cells::Target;
use crate::ring::header::Header;
use crate::ring::hold::Held;
use crate::ring::{Ring, grace};
use crate::stripe::{Strategy, barrier};
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

    /// Closes what was just displaced, if that can be had.
    ///
    /// Portably, the grace period is given a chance to pass: with nobody else pinned this is where a
    /// bucket is closed, since each new pin of ours lets the epoch advance by one; with somebody
    /// pinned a later rotation will find it.
    pub(super) fn settle(&self) {
        let looks = if self.strategy == Strategy::PerCore { 1 } else { LOOKS };
        for _ in 0..looks {
            let guard = reclaim::pin();
            if self.strategy == Strategy::Portable {
                guard.flush();
            }
            if self.close_displaced(&guard) {
                return;
            }
        }
    }

    /// Closes the owner of a block, if it is displaced and silent. False if it remains to be done.
    fn close_owner(&self, index: usize, guard: &Guard) -> bool {
        // SAFETY: headers live as long as the window.
        let Some(header) = (unsafe { Held::by(&self.blocks[index].owner) }) else {
            return true;
        };
        if !self.is_displaced(&header) {
            return true;
        }
        if !header.claim() {
            return false;
        }
        if !self.is_silent(&header, guard) {
            header.give_back(); // for the next who comes by
            return false;
        }
        self.write_totals(index, &header);
        // Release: publishes the base to the next owner, who claims the block with Acquire.
        self.blocks[index].owner.store(null_mut(), Ordering::Release);
        header.let_go(); // the block's hold; ours ends by itself
        true
    }

    /// Whether a header that owns a block is displaced, or can never become current. For ever, then.
    fn is_displaced(&self, header: &Held<'_>) -> bool {
        let current = self.hold_current();
        !std::ptr::eq(header.header(), current.header()) && header.place() <= current.place()
    }

    /// Whether nobody can be adding to the block any more. For the claimant of a header that it has
    /// seen displaced.
    fn is_silent(&self, header: &Header, guard: &Guard) -> bool {
        // Relaxed, both: a ticket is a number, right whoever took it.
        let mut ticket = header.ticket.load(Ordering::Relaxed);
        let per_core = self.strategy == Strategy::PerCore;
        if ticket == 0 {
            ticket = if per_core { barrier::ticket() } else { grace::ticket() };
            header.ticket.store(ticket, Ordering::Relaxed);
        }
        if per_core {
            barrier::pass(ticket)
        } else {
            grace::begin(ticket, guard);
            grace::passed(ticket)
        }
    }

    /// Writes the totals of a silent bucket down, and makes its block ready for another.
    fn write_totals(&self, index: usize, header: &Header) {
        let block = &self.blocks[index];
        for position in 0..self.shape.cells() {
            let total = block.difference(position);
            header.pairs()[position].total.store(total, Ordering::Relaxed);
            if !self.shape.adds_up(position) {
                // Before the block forgets it. Release, and read after the block with Acquire: a
                // lifetime that finds it gone there finds it here.
                self.past.raise(position, total);
            }
        }
        // Before the base and the extremes change: see `Header::number`.
        header.close();
        for position in 0..self.shape.cells() {
            block.rebase(position);
        }
    }
}
