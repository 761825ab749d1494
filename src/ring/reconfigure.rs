//! Changing the geometry while everybody goes on.
//!
//! The change is one compare-exchange of `current`, from a header of the old generation to one of
//! the next. Before it the old generation is as it was; after it, adds go to the new one, and the
//! new one *inherits* the old slots (see `generation`), into which stragglers may still be writing.
//! So no add is lost, and none is copied while it is under way.
//!
//! The new ring's newest bucket is the one that contains the start of the old ring's. The clock is
//! not asked: the next add moves on from there as from any other bucket.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::BuildError;
use crate::reclaim::{self, Guard, Owned};
use crate::ring::generation::{Change, Generation, Inherited};
use crate::ring::geometry::Geometry;
use crate::ring::header::Header;
use crate::ring::slots::Slots;
use crate::ring::{Ring, grace};
use crate::sync::{AtomicU64, Ordering};

impl Ring {
    /// Moves on to `geometry`, with what the old ring holds.
    pub(crate) fn reconfigure(&self, geometry: Geometry) -> Result<(), BuildError> {
        let slots = Arc::new(Slots::new(geometry)?);
        loop {
            let guard = reclaim::pin();
            let current = self.hold_current();
            let old = current.generation(&guard);
            // SAFETY: of a header that is current under the guard.
            let generation = unsafe { old.deref() };
            if generation.geometry() == geometry {
                return Ok(());
            }
            generation.slots.install(&current);
            self.close_silent(&guard);
            let newest = current.start();
            let change = Change { from: generation.geometry(), newest, to: geometry };
            let (next, over) = self.successor(generation, change, &slots, &guard);
            let settled = next.settled.clone();
            let next = Owned::new(next).into_shared(&guard);
            let new = self.open(next, geometry.start_of(newest));
            if !self.displace(&current, new, &slots) {
                // SAFETY: only a header leads to it that never was current.
                drop(unsafe { next.into_owned() });
                continue;
            }
            drop(current);
            begin_grace(&generation.slots.ticket, &guard);
            for slots in &settled {
                begin_grace(&slots.settled, &guard);
            }
            // These slots are in no generation that is followed any more, and nobody reads them or
            // writes to them; we alone have displaced the last that had them.
            over.iter().flat_map(|slots| self.headers(slots)).for_each(Header::let_go);
            // SAFETY: only headers of the old generation refer to it, and it is followed only from
            // one that was current under the guard, where there is none of them any more.
            unsafe { guard.defer_destroy(old) };
            drop(guard);
            self.settle();
            return Ok(());
        }
    }

    /// The generation that follows on a change; and which slots it does without, because
    /// their numbers are carried and nobody is reading them.
    fn successor(
        &self,
        old: &Generation,
        change: Change,
        slots: &Arc<Slots>,
        guard: &Guard,
    ) -> (Generation, Vec<Arc<Slots>>) {
        let mut next = Generation {
            number: old.number + 1,
            slots: Arc::clone(slots),
            inherited: vec![Inherited { slots: Arc::clone(&old.slots), changes: vec![change] }],
            settled: Vec::new(),
            carried: BTreeMap::new(),
        };
        let mut over = Vec::new();
        for slots in &old.settled {
            let ticket = slots.settled.load(Ordering::Relaxed); // as in `begin_grace`
            let done = ticket != 0 && grace::passed(ticket);
            if done { &mut over } else { &mut next.settled }.push(Arc::clone(slots));
        }
        for (start, numbers) in &old.carried {
            self.carry(&mut next, change.apply(*start), |position| numbers[position]);
        }
        for inherited in &old.inherited {
            let mut inherited = inherited.clone();
            inherited.changes.push(change);
            let silent = grace::passed(begin_grace(&inherited.slots.ticket, guard));
            let is_final = |header: &Header| header.block().is_none() || header.is_closed();
            // Where nothing is left to carry, not even to look: with short buckets an attempt must
            // not take longer than a bucket does.
            let in_ring = inherited.newest_now().is_some();
            if !silent
                || !self.headers(&inherited.slots).all(is_final)
                || (in_ring && self.awaits_turn(&inherited.slots))
            {
                next.inherited.push(inherited);
                continue;
            }
            if in_ring {
                for header in self.headers(&inherited.slots) {
                    header.check();
                    self.carry(&mut next, inherited.start_now(header.start()), |position| {
                        header.number(self, position)
                    });
                }
            }
            next.settled.push(inherited.slots);
        }
        (next, over)
    }

    /// The headers in slots of this ring's to which nobody writes any more: each is held by its
    /// slot.
    #[allow(clippy::unused_self)] // headers live as long as it does
    pub(super) fn headers<'r>(&'r self, slots: &Slots) -> impl Iterator<Item = &'r Header> {
        // SAFETY: headers live as long as the window. Relaxed: a grace period has passed since anybody
        // wrote to them, and whoever has seen that has seen all that was done before.
        slots.links().iter().filter_map(|slot| unsafe { slot.load(Ordering::Relaxed).as_ref() })
    }

    /// Merges final numbers into what `next` carries for a start, unless they are out of its ring.
    fn carry(&self, next: &mut Generation, start: Option<u64>, number: impl Fn(usize) -> u64) {
        let Some(start) = start else { return };
        let nothing = || vec![0; self.shape.cells()].into_boxed_slice();
        let carried = next.carried.entry(start).or_insert_with(nothing);
        for (position, total) in carried.iter_mut().enumerate() {
            *total = self.shape.join(position, *total, number(position));
        }
    }
}

/// Begins, unless somebody has, the grace period after which nobody uses what has come to its end,
/// and returns its ticket, which is kept in `place`.
///
/// For whoever has seen under the guard that it has.
fn begin_grace(place: &AtomicU64, guard: &Guard) -> u64 {
    // Relaxed, all: a ticket is a number, right whoever took it.
    let mut ticket = place.load(Ordering::Relaxed);
    if ticket == 0 {
        let new = grace::ticket();
        let first = place.compare_exchange(0, new, Ordering::Relaxed, Ordering::Relaxed);
        ticket = first.err().unwrap_or(new);
    }
    grace::begin(ticket, guard);
    ticket
}
