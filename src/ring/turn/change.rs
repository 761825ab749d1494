//! Changing the geometry, or clearing, while all other threads go on.
//!
//! A change is one compare-exchange of `current`, from a bucket of the old generation to one of the
//! next. Until then the old generation is as it was. From then on adds go to the new one, which
//! *inherits* the old slots (see `generation`): stragglers may still be writing to them. So no add
//! is lost, and none is copied while it is under way.
//!
//! Any thread that moves on may make the change: the caller, or, where buckets are shorter than an
//! attempt takes, a rotation that finds it proposed (see `proposal`).
//!
//! The new ring's newest bucket is the one that contains the start of the old ring's. The change
//! does not ask the clock: the next add moves on from there as from any other bucket.
//!
//! # Clearing
//!
//! A ring that *forgets* takes nothing over. Its newest bucket is the one that contains the clock's
//! present time; it is older than the old ring's if the clock was once far ahead. No rule is
//! against that: a bucket's rank, by which threads know that it is retired, is its generation
//! first. Tiers, whose buckets belong to no generation, would count a boundary that the ring passes
//! twice from the first time on. So the next generation gets new tiers where the ring goes back
//! past a boundary; unless the clock's time is in the ring all the same: then adds at that time
//! count, and the ring stays where it is.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::BuildError;
use crate::reclaim::grace;
use crate::reclaim::{self, Guard, Owned};
use crate::ring::Ring;
use crate::ring::order::bucket::{Bucket, Prefix};
use crate::ring::order::bucket_ref::BucketRef;
use crate::ring::order::carried::{AllCarried, Carried};
use crate::ring::order::generation::{Change, Generation, Inherited, Passed};
use crate::ring::order::geometry::Geometry;
use crate::ring::order::opening::Opening;
use crate::ring::order::slots::Slots;
use crate::ring::order::ticket::Ticket;
use crate::ring::order::tier::Tiers;
use crate::ring::store::OfTier;
use crate::ring::store::block::Block;
use crate::sync::sized;

/// The number of attempts after which a thread also proposes its change to others.
const DIRECT: usize = sized(1, 0);

impl Ring {
    /// Changes the geometry, and keeps what the old ring holds.
    #[inline]
    pub(crate) fn reconfigure(&self, geometry: Geometry) -> Result<(), BuildError> {
        if let Some(OfTier { geometry: tier, .. }) = self.store.tiers.first() {
            geometry.check_tier(*tier)?;
        }
        self.move_to(&Arc::new(Slots::new(geometry)?), || 0)?;
        Ok(())
    }

    /// Moves on to a ring of the same geometry, without what the old one holds, whose newest bucket
    /// contains `now`.
    pub(crate) fn clear(&self, now: impl Fn() -> u64) -> Result<(), BuildError> {
        while !self.move_to(&Arc::new(Slots::forgetting(self.geometry())?), &now)? {}
        Ok(())
    }

    /// Moves on to a generation with these slots; to the bucket of `now` if they forget. Returns
    /// false if they forget and the geometry has changed meanwhile, or another thread has made the
    /// change and has left the ring ahead of the clock.
    fn move_to(&self, ours: &Arc<Slots>, now: impl Fn() -> u64) -> Result<bool, BuildError> {
        let mut proposed = None;
        for attempt in 0.. {
            let guard = reclaim::pin_apart();
            let current = self.acquire_current();
            // SAFETY: of a bucket that is current under the guard.
            let generation = unsafe { current.generation(&guard).deref() };
            let number = generation.number;
            // A bucket that was current is in its slot once it is retired, and maybe not before.
            let is_used = || Arc::ptr_eq(&generation.slots, ours) || !ours.is_untouched();
            let was_made = || proposed.is_some_and(|of| of != number) && is_used();
            let has_geometry = generation.geometry() == ours.geometry;
            if was_made() || has_geometry != ours.forgets {
                self.proposal.withdraw(ours, &guard);
                let is_behind = || current.start() <= ours.geometry.start_of(now());
                return Ok(if ours.forgets { was_made() && is_behind() } else { true });
            }
            if (DIRECT..).contains(&attempt)
                && self.proposal.propose(ours, number, Ring::change_as_proposed, &guard)
            {
                proposed = Some(number);
            }
            let slots = self.proposal.of(number, &guard).map_or(ours, |(slots, _)| slots);
            // The clock is read after `current`: no bucket that an add has opened at the clock's
            // time is ahead of it.
            let at = if slots.forgets && ours.forgets { now() } else { current.start() };
            let begun = self.beginning(&current, generation, slots, at);
            let (start, tiers) = begun.inspect_err(|_| self.proposal.withdraw(ours, &guard))?;
            if self.change(&current, slots, (start, tiers), &guard) {
                let is_ours = Arc::ptr_eq(slots, ours);
                if is_ours {
                    self.proposal.withdraw(ours, &guard);
                }
                drop((current, guard));
                self.close_retired();
                if is_ours {
                    break;
                }
            }
        }
        Ok(true)
    }

    /// Returns the start of the next generation's newest bucket, at a time, and its tiers.
    #[inline]
    fn beginning(
        &self,
        current: &BucketRef<'_>,
        old: &Generation,
        slots: &Slots,
        at: u64,
    ) -> Result<(u64, Tiers), BuildError> {
        let (start, newest) = (slots.geometry.start_of(at), current.start());
        if start >= newest || old.tiers.are_at_one(start, newest) {
            Ok((start, old.tiers.clone()))
        } else if slots.geometry.in_ring(start, newest) {
            Ok((newest, old.tiers.clone()))
        } else {
            let tiers = self.store.tiers.iter().map(|tier| tier.geometry);
            Ok((start, Tiers::new(tiers, old.number + 1)?))
        }
    }

    /// Moves on to a generation with these slots, which another thread has proposed.
    #[inline]
    fn change_as_proposed(
        &self,
        current: &BucketRef<'_>,
        slots: &Arc<Slots>,
        guard: &Guard,
    ) -> bool {
        // SAFETY: of a bucket that was current under the guard.
        let tiers = &unsafe { current.generation(guard).deref() }.tiers;
        let start = slots.geometry.start_of(current.start());
        self.change(current, slots, (start, tiers.clone()), guard)
    }

    /// Moves on from `current` to a generation with these slots, whose newest bucket is at `start`,
    /// and these tiers. Returns false if another thread has moved on: then the slots are as they
    /// were.
    #[inline]
    fn change(
        &self,
        current: &BucketRef<'_>,
        slots: &Arc<Slots>,
        (start, tiers): (u64, Tiers),
        guard: &Guard,
    ) -> bool {
        let old = current.generation(guard);
        // SAFETY: of a bucket that was current under the guard.
        let generation = unsafe { old.deref() };
        generation.slots.install(current);
        let all_closed = self.close_quiescent(guard);
        self.write_tier_prefixes(current, generation, all_closed);
        let newest = current.start();
        let change = Change { from: generation.geometry(), newest, to: slots.geometry };
        // Held until the attempt is over: what awaits its turn now must await it then.
        let agreed = self.cursor.agree();
        let (mut next, over) =
            self.successor(generation, change, (slots, tiers), agreed.passed, guard);
        if slots.forgets {
            next.first_turn = generation.first_turn_behind(agreed.passed, start);
            next.anew = (next.number, next.first_turn);
        }
        let superseded = next.superseded.clone();
        if next.has_older() {
            // What was taken over may have shared cells, as long as it is in the interval.
            self.touched.touch(slots.geometry.until(start));
        }
        let next = Owned::new(next).into_shared(guard);
        // A ring that forgets has no older bucket in its interval; in any other, the prefix is not
        // known.
        let prefix = |new: &Bucket, _: &Block| {
            if slots.forgets {
                new.set_prefix(Prefix::Alone);
            }
        };
        let new = self.store.open(&Opening::first(next, start), &prefix);
        let moved = self.replace_current(current, new, slots);
        drop(agreed);
        if !moved {
            // SAFETY: only a bucket that never was current leads to it.
            drop(unsafe { next.into_owned() });
            return false;
        }
        begin_grace(&generation.slots.no_writers, guard);
        for slots in &superseded {
            begin_grace(&slots.no_readers, guard);
        }
        // These slots are in no generation that threads still follow, and no thread reads them or
        // writes to them. This thread alone has retired the last generation that had them.
        over.iter()
            .flat_map(|slots| self.buckets(slots))
            .for_each(|bucket| bucket.references.release());
        // SAFETY: only buckets of the old generation refer to it. A thread follows it only from one
        // that was current under its guard, and none of them is current any more.
        unsafe { guard.defer_destroy(old) };
        true
    }

    /// Makes the generation that follows on a change, and returns the slots that it drops: their
    /// numbers are carried, and no thread is reading them.
    #[inline]
    fn successor(
        &self,
        old: &Generation,
        change: Change,
        (slots, tiers): (&Arc<Slots>, Tiers),
        passed: Passed,
        guard: &Guard,
    ) -> (Generation, Vec<Arc<Slots>>) {
        let (number, changes) = (old.number, vec![change]);
        let mut next = Generation {
            number: number + 1,
            own_from: change.newest.saturating_add(1).max(old.own_from),
            slots: Arc::clone(slots),
            inherited: Vec::new(),
            superseded: Vec::new(),
            carried: AllCarried::default(),
            first_turn: 0,
            anew: old.anew,
            tiers,
        };
        if !next.tiers.are(&old.tiers) {
            next.own_from = 0;
            next.superseded.extend(old.tiers.each_slots().map(Arc::clone));
        }
        let mut over = Vec::new();
        for slots in &old.superseded {
            let done = slots.no_readers.get().is_some_and(grace::passed);
            if done { &mut over } else { &mut next.superseded }.push(Arc::clone(slots));
        }
        if slots.forgets {
            // Threads that have loaded `current` before may still write to these; the grace period
            // waits for them.
            next.superseded
                .extend(old.inherited.iter().map(|inherited| Arc::clone(&inherited.slots)));
            next.superseded.push(Arc::clone(&old.slots));
            return (next, over);
        }
        let (slots, first_turn) = (Arc::clone(&old.slots), old.first_turn);
        next.inherited.push(Inherited { number, slots, changes, first_turn });
        let mut all = BTreeMap::new();
        for (start, carried) in old.carried.from(0) {
            self.carry(&mut all, change.apply(*start), |position| carried.numbers[position]);
        }
        for (start, waiting) in old.waiting(passed) {
            self.carry_waiting(&mut all, change.apply(start), |position| waiting[position]);
        }
        for inherited in &old.inherited {
            let mut inherited = inherited.clone();
            inherited.changes.push(change);
            let quiescent = grace::passed(begin_grace(&inherited.slots.no_writers, guard));
            let is_final = |bucket: &Bucket| bucket.block().is_none() || bucket.is_closed();
            if !quiescent || !self.buckets(&inherited.slots).all(is_final) {
                next.inherited.push(inherited);
                continue;
            }
            // Where nothing is left to carry, this thread does not even look: with short buckets an
            // attempt must not take longer than a bucket does.
            if inherited.newest_now().is_some() {
                for bucket in self.buckets(&inherited.slots) {
                    bucket.check();
                    let start = inherited.start_now(bucket.start());
                    let number = |position: usize| self.store.number(bucket, position);
                    self.carry(&mut all, start, number);
                    if !passed.has(bucket.rank()) && bucket.start() >= inherited.first_turn {
                        self.carry_waiting(&mut all, start, number);
                    }
                }
            }
            next.superseded.push(inherited.slots);
        }
        next.carried = AllCarried::new(all);
        (next, over)
    }

    /// Returns the buckets in slots of this ring to which no thread writes any more. Each slot
    /// refers to its bucket.
    #[allow(clippy::unused_self)] // buckets live as long as it does
    pub(in crate::ring) fn buckets<'r>(
        &'r self,
        slots: &Slots,
    ) -> impl Iterator<Item = &'r Bucket> {
        // SAFETY: buckets live as long as the window. A grace period has passed since the last
        // write, and a thread that has seen it pass has seen all that was done before.
        slots.all().iter().filter_map(|slot| unsafe { slot.final_bucket() })
    }

    /// Merges final numbers into what the next generation carries for a start, unless the start is
    /// out of its ring.
    fn carry(
        &self,
        all: &mut BTreeMap<u64, Carried>,
        start: Option<u64>,
        number: impl Fn(usize) -> u64,
    ) {
        let Some(start) = start else { return };
        let nothing =
            || Carried { numbers: vec![0; self.store.layout.cells()].into(), waiting: None };
        let carried = all.entry(start).or_insert_with(nothing);
        self.join(&mut carried.numbers, number);
    }

    /// Merges numbers that are carried for a start into those that await their turn.
    fn carry_waiting(
        &self,
        all: &mut BTreeMap<u64, Carried>,
        start: Option<u64>,
        number: impl Fn(usize) -> u64,
    ) {
        let Some(carried) = start.and_then(|start| all.get_mut(&start)) else { return };
        let nothing = || vec![0; self.store.layout.cells()].into();
        let waiting = carried.waiting.get_or_insert_with(nothing);
        self.join(Arc::get_mut(waiting).expect("no other thread has it yet"), number);
    }

    /// Merges numbers into others.
    #[inline]
    fn join(&self, totals: &mut [u64], number: impl Fn(usize) -> u64) {
        for (position, total) in totals.iter_mut().enumerate() {
            *total = self.store.layout.join(position, *total, number(position));
        }
    }
}

/// Begins the grace period after which no thread uses what has come to its end, unless one has
/// begun. Keeps its number in `ticket`, and returns it. The caller has seen the end under the
/// guard.
#[inline]
fn begin_grace(ticket: &Ticket, guard: &Guard) -> u64 {
    let ticket = ticket.get_or(grace::ticket);
    grace::begin(ticket, guard);
    ticket
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
