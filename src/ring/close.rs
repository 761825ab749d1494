//! Making a displaced bucket final.
//!
//! Whoever comes by may close: the thread that opened the next bucket, a drain, a change of geometry, or
//! a thread that does nothing else. A header can be closed when it is *silent* (nobody can be adding
//! through its block any more) and has no adders (see `hold`). A closer then claims it, writes its totals
//! down, says CLOSED, and only then hands the block on. A closer that stalls holds up one block and one
//! `is_closed`; everybody else goes round it.
//!
//! Silent means, by the first of the ring's rules (blocks are reached through `current` alone): per
//! core, that a barrier has passed which began after the header was displaced, and which restarts
//! every sequence that had loaded it; portably, that such a grace period has passed, for which
//! everybody who had loaded it has unpinned.
//!
//! # Who asks for silence
//!
//! A barrier is a system call, which a hostile neighbour can make last. So it is made where it holds up
//! one thread and nothing else: by one thread of a window at a time, which has the window's [`Seat`], has
//! claimed and holds no header, and is not pinned. All others go on: they find blocks that are not
//! free yet, and when the last is taken, open buckets that count in shared cells. A grace period comes
//! when it comes; to ask for it takes no time, and whoever comes by does.

use std::ptr::null_mut;

#[cfg(not(any(loom, shuttle)))]
use crate::clock::forks::process;
use crate::reclaim::{self, Guard};
use crate::ring::cells::Target;
use crate::ring::header::Header;
use crate::ring::hold::Held;
use crate::ring::{Ring, grace};
use crate::stripe::{Strategy, barrier};
use crate::sync::{AtomicU64, Ordering, sized};

/// How often a rotation looks, portably, whether what it has displaced can be closed already: a grace
/// period takes two advances of the epoch, and each new pin lets it advance by one.
const LOOKS: usize = sized(3, 1);

/// How often one thread asks for a barrier before it leaves the seat to the next who comes by, though it
/// was asked to look again.
const ROUNDS: usize = sized(4, 2);

/// Who asks for a window's barriers: one thread at a time. The others do not wait for it.
#[derive(Debug)]
pub(super) struct Seat(AtomicU64);

/// Nobody is in the seat.
const FREE: u64 = 0;
/// Added to the occupant's process when another thread has displaced something meanwhile.
const ASKED: u64 = 1 << 32;

impl Seat {
    pub(super) fn new() -> Seat {
        Seat(AtomicU64::new(FREE))
    }

    /// Takes the seat, or asks its occupant to look again.
    ///
    /// An occupant of another process is not there: this process was forked while it was.
    fn take(&self) -> bool {
        let process = u64::from(process());
        // Either the occupant finds that it was asked, or we find it free. Release: pairs with the Acquire
        // in `leave`: who finds that it was asked sees what was displaced before.
        let (order, failed) = (Ordering::Release, Ordering::Relaxed);
        let mut seen = self.0.load(Ordering::Relaxed);
        loop {
            let is_taken = seen & !ASKED == process;
            let new = if is_taken { seen | ASKED } else { process };
            match self.0.compare_exchange(seen, new, order, failed) {
                Ok(_) => return !is_taken,
                Err(now) => seen = now,
            }
        }
    }

    /// Leaves the seat; false if there is something to do again, and the caller still sits there.
    fn leave(&self) -> bool {
        let process = u64::from(process());
        // Relaxed: it publishes nothing.
        let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
        if self.0.compare_exchange(process, FREE, order, failed).is_ok() {
            return true;
        }
        // Acquire: pairs with the Release in `take`. A swap, not a store: of whoever has asked since the
        // exchange failed this is the only word.
        self.0.swap(process, Ordering::Acquire);
        false
    }

    /// Leaves the seat whatever there is to do.
    fn abandon(&self) {
        self.0.store(FREE, Ordering::Relaxed); // as in `leave`: it publishes nothing
    }
}

/// In a model there is but one process.
#[cfg(any(loom, shuttle))]
fn process() -> u32 {
    1
}

impl Ring {
    /// Whether a thread that does nothing else closes buckets. Not one of the process that this was forked
    /// from.
    pub(super) fn is_closed_by_another(&self) -> bool {
        let closer = self.closer.load(Ordering::Relaxed); // a number, right or wrong only for speed
        closer != 0 && closer == process()
    }

    /// Says that the calling thread will close buckets from now on, or that it will no longer.
    #[cfg(not(any(loom, shuttle)))]
    pub(crate) fn close_elsewhere(&self, is_so: bool) {
        self.closer.store(if is_so { process() } else { 0 }, Ordering::Relaxed);
    }

    /// Closes what was just displaced, if that can be had. Not to be called while pinned, or with a hold.
    pub(crate) fn settle(&self) {
        match self.strategy {
            Strategy::PerCore => self.settle_by_barriers(),
            Strategy::Portable => self.settle_by_grace(),
        }
    }

    fn settle_by_barriers(&self) {
        if !self.seat.take() {
            return;
        }
        for _ in 0..ROUNDS {
            let ticket = self.tickets(&reclaim::pin());
            if ticket > 0 {
                barrier::pass(ticket);
                self.close_silent(&reclaim::pin());
            }
            if self.seat.leave() {
                return;
            }
        }
        self.seat.abandon();
    }

    /// With nobody pinned this is where a bucket is closed; with somebody pinned a later rotation will
    /// find it silent.
    fn settle_by_grace(&self) {
        for _ in 0..LOOKS {
            let guard = reclaim::pin();
            guard.flush();
            let ticket = self.tickets(&guard);
            if ticket > 0 {
                grace::begin(ticket, &guard);
            }
            if self.close_silent(&guard) {
                return;
            }
        }
    }

    /// The highest ticket of all that is displaced and not closed; zero if nothing is.
    fn tickets(&self, guard: &Guard) -> u64 {
        let owners = (0..self.blocks.len()).filter_map(|index| self.displaced_owner(index));
        owners.map(|header| self.ticket(&header, guard)).max().unwrap_or(0)
    }

    /// Closes every displaced header that is known to be silent and that nobody else is closing. True if
    /// none is left open. No system call is made.
    pub(super) fn close_silent(&self, guard: &Guard) -> bool {
        let mut all = true;
        for index in 0..self.blocks.len() {
            if let Some(header) = self.displaced_owner(index) {
                all &= self.close_owner(index, &header, guard);
            }
        }
        all
    }

    /// The owner of a block, held, if it is displaced.
    fn displaced_owner(&self, index: usize) -> Option<Held<'_>> {
        // SAFETY: headers live as long as the window.
        let header = unsafe { Held::by(&self.blocks[index].owner) }?;
        self.is_displaced(&header).then_some(header)
    }

    /// Whether a header that owns a block is displaced, or can never become current. For ever, then.
    fn is_displaced(&self, header: &Held<'_>) -> bool {
        let current = self.hold_current();
        !std::ptr::eq(header.header(), current.header()) && header.place() <= current.place()
    }

    /// The first barrier or grace period that can silence a header which was seen displaced, under the
    /// guard.
    fn ticket(&self, header: &Header, _guard: &Guard) -> u64 {
        match self.strategy {
            Strategy::PerCore => header.ticket_or(barrier::ticket),
            Strategy::Portable => header.ticket_or(grace::ticket),
        }
    }

    /// Closes the owner of a block, which is displaced, if it is silent and has no adders. False if it
    /// remains to be done.
    fn close_owner(&self, index: usize, header: &Held<'_>, guard: &Guard) -> bool {
        let ticket = self.ticket(header, guard);
        let is_silent = match self.strategy {
            Strategy::PerCore => barrier::passed(ticket),
            Strategy::Portable => grace::passed(ticket),
        };
        if !is_silent || header.has_adders() || !header.claim() {
            return false;
        }
        self.write_totals(index, header);
        // Release: publishes the base to the next owner, who claims the block with Acquire.
        self.blocks[index].owner.store(null_mut(), Ordering::Release);
        header.let_go(); // the block's hold; ours ends by itself
        true
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
