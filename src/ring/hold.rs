//! Holding a header: so that it stays the bucket that it is.
//!
//! Headers are never freed before the window is, so to follow an old pointer is always safe; but the
//! header that it leads to may have become another bucket. Whoever wants to act on a header counts
//! itself among its holds, and *then* looks whether the link is still there that led to it: if so
//! the header was no free one when it was counted, and cannot become one before it is let go. If
//! not, the count is taken back; a header that is taken for a new bucket meanwhile is passed over, as
//! free ones have no holds at all. (Valois, *Lock-free linked lists using compare-and-swap*, 1995,
//! with the correction of Michael and Scott, 1995. Here nothing is done when the last hold goes, so
//! there is nothing that could be done twice.)
//!
//! A thread that stalls with a hold holds up this one header, and nothing else.
//!
//! # Adders
//!
//! Whoever adds to the shared cells of the live bucket registers as its *adder* besides, in the upper half
//! of the same count, and then looks whether the bucket is still the live one; only then it adds. Whoever
//! finds a bucket displaced and without adders knows that no add of the time when it was live is still
//! under way, and that none will come: see [`Header::has_adders`].

use std::ops::Deref;

use crate::ring::header::{Header, Link};
use crate::sync::{Ordering, fence};

/// An adder, in the count of holds. The lower half is for so many threads as no machine has.
const ADDER: usize = 1 << (usize::BITS / 2);

/// A header that stays what it is until this is dropped.
#[derive(Debug)]
pub(super) struct Held<'r>(&'r Header);

impl<'r> Held<'r> {
    /// Holds what a link leads to; `None` if that is nothing.
    ///
    /// # Safety
    /// The link is null or leads to a header that lives for `'r`.
    pub(super) unsafe fn by(link: &Link) -> Option<Held<'r>> {
        loop {
            // SAFETY: by contract. Acquire: pairs with the Release by which a header is linked.
            let header = unsafe { link.load(Ordering::Acquire).as_ref() }?;
            // Acquire: pairs with the Release in `let_go`. If the hold of this link is gone from the
            // count, so is the link from our sight.
            header.holds.fetch_add(1, Ordering::Acquire);
            let held = Held(header);
            // Acquire: as above; it may have become another bucket, and been linked here again.
            if std::ptr::eq(link.load(Ordering::Acquire), header) {
                header.check();
                return Some(held);
            }
        }
    }

    /// Holds a header that the caller may act on already.
    pub(super) fn also(header: &'r Header) -> Held<'r> {
        header.holds.fetch_add(1, Ordering::Relaxed); // it cannot become free meanwhile
        Held(header)
    }

    /// The header, for as long as it is held by something else: its slot, its block.
    pub(super) fn header(&self) -> &'r Header {
        self.0
    }
}

impl Deref for Held<'_> {
    type Target = Header;

    fn deref(&self) -> &Header {
        self.0
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.let_go();
    }
}

/// The calling thread adds to the shared cells of a header that is current, until this is dropped.
pub(super) struct Adder<'h>(&'h Header);

impl<'h> Adder<'h> {
    /// Registers with a header that the caller holds. `None` if it is not, or no longer, current.
    pub(super) fn of(header: &'h Held<'_>, current: &Link) -> Option<Adder<'h>> {
        header.holds.fetch_add(ADDER, Ordering::Relaxed);
        let adder = Adder(header);
        // Pairs with the fence in `has_adders`: whoever has seen the header displaced, and comes before us
        // there, has us see it too; whoever comes after us sees that we are registered. (The header is
        // held: it does not become current again.)
        fence(Ordering::SeqCst);
        std::ptr::eq(current.load(Ordering::Relaxed), header.header()).then_some(adder)
    }
}

impl Drop for Adder<'_> {
    fn drop(&mut self) {
        // Release: pairs with the Acquire in `has_adders`. Who finds us gone sees all that we have added.
        self.0.holds.fetch_sub(ADDER, Ordering::Release);
    }
}

impl Header {
    /// Whether a thread may be adding to its shared cells that has found it current. For who has seen that it
    /// is not: once this is false, all that such threads have added is seen, and none will add any more.
    /// (One that comes later registers, for as long as it takes to see that it is too late.)
    pub(super) fn has_adders(&self) -> bool {
        fence(Ordering::SeqCst); // pairs with the one in `Adder::of`
        // Acquire: pairs with the Release in the adder's `drop`.
        self.holds.load(Ordering::Acquire) >= ADDER
    }

    /// Takes a free header; false if it is not free. Its one hold is for the slot that it will be put
    /// into.
    pub(super) fn take(&self) -> bool {
        // Relaxed: only a hint, which keeps the line unwritten.
        self.holds.load(Ordering::Relaxed) == 0
            // Acquire: pairs with the Release in `let_go`. All that was done with it is behind us.
            && self.holds.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Ends a hold: the caller's own, or that of a link which the caller has cut.
    pub(super) fn let_go(&self) {
        // Release: pairs with the Acquire in `take`, and in `Held::by`.
        self.holds.fetch_sub(1, Ordering::Release);
    }
}
