//! The slots of one generation of the ring: who holds each start now.
//!
//! A slot is empty at first. From then on it holds ever newer headers, each a whole number of rounds
//! after the one before; whoever replaces one ends its link.

use crate::error::BuildError;
use crate::reclaim::{Atomic, Guard, Owned, Shared};
use crate::ring::geometry::Geometry;
use crate::ring::header::Header;
use crate::sync::{AtomicU64, Ordering};

/// A ring of slots.
#[derive(Debug)]
pub(super) struct Slots {
    pub(super) geometry: Geometry,
    ring: Box<[Atomic<Header>]>,
    /// The first grace period after which nobody writes to these slots or their headers; zero
    /// until somebody has seen that the generation is over.
    pub(super) ticket: AtomicU64,
}

impl Slots {
    pub(super) fn new(geometry: Geometry) -> Result<Slots, BuildError> {
        let mut ring = Vec::new();
        ring.try_reserve_exact(geometry.buckets())
            .map_err(|_| BuildError::TooManyBuckets { buckets: geometry.buckets() })?;
        ring.resize_with(geometry.buckets(), Atomic::null);
        Ok(Slots { geometry, ring: ring.into_boxed_slice(), ticket: AtomicU64::new(0) })
    }

    /// The slot of a start.
    fn of(&self, start: u64) -> &Atomic<Header> {
        &self.ring[self.geometry.slot_of(start)]
    }

    /// What the slot of a start holds, or null.
    pub(super) fn held<'g>(&self, start: u64, guard: &'g Guard) -> Shared<'g, Header> {
        self.held_at(self.geometry.slot_of(start), guard)
    }

    /// What the slot with a number holds, or null.
    pub(super) fn held_at<'g>(&self, slot: usize, guard: &'g Guard) -> Shared<'g, Header> {
        // Acquire: pairs with the Release in `replace`; we see the header.
        self.ring[slot].load(Ordering::Acquire, guard)
    }

    /// What all slots hold.
    pub(super) fn headers<'g>(&self, guard: &'g Guard) -> impl Iterator<Item = Shared<'g, Header>> {
        let held = (0..self.ring.len()).map(|slot| self.held_at(slot, guard));
        held.filter(|header| !header.is_null())
    }

    /// Puts `header` into its slot, unless it or a newer one is there. Anyone may do it again.
    pub(super) fn install(&self, header: Shared<'_, Header>, guard: &Guard) {
        // SAFETY: the caller has loaded it from `current`, or made it, under the guard.
        let start = unsafe { header.deref() }.start;
        loop {
            let seen = self.held(start, guard);
            // SAFETY: null, or loaded under the guard.
            if unsafe { seen.as_ref() }.is_some_and(|there| there.start >= start)
                || self.replace(start, seen, header, guard)
            {
                return;
            }
        }
    }

    /// Puts a header that was never current into its slot, if that still holds what was seen there.
    pub(super) fn insert(&self, seen: Shared<'_, Header>, new: Owned<Header>, guard: &Guard) {
        let start = new.start;
        let new = new.into_shared(guard);
        if !self.replace(start, seen, new, guard) {
            // SAFETY: nobody has seen it.
            drop(unsafe { new.into_owned() });
        }
    }

    /// Puts `new` into the slot of `start` in place of what was seen there, an older bucket that has
    /// left the ring. False if the slot holds something else by now.
    fn replace(
        &self,
        start: u64,
        seen: Shared<'_, Header>,
        new: Shared<'_, Header>,
        guard: &Guard,
    ) -> bool {
        // Release: publishes the header to whoever finds it here.
        let (order, failed) = (Ordering::Release, Ordering::Relaxed);
        let replaced = self.of(start).compare_exchange(seen, new, order, failed, guard).is_ok();
        if replaced && !seen.is_null() {
            // SAFETY: just taken out of its slot.
            unsafe { Header::release(seen, guard) };
        }
        replaced
    }
}
