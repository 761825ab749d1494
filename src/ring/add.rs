//! Adding: into the live bucket without looking left or right, and out of line for whatever else.
//!
//! ```text
//!   add -- per core -- a sequence on the live bucket's block -------------- done
//!       `- portably -- a locked add to it, under a pin -------------------- done
//!            `- refused: add_slowly
//!                 |- in the live bucket: its block again, or its shared cells
//!                 |- newer: rotate, and once more
//!                 |- older, in the ring: its shared cells, and `side`
//!                 `- older, out of the ring: `late`
//! ```

use std::ptr::{NonNull, from_ref};

use crate::Timestamp;
use crate::clock::UNTOLD;
use crate::column::Column;
use crate::layout::Place;
use crate::reclaim::{self, Guard};
use crate::ring::Ring;
use crate::ring::cells::Update;
use crate::ring::geometry::Outside;
use crate::ring::header::{CLOSED, Link};
use crate::ring::hold::{Adder, Held};
use crate::stripe::again::{Refusal, Refused, again, note_abort, once};
use crate::stripe::live::Live;
use crate::stripe::{Strategy, per_core};
use crate::sync::{AtomicPtr, Ordering};

/// What a ring is in, with a clock.
pub(crate) trait Around {
    fn ring(&self) -> &Ring;

    /// The time now, in nanoseconds.
    fn now(&self) -> u64;
}

impl Ring {
    /// Counts a number in the bucket of `at`, or of now if that is [untold](UNTOLD); in `late` if the bucket
    /// has left the ring.
    ///
    /// (Given what is around the ring, in place of the ring and its clock: that would be one thing more to
    /// carry along on the quick path, which needs no clock.)
    #[inline(always)]
    #[allow(clippy::inline_always)] // so that the place is a constant, as the event mostly is
    pub(crate) fn add(around: &impl Around, at: Timestamp, place: Place, number: u64) {
        let (ring, at) = (around.ring(), at.as_nanos());
        if ring.strategy == Strategy::PerCore {
            ring.add_per_core(at, place, number, |refusal| {
                if refusal == Refusal::Aborted {
                    note_abort();
                }
                Ring::add_when_told(around, at, place, number);
            });
        } else {
            Ring::add_without_sequences(around, at, place, number);
        }
    }

    /// As [`add`](Self::add), portably. Not inlined, because a pin is long; each kind of place by
    /// itself, because a `Count` then needs few registers, and stores that save them would wait before
    /// each locked instruction.
    #[inline]
    fn add_without_sequences(around: &impl Around, at: u64, place: Place, number: u64) {
        match place {
            Place::Count { cell } => Ring::count_without_sequences(around, at, cell, number),
            Place::Value { .. } => Ring::record_without_sequences(around, at, place, number),
        }
    }

    #[inline(never)]
    fn count_without_sequences(around: &impl Around, at: u64, cell: u16, number: u64) {
        let place = Place::Count { cell };
        let slowly = |_| Ring::add_when_told(around, at, place, number);
        around.ring().add_portably(at, place, number, slowly);
    }

    #[inline(never)]
    fn record_without_sequences(around: &impl Around, at: u64, place: Place, number: u64) {
        let slowly = |_| Ring::add_when_told(around, at, place, number);
        around.ring().add_portably(at, place, number, slowly);
    }

    /// As [`add`](Self::add), off the quick path.
    #[cold]
    #[inline(never)]
    fn add_when_told(around: &impl Around, at: u64, place: Place, number: u64) {
        let at = if at == UNTOLD.as_nanos() { around.now() } else { at };
        around.ring().add_slowly(at, place, number);
    }

    /// Counts a number in the live bucket, if `at` lies in it; else calls `refused`: also for a value
    /// beyond what this core's row has seen.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    fn add_per_core(&self, at: u64, place: Place, number: u64, refused: impl FnOnce(Refusal)) {
        let live = self.live();
        // SAFETY: `current` is never null, and a header that counts in a block is not made into
        // another bucket before it was silent (see `close`); one that does not has no reach,
        // whatever it is made into.
        unsafe {
            match place {
                Place::Count { cell } => per_core::add_live(live, at, cell.into(), number, refused),
                Place::Value { pair, extremes } => {
                    let places = (pair.into(), extremes.into());
                    per_core::record_live(live, at, places, number, refused);
                }
            }
        }
    }

    /// As [`add_per_core`](Self::add_per_core), of any value.
    fn add_any_per_core(&self, at: u64, place: Place, number: u64, refused: &Refused) {
        let because = |why| refused.set(Some(why));
        let Place::Value { pair, extremes } = place else {
            return self.add_per_core(at, place, number, because);
        };
        let (live, pair, extremes) = (self.live(), pair.into(), extremes.into());
        let pending = self.shape.pending(pair);
        // SAFETY: as in `add_per_core`; a block has a column for each pending value.
        unsafe {
            per_core::fold_live(live, at, (pair, extremes, pending), because);
            if refused.get().is_none() {
                per_core::record_pending(live, at, (pair, pending), number, because);
            }
        }
    }

    /// Where adds go; a header begins with what is live of it.
    #[inline(always)]
    #[allow(clippy::inline_always)] // an address
    fn live(&self) -> *const AtomicPtr<Live> {
        from_ref::<Link>(&self.current).cast()
    }

    /// As [`add_per_core`](Self::add_per_core), portably.
    #[inline(always)]
    #[allow(clippy::inline_always)] // its callers are the two ways to be called
    fn add_portably(&self, at: u64, place: Place, number: u64, refused: impl FnOnce(Refusal)) {
        let guard = reclaim::pin();
        // SAFETY: never null. Not held: as in `add_per_core`, with the pin in place of the
        // sequence.
        let header = unsafe { &*self.current.load(Ordering::Acquire) };
        if header.live.reaches(at) {
            header.check();
            let column = NonNull::new(header.live.column.load(Ordering::Relaxed));
            // SAFETY: a portable block's word is its first column, and there is one within reach.
            let column = unsafe { Column::new(column.unwrap_unchecked()) };
            Update::new(place, number).put(&column);
        } else {
            drop(guard);
            refused(Refusal::Elsewhere);
        }
    }

    // Not given the `Update` of the fast path, which would have to be put into memory for it.
    #[cold]
    fn add_slowly(&self, at: u64, place: Place, number: u64) {
        let update = Update::new(place, number);
        if self.add_in_ring(at, None, update).is_err() {
            update.put(&*self.late);
        }
    }

    /// Counts a number in the bucket of `at`, if the clock's `now` admits that and the bucket is in the
    /// ring; nowhere else.
    pub(crate) fn add_at(
        &self,
        at: u64,
        now: u64,
        place: Place,
        number: u64,
    ) -> Result<(), Outside> {
        self.add_in_ring(at, Some(now), Update::new(place, number))
    }

    /// Counts `update` in the bucket of `at`; nowhere if that has left the ring, or is not admitted at
    /// `now`.
    ///
    /// Each time round, the ring has moved on: either `at` is in the present bucket by then, or
    /// older. What admits it is the geometry in which its bucket would be opened: in one of longer buckets
    /// a time may lie in the bucket of now which in this one is far ahead.
    fn add_in_ring(&self, at: u64, now: Option<u64>, update: Update) -> Result<(), Outside> {
        loop {
            let admitted_by = now.map(|now| {
                let (geometry, newest) = self.newest();
                geometry.admit(at, now, newest).map(|()| geometry)
            });
            let admitted_by = admitted_by.transpose()?;
            let refusal = self.add_live(at, update);
            if refusal.is_none() {
                return Ok(());
            }
            let guard = reclaim::pin();
            let current = self.hold_current();
            // SAFETY: of a header that is current under the guard.
            let geometry = unsafe { current.generation(&guard).deref() }.geometry();
            if admitted_by.is_some_and(|other| other != geometry) {
                continue;
            }
            let start = geometry.start_of(at);
            if start < current.start() {
                return self.add_back_dated(&current, start, update, &guard);
            }
            if start == current.start() {
                // Through its block, if the ring has only just come to this bucket.
                let has_way = refusal == Some(Refusal::Elsewhere) && current.block().is_some();
                if !has_way && self.put_live(&current, update) {
                    return Ok(());
                }
                continue;
            }
            let moved = self.rotate(&current, at, &guard);
            drop((current, guard));
            if moved && !self.is_closed_by_another() {
                self.settle();
            }
        }
    }

    /// Counts `update` through the live bucket's block. Says why not, if it has not.
    fn add_live(&self, at: u64, update: Update) -> Option<Refusal> {
        let Update { place, number } = update;
        let per_core = self.strategy == Strategy::PerCore;
        let sequence = |refused: &Refused| {
            if per_core {
                self.add_any_per_core(at, place, number, refused);
            } else {
                self.add_portably(at, place, number, |why| refused.set(Some(why)));
            }
        };
        // A value is mostly here because it lies beyond what its row has seen: it was not tried like this.
        let first = match place {
            Place::Value { .. } => once(sequence),
            Place::Count { .. } => Some(Refusal::Aborted),
        };
        if first == Some(Refusal::Aborted) { again(sequence) } else { first }
    }

    /// Counts `update` in the bucket at `start`, older than `current`.
    ///
    /// `current` never goes back, so nobody can make that bucket current any more; and if it ever
    /// was, it was in its slot before `current` could be loaded. What we do not find there we may
    /// put there.
    fn add_back_dated(
        &self,
        current: &Held<'_>,
        start: u64,
        update: Update,
        guard: &Guard,
    ) -> Result<(), Outside> {
        let of = current.generation(guard);
        // SAFETY: of a header that was current under the guard.
        let slots = &unsafe { of.deref() }.slots;
        let geometry = slots.geometry;
        if !geometry.in_ring(start, current.start()) {
            return Err(Outside::Before { oldest: geometry.oldest(current.start()) });
        }
        loop {
            // SAFETY: the window lives as long as `self`.
            let seen = unsafe { slots.held(start) };
            match &seen {
                Some(header) if header.start() == start => {
                    self.put_shared(header, update);
                    return Ok(());
                }
                // A whole round has passed since `current` was loaded.
                Some(newer) if newer.start() > start => {
                    return Err(Outside::Before { oldest: geometry.oldest(newer.start()) });
                }
                _ => {
                    let new = self.unstriped.take();
                    new.make(of, start);
                    new.made(CLOSED);
                    if !slots.replace(start, seen.as_ref(), new) {
                        new.let_go(); // it will never be in a slot
                    }
                }
            }
        }
    }

    /// Counts `update` in the shared cells of a header that is current; not if it no longer is. Nobody
    /// calls the bucket closed before that is done.
    fn put_live(&self, current: &Held<'_>, update: Update) -> bool {
        let adder = Adder::of(current, &self.current);
        if adder.is_some() {
            self.put_shared(current, update);
        }
        adder.is_some()
    }

    /// Counts `update` in a header's shared cells.
    fn put_shared(&self, header: &Held<'_>, update: Update) {
        update.put(header.pairs());
        update.put(&*self.side);
    }
}
