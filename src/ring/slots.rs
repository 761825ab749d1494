//! The slots of one generation of the ring: who holds each start now.
//!
//! A slot is empty at first. From then on it holds ever newer headers, each a whole number of rounds
//! after the one before; whoever replaces one ends the hold that the slot has on it.

use std::ptr::{from_ref, null_mut};

use crate::error::BuildError;
use crate::ring::geometry::Geometry;
use crate::ring::header::{Header, Link};
use crate::ring::hold::Held;
use crate::sync::{AtomicU64, Ordering};

/// A ring of slots.
#[derive(Debug)]
pub(super) struct Slots {
    pub(super) geometry: Geometry,
    ring: Box<[Link]>,
    /// The first grace period after which nobody writes to these slots or their headers; zero
    /// until somebody has seen that the generation is over.
    pub(super) ticket: AtomicU64,
    /// The first grace period after which nobody reads them either; zero until somebody has seen
    /// that their numbers are carried.
    pub(super) settled: AtomicU64,
}

impl Slots {
    pub(super) fn new(geometry: Geometry) -> Result<Slots, BuildError> {
        let buckets = geometry.buckets();
        let too_many = BuildError::TooManyBuckets { buckets };
        let mut ring = Vec::new();
        if u32::try_from(buckets).is_err() || ring.try_reserve_exact(buckets).is_err() {
            return Err(too_many);
        }
        ring.resize_with(buckets, || Link::new(null_mut()));
        let (ticket, settled) = (AtomicU64::new(0), AtomicU64::new(0));
        Ok(Slots { geometry, ring: ring.into_boxed_slice(), ticket, settled })
    }

    /// The slot with a number.
    #[inline]
    pub(super) fn slot(&self, number: usize) -> &Link {
        &self.ring[number]
    }

    /// The slot of a start.
    pub(super) fn of(&self, start: u64) -> &Link {
        self.slot(self.geometry.slot_of(start))
    }

    /// All slots.
    pub(super) fn links(&self) -> &[Link] {
        &self.ring
    }

    /// Whether nothing was ever put into a slot. What was current is in its slot once it is displaced.
    pub(super) fn is_untouched(&self) -> bool {
        // Relaxed: whoever has seen a newer header current sees those in their slots before it.
        self.ring.iter().all(|slot| slot.load(Ordering::Relaxed).is_null())
    }

    /// The header in the slot of a start, held.
    ///
    /// # Safety
    /// The slots' window lives for `'r`.
    pub(super) unsafe fn held<'r>(&self, start: u64) -> Option<Held<'r>> {
        // SAFETY: what a slot holds is a header of its window's.
        unsafe { Held::by(self.of(start)) }
    }

    /// Puts `header`, which the caller holds, into its slot, unless it or a newer one is there.
    /// Anyone may do it again.
    pub(super) fn install(&self, header: &Header) {
        let start = header.start();
        loop {
            // SAFETY: held no longer than here, where the caller's header of the same window is.
            let seen = unsafe { self.held(start) };
            if seen.as_ref().is_some_and(|there| there.start() >= start)
                || self.replace(start, seen.as_ref(), header)
            {
                return;
            }
        }
    }

    /// Puts `new` into the slot of `start` in place of what was seen there, an older bucket that has
    /// left the ring. False if the slot holds something else by now.
    pub(super) fn replace(&self, start: u64, seen: Option<&Held<'_>>, new: &Header) -> bool {
        let old = seen.map_or(null_mut(), |held| from_ref(held.header()).cast_mut());
        // Release: publishes the header to whoever finds it here.
        let (order, failed) = (Ordering::Release, Ordering::Relaxed);
        let new = from_ref(new).cast_mut();
        let replaced = self.of(start).compare_exchange(old, new, order, failed).is_ok();
        if replaced && let Some(old) = seen {
            old.let_go(); // the slot's hold; `seen` has one of its own
        }
        replaced
    }
}
