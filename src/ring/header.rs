//! A header: one bucket's identity.

use crate::column::Column;
use crate::reclaim::{Atomic, Guard, Owned, Shared};
use crate::ring::Ring;
use crate::ring::block::Block;
use crate::ring::cells::Cells;
use crate::ring::generation::Generation;
use crate::sync::{AtomicU8, AtomicU64, Ordering, Witness};

/// The bucket may still be added to through its block.
pub(super) const OPEN: u8 = 0;
/// Somebody is closing it, or looking whether it can be closed yet.
pub(super) const CLOSING: u8 = 1;
/// Its totals are final; its block is another's.
pub(super) const CLOSED: u8 = 2;

/// One bucket: where it begins and how long it is never changes, nor which generation of the ring
/// it belongs to, nor which block it counts in. It is never reset to stand for another bucket.
///
/// # States
///
/// `OPEN -> CLOSING -> CLOSED`, and from CLOSING back to OPEN if it turns out that it cannot be
/// closed yet. CLOSING is a claim: its holder alone uses `ticket` and writes `totals`.
///
/// # Links
///
/// A header is referred to by its slot and by its block. It is retired by whoever ends the last of
/// the two; `current` is no third, because what is current is in its slot before it is displaced.
#[derive(Debug)]
pub(crate) struct Header {
    pub(super) start: u64,
    pub(super) length: u64,
    /// The block's first column, for adds. `None`: unstriped, everything goes to `shared`.
    pub(super) column: Option<Column>,
    /// The block's index.
    pub(super) block: Option<usize>,
    /// The number of the generation.
    pub(super) generation: u64,
    /// The generation itself. To be followed only from a header that was loaded from `current`:
    /// the generation is retired when a header of the next one becomes current.
    owner: Atomic<Generation>,
    pub(super) state: AtomicU8,
    /// The first grace period that can silence it; zero until it was seen displaced.
    pub(super) ticket: AtomicU64,
    links: AtomicU8,
    /// What its block had counted for it, once CLOSED.
    pub(super) totals: Cells,
    /// What was added other than through the block.
    pub(super) shared: Cells,
    witness: Witness,
}

impl Header {
    /// A bucket that begins at `start`, with a link for the slot that it is to be put into.
    pub(super) fn new(generation: Shared<'_, Generation>, start: u64, state: u8) -> Owned<Header> {
        // SAFETY: the caller is about to publish a header of this generation, or has loaded one
        // from `current` under its guard.
        let of = unsafe { generation.deref() };
        let owner = Atomic::null();
        owner.store(generation, Ordering::Relaxed); // published with the header
        Owned::new(Header {
            start,
            length: of.geometry().length_at(start),
            column: None,
            block: None,
            generation: of.number,
            owner,
            state: AtomicU8::new(state),
            ticket: AtomicU64::new(0),
            links: AtomicU8::new(1),
            totals: Cells::new(of.shape.cells()),
            shared: Cells::new(of.shape.cells()),
            witness: Witness::default(),
        })
    }

    /// Makes `block` the one that it counts in, and counts the link that this will be. For a header
    /// that is about to become the block's owner.
    pub(super) fn count_in(&mut self, index: usize, block: &Block) {
        self.block = Some(index);
        self.column = Some(block.column());
        self.links = AtomicU8::new(2);
    }

    /// Undoes [`count_in`](Self::count_in): somebody else was faster to take the block.
    pub(super) fn count_alone(&mut self) {
        self.block = None;
        self.column = None;
        self.links = AtomicU8::new(1);
    }

    /// The generation of a header that was loaded from `current`.
    pub(super) fn generation<'g>(&self, guard: &'g Guard) -> Shared<'g, Generation> {
        self.check();
        // Relaxed: written before the header was published.
        self.owner.load(Ordering::Relaxed, guard)
    }

    /// Checks in models that whoever made the header has told us of it.
    #[inline]
    pub(super) fn check(&self) {
        self.witness.check();
    }

    /// Whether a time lies in this bucket.
    #[inline]
    pub(super) fn covers(&self, at: u64) -> bool {
        // Before the start the difference wraps: to no less than the start's distance from the end
        // of time, which no length exceeds.
        at.wrapping_sub(self.start) < self.length
    }

    /// Its place in the order in which headers become current, which never goes back.
    pub(super) fn place(&self) -> (u64, u64) {
        (self.generation, self.start)
    }

    pub(super) fn is_closed(&self) -> bool {
        // Acquire: pairs with the Release of CLOSED. Whoever sees it sees the totals.
        self.state.load(Ordering::Acquire) == CLOSED
    }

    /// What the bucket holds in a cell: while it is open a difference, afterwards its total.
    pub(super) fn number(&self, ring: &Ring, position: usize) -> u64 {
        let mut number = self.striped(ring, position);
        // Acquire: pairs with the Release in `Cells::add`.
        let shared = self.shared.load(position, Ordering::Acquire);
        ring.shape.merge(position, &mut number, shared);
        number
    }

    fn striped(&self, ring: &Ring, position: usize) -> u64 {
        let Some(block) = self.block.map(|index| &ring.blocks[index]) else {
            return 0;
        };
        if !self.is_closed() {
            let difference = block.difference(position);
            // Whoever has closed us says so before it touches the base or the extremes, and before
            // the next owner adds: if any of that is in the difference, we see CLOSED here.
            if !self.is_closed() {
                return difference;
            }
        }
        self.totals.load(position, Ordering::Relaxed) // final: CLOSED was seen with Acquire
    }

    /// Ends a link. True for the last one: nobody can find the header any more, and the caller must
    /// see to its end.
    #[must_use]
    fn unlink(&self) -> bool {
        // AcqRel: whoever ends the last link has everything that the other did behind it.
        self.links.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Ends a link of `header`, and retires it with the last.
    ///
    /// # Safety
    /// The link was the caller's to end: it has just taken the header out of the slot or the block
    /// that the link stands for, or will never put it there.
    pub(super) unsafe fn release(header: Shared<'_, Header>, guard: &Guard) {
        // SAFETY: there is a link yet, so it was not retired.
        if unsafe { header.deref() }.unlink() {
            // SAFETY: it is in no slot and owns no block, so nobody can load it after this; whoever
            // has loaded it is pinned.
            unsafe { guard.defer_destroy(header) };
        }
    }

    /// As [`release`](Self::release), where nobody else is left who could hold the header.
    ///
    /// # Safety
    /// As for `release`; and the window is being dropped.
    pub(super) unsafe fn release_last(header: Shared<'_, Header>) {
        // SAFETY: as in `release`.
        if unsafe { header.deref() }.unlink() {
            // SAFETY: nobody else is in the window, and nothing in it refers to the header.
            drop(unsafe { header.into_owned() });
        }
    }
}
