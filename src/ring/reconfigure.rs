//! Changing the geometry while everybody goes on.
//!
//! The change is one compare-exchange of `current`, from a header of the old generation to one of
//! the next. Before it the old generation is as it was; after it, adds go to the new one, and the
//! new one *inherits* the old slots (see `generation`), into which stragglers may still be writing.
//! So no add is lost, and none is copied while it is under way.
//!
//! Whoever moves on may make the change: the caller, or, where buckets are shorter than an attempt takes,
//! a rotation that finds it proposed (see `proposal`).
//!
//! The new ring's newest bucket is the one that contains the start of the old ring's. The clock is
//! not asked: the next add moves on from there as from any other bucket.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::BuildError;
use crate::reclaim::{self, Guard, Owned};
use crate::ring::cursor::Passed;
use crate::ring::generation::{Carried, Change, Generation, Inherited};
use crate::ring::geometry::Geometry;
use crate::ring::header::Header;
use crate::ring::hold::Held;
use crate::ring::slots::Slots;
use crate::ring::{Ring, grace};
use crate::sync::{AtomicU64, Ordering, sized};

/// How often a change is attempted before it is proposed to others too.
const DIRECT: usize = sized(1, 0);

impl Ring {
    /// Moves on to `geometry`, with what the old ring holds.
    pub(crate) fn reconfigure(&self, geometry: Geometry) -> Result<(), BuildError> {
        let ours = Arc::new(Slots::new(geometry)?);
        let mut proposed = None;
        for attempt in 0.. {
            let guard = reclaim::pin();
            let current = self.hold_current();
            // SAFETY: of a header that is current under the guard.
            let generation = unsafe { current.generation(&guard).deref() };
            let number = generation.number;
            let was_made = || proposed.is_some_and(|of| of != number) && !ours.is_untouched();
            if generation.geometry() == geometry || was_made() {
                self.withdraw(&ours, &guard);
                break;
            }
            if (DIRECT..).contains(&attempt) && self.propose(&ours, number, &guard) {
                proposed = Some(number);
            }
            let slots = self.proposed(number, &guard).unwrap_or(&ours);
            if self.change(&current, slots, &guard) {
                let is_ours = Arc::ptr_eq(slots, &ours);
                if is_ours {
                    self.withdraw(&ours, &guard);
                }
                drop((current, guard));
                self.settle();
                if is_ours {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Moves on from `current` to a generation with these slots. False if somebody else has moved on:
    /// then the slots are as they were.
    pub(super) fn change(&self, current: &Held<'_>, slots: &Arc<Slots>, guard: &Guard) -> bool {
        let old = current.generation(guard);
        // SAFETY: of a header that was current under the guard.
        let generation = unsafe { old.deref() };
        generation.slots.install(current);
        self.close_silent(guard);
        let newest = current.start();
        let change = Change { from: generation.geometry(), newest, to: slots.geometry };
        // Until the attempt is over: what awaits its turn now must await it then.
        let agreed = self.cursor.agree();
        let (next, over) = self.successor(generation, change, slots, agreed.passed, guard);
        let settled = next.settled.clone();
        let next = Owned::new(next).into_shared(guard);
        let new = self.open(next, slots.geometry.start_of(newest));
        let moved = self.displace(current, new, slots);
        drop(agreed);
        if !moved {
            // SAFETY: only a header leads to it that never was current.
            drop(unsafe { next.into_owned() });
            return false;
        }
        begin_grace(&generation.slots.ticket, guard);
        for slots in &settled {
            begin_grace(&slots.settled, guard);
        }
        // These slots are in no generation that is followed any more, and nobody reads them or
        // writes to them; we alone have displaced the last that had them.
        over.iter().flat_map(|slots| self.headers(slots)).for_each(Header::let_go);
        // SAFETY: only headers of the old generation refer to it, and it is followed only from
        // one that was current under the guard, where there is none of them any more.
        unsafe { guard.defer_destroy(old) };
        true
    }

    /// The generation that follows on a change; and which slots it does without, because
    /// their numbers are carried and nobody is reading them.
    fn successor(
        &self,
        old: &Generation,
        change: Change,
        slots: &Arc<Slots>,
        passed: Passed,
        guard: &Guard,
    ) -> (Generation, Vec<Arc<Slots>>) {
        let (number, changes) = (old.number, vec![change]);
        let mut next = Generation {
            number: number + 1,
            slots: Arc::clone(slots),
            inherited: vec![Inherited { number, slots: Arc::clone(&old.slots), changes }],
            settled: Vec::new(),
            carried: BTreeMap::new(),
        };
        let mut over = Vec::new();
        for slots in &old.settled {
            let ticket = slots.settled.load(Ordering::Relaxed); // as in `begin_grace`
            let done = ticket != 0 && grace::passed(ticket);
            if done { &mut over } else { &mut next.settled }.push(Arc::clone(slots));
        }
        for (start, carried) in &old.carried {
            self.carry(&mut next, change.apply(*start), |position| carried.numbers[position]);
        }
        for (start, waiting) in old.waiting(passed) {
            self.carry_waiting(&mut next, change.apply(start), |position| waiting[position]);
        }
        for inherited in &old.inherited {
            let mut inherited = inherited.clone();
            inherited.changes.push(change);
            let silent = grace::passed(begin_grace(&inherited.slots.ticket, guard));
            let is_final = |header: &Header| header.block().is_none() || header.is_closed();
            if !silent || !self.headers(&inherited.slots).all(is_final) {
                next.inherited.push(inherited);
                continue;
            }
            // Where nothing is left to carry, not even to look: with short buckets an attempt must
            // not take longer than a bucket does.
            if inherited.newest_now().is_some() {
                for header in self.headers(&inherited.slots) {
                    header.check();
                    let start = inherited.start_now(header.start());
                    let number = |position: usize| header.number(self, position);
                    self.carry(&mut next, start, number);
                    if !passed.has(header.place()) {
                        self.carry_waiting(&mut next, start, number);
                    }
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
        let nothing = || Carried { numbers: vec![0; self.shape.cells()].into(), waiting: None };
        let carried = next.carried.entry(start).or_insert_with(nothing);
        self.join(&mut carried.numbers, number);
    }

    /// Merges numbers that were carried for a start into those of them that await their turn.
    fn carry_waiting(
        &self,
        next: &mut Generation,
        start: Option<u64>,
        number: impl Fn(usize) -> u64,
    ) {
        let Some(carried) = start.and_then(|start| next.carried.get_mut(&start)) else { return };
        let nothing = || vec![0; self.shape.cells()].into();
        let waiting = carried.waiting.get_or_insert_with(nothing);
        self.join(Arc::get_mut(waiting).expect("nobody else has it yet"), number);
    }

    /// Merges numbers into others.
    fn join(&self, totals: &mut [u64], number: impl Fn(usize) -> u64) {
        for (position, total) in totals.iter_mut().enumerate() {
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
