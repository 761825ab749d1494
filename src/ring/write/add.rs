//! Adding: to the live bucket in line, and in all other cases out of line.
//!
//! ```text
//!   add -- per core -- a sequence on the live bucket's block -------------- done
//!       |- portably -- an add to it, behind an announcement of the bucket - done
//!       `- by epochs - an add to it, under a pin --------------------------- done
//!            `- missed: add_slowly
//!                 |- in the live bucket: its block again, or its shared cells
//!                 |- newer: rotate, and try again
//!                 |- newer by more than the ring follows: `late`
//!                 |- older, in the ring: its shared cells, and `shared_total`
//!                 `- older, out of the ring: `late`, and each tier that reaches back so far
//! ```

use std::mem::offset_of;
use std::ptr::from_ref;

use crate::clock::UNKNOWN;
use crate::dependent::{self, Zero};
use crate::event::layout::{CellIndex, raise_of};
use crate::reclaim::announced::{self, Slot};
use crate::reclaim::{self, Guard};
use crate::ring::Ring;
use crate::ring::cells::Update;
use crate::ring::order::bucket::{CLOSED, Opening};
use crate::ring::order::bucket_ref::{Adder, BucketPointer, BucketRef};
use crate::ring::order::generation::Generation;
use crate::ring::order::geometry::OutOfRing;
use crate::ring::order::slots::Lookup;
use crate::ring::order::tier::Tier;
use crate::ring::write::hold::{Announced, Fenced, Hold, Pinned};
use crate::stripe::Strategy;
use crate::stripe::live_bucket::{HasLive, Live};
use crate::stripe::miss::{Miss, MissCell};
use crate::stripe::numbered::Numbered;
use crate::stripe::per_core::{self, ById, ByProcessor, InLine, Numbering};
use crate::stripe::rare::cold;
use crate::stripe::retry::{attempt, count_miss, retry};
use crate::sync::Ordering;
use crate::timestamp::Timestamp;

/// A window: a ring, and the clock by which adds to it are timed.
pub(crate) trait RingAndClock: HasLive + Sized {
    /// Returns the ring. (Makes the ring of a window in a static, if it is not made yet.)
    fn ring(&self) -> &Ring;

    /// Looks whether the ring is made and adds are per core, in line: the ordinary case. The ring
    /// is seen at [addresses that depend on the look](Zero::at).
    fn in_line(&self) -> Option<Zero>;

    /// Looks in the same way whether the ring is made and adds are announced.
    fn portable(&self) -> Option<Zero>;

    /// Returns the ring, without a look whether it is made.
    ///
    /// # Safety
    ///
    /// One of the other functions has told this thread that the ring is made, and `self` is at an
    /// address that depends on the answer; or the answer was `ring`'s.
    unsafe fn made(&self) -> &Ring;

    /// Returns the present time, in nanoseconds.
    fn nanos(&self) -> u64;

    /// Returns what an add [keeps](crate::Clock::kept) of a time, in nanoseconds.
    fn kept(at: u64) -> u64;
}

/// The cells of an event, by a type for each kind.
trait OfKind: Copy {
    fn index(self) -> CellIndex;
}

/// The cells of a `Count`.
impl OfKind for u16 {
    #[inline]
    fn index(self) -> CellIndex {
        CellIndex::Count { cell: self }
    }
}

/// The cells of a `Value`: its pair, and its extremes.
impl OfKind for (u16, u16) {
    #[inline]
    fn index(self) -> CellIndex {
        CellIndex::Value { pair: self.0, extremes: self.1 }
    }
}

/// The cells of a `Maximum` or a `Minimum`.
impl OfKind for (u16, bool) {
    #[inline]
    fn index(self) -> CellIndex {
        CellIndex::Extreme { cell: self.0, is_minimum: self.1 }
    }
}

/// Adds follow `current`: a bucket begins with its
/// [`LiveBucket`](crate::stripe::live_bucket::LiveBucket).
impl HasLive for Ring {
    const CURRENT: usize = offset_of!(Ring, current);
    const GUESS: usize = offset_of!(Ring, guess);
}

impl Ring {
    /// Counts a number in the bucket of `at`, or of the present time if that is [unknown](UNKNOWN);
    /// in `late` if the bucket has left the ring.
    ///
    /// (Takes the window, because a ring and a clock would take one more register on the quick
    /// path, which needs no clock.)
    #[inline(always)]
    #[allow(clippy::inline_always)] // so that `cells` is a constant, where the event is
    pub(crate) fn add<W: RingAndClock>(window: &W, at: Timestamp, cells: CellIndex, number: u64) {
        let at = at.as_nanos();
        if let Some(made) = window.in_line() {
            let missed = |miss| Ring::add_off_path(window, W::kept(at), cells, number, miss);
            let live = Live { window: from_ref(window), made };
            return Ring::add_per_core::<InLine, _>(live, at, cells, number, missed);
        }
        cold(); // so that the usual case needs no jump
        match cells {
            CellIndex::Count { cell } => Ring::add_away(window, at, cell, number),
            CellIndex::Value { pair, extremes } => {
                Ring::add_away(window, at, (pair, extremes), number);
            }
            CellIndex::Extreme { cell, is_minimum } => {
                Ring::add_away(window, at, (cell, is_minimum), number);
            }
        }
    }

    /// Adds as [`add`](Self::add) does, where adds are not in line: by a call. In line it would be
    /// more than a compiler puts in line once again, where an add stands in a small function of its
    /// caller.
    #[inline(always)]
    #[allow(clippy::inline_always)] // one of two calls
    fn add_away(window: &impl RingAndClock, at: u64, cells: impl OfKind, number: u64) {
        if let Some(made) = window.portable() {
            // SAFETY: the window is made.
            unsafe { Ring::add_held::<Announced>(made.at(window), at, cells, number) };
        } else {
            Ring::add_otherwise(window, at, cells, number);
        }
    }

    /// Adds in the other strategies; in any, if this add makes the window, or it was made since the
    /// look.
    #[inline(never)]
    fn add_otherwise(window: &impl RingAndClock, at: u64, cells: impl OfKind, number: u64) {
        let ring = window.ring();
        let missed = |miss| Ring::add_off_path(window, at, cells.index(), number, miss);
        match ring.strategy {
            Strategy::PerCore if !ring.is_in_line => {
                let (live, cells) = (ring.live(), cells.index());
                match per_core::numbered() {
                    Numbered::ById => {
                        Ring::add_per_core::<ById, _>(live, at, cells, number, missed);
                    }
                    Numbered::ByProcessor => {
                        Ring::add_per_core::<ByProcessor, _>(live, at, cells, number, missed);
                    }
                }
            }
            // SAFETY: the window is made: by now, if it was not.
            Strategy::Epochs => unsafe { Ring::add_held::<Pinned<'_>>(window, at, cells, number) },
            // SAFETY: as above.
            Strategy::Fenced => unsafe { Ring::add_held::<Fenced>(window, at, cells, number) },
            Strategy::PerCore | Strategy::Portable => missed(Miss::OtherBucket),
        }
    }

    /// Counts in the live bucket, if `at` lies in it and this thread has a row already. Nothing is
    /// called while an announcement holds the bucket, so no register is saved.
    ///
    /// Each strategy, and each kind of event in it, has a function of its own, which needs few
    /// registers: an instruction that waits for stores would wait for those that save them. (A call
    /// that would make the window needs more of them too.)
    ///
    /// # Safety
    ///
    /// The window is made, and is seen as made at this address.
    #[inline(never)]
    unsafe fn add_held<H: Hold>(
        window: &impl RingAndClock,
        at: u64,
        cells: impl OfKind,
        number: u64,
    ) {
        // SAFETY: the caller vouches for it.
        let ring = unsafe { window.made() };
        if let Ok(bucket) = H::hold(&ring.current, announced::mine())
            && bucket.put_in_row(at, || H::row(&bucket), Update::new(cells.index(), number))
        {
            return;
        }
        Ring::add_off_path(window, at, cells.index(), number, Miss::OtherBucket);
    }

    /// Adds after a miss on the quick path.
    #[cold]
    #[inline(never)]
    fn add_off_path(
        window: &impl RingAndClock,
        at: u64,
        cells: CellIndex,
        number: u64,
        miss: Miss,
    ) {
        dependent::acquire(); // behind the look whether the ring is made
        count_miss(miss);
        let at = if at == UNKNOWN.as_nanos() { window.nanos() } else { at };
        window.ring().add_slowly(at, cells, number);
    }

    /// Counts a number in the live bucket, if `at` lies in it. Otherwise, and for a value beyond
    /// what this core's row has seen, calls `missed`.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    fn add_per_core<N: Numbering, W: HasLive>(
        live: Live<W>,
        at: u64,
        cells: CellIndex,
        number: u64,
        missed: impl FnOnce(Miss),
    ) {
        // SAFETY: `current` is never null. A bucket that counts in a block is not reused before it
        // is quiescent (see `close`); any other never has a span, whatever its memory is reused
        // for.
        unsafe {
            match cells {
                CellIndex::Count { cell } => {
                    per_core::add_live::<N, W>(live, at, cell.into(), number, missed);
                }
                CellIndex::Value { pair, extremes } => {
                    let value = (pair.into(), extremes.into());
                    per_core::record_live::<N, W>(live, at, value, number, missed);
                }
                CellIndex::Extreme { cell, is_minimum } => {
                    let (position, to) = raise_of(cell, is_minimum, number);
                    per_core::raise_live::<N, W>(live, at, position, to, missed);
                }
            }
        }
    }

    /// Counts a number as [`add_per_core`](Self::add_per_core) does, also a value beyond what the
    /// row has seen.
    fn add_any_per_core<N: Numbering>(
        &self,
        at: u64,
        cells: CellIndex,
        number: u64,
        missed: &MissCell,
    ) {
        let live = self.live();
        let because = |why| missed.set(Some(why));
        let CellIndex::Value { pair, extremes } = cells else {
            return Ring::add_per_core::<N, _>(live, at, cells, number, because);
        };
        let (pair, extremes) = (pair.into(), extremes.into());
        let layout = self.store.layout;
        let pending = layout.pending(pair);
        // SAFETY: as in `add_per_core`; a block has a column for each pending value.
        unsafe {
            per_core::fold_live::<N, _>(live, at, (pair, extremes, pending), because);
            if missed.get().is_none() {
                per_core::record_pending::<N, _>(live, at, (pair, pending), number, because);
                // Many pairs have the same extremes: the next value in another pair shall find them
                // raised. If this misses, a later record raises them.
                if missed.get().is_none() && pair < layout.wide() {
                    per_core::fold_live::<N, _>(live, at, (pair, extremes, pending), |_| {});
                }
            }
        }
    }

    /// Returns the way to the live bucket, for a caller that knows that the ring is made.
    fn live(&self) -> Live<Ring> {
        Live { window: self, made: Zero::ORDERED }
    }

    /// Counts `update` in the live bucket, if `at` lies in it, with this thread's slot for
    /// announcements, if it has one. `None` on success.
    fn try_portably(&self, slot: Option<&Slot>, at: u64, update: Update) -> Option<Miss> {
        match self.strategy {
            Strategy::Portable => self.try_held::<Announced>(slot, at, update),
            Strategy::Epochs => self.try_held::<Pinned<'_>>(slot, at, update),
            _ => self.try_held::<Fenced>(slot, at, update),
        }
    }

    fn try_held<H: Hold>(&self, slot: Option<&Slot>, at: u64, update: Update) -> Option<Miss> {
        match H::hold(&self.current, slot) {
            Ok(bucket) => (!bucket.put(at, update)).then_some(Miss::OtherBucket),
            Err(miss) => Some(miss),
        }
    }

    // Does not take the `Update` of the quick path, which would have to be written to memory.
    #[cold]
    fn add_slowly(&self, at: u64, cells: CellIndex, number: u64) {
        let update = Update::new(cells, number);
        while let Err(outside) = self.add_in_ring(at, None, update) {
            if matches!(outside, OutOfRing::Expired { .. }) {
                let guard = reclaim::pin();
                let current = self.acquire_current();
                // SAFETY: of a bucket that is current under the guard.
                let of = unsafe { current.generation(&guard).deref() };
                let (geometry, newest) = (of.geometry(), current.start());
                if geometry.in_ring(geometry.start_of(at), newest) {
                    continue; // by a change: tiers that began anew must have no bucket ahead of it
                }
                self.put_in_tiers(&of.tiers, at, newest, update);
            }
            return update.put(&self.beside.late(self.store.layout));
        }
    }

    /// Counts a number in the bucket of `at`, if the clock's `now` admits that and the bucket is in
    /// the ring. Otherwise counts nowhere.
    pub(crate) fn add_at(
        &self,
        at: u64,
        now: u64,
        cells: CellIndex,
        number: u64,
    ) -> Result<(), OutOfRing> {
        self.add_in_ring(at, Some(now), Update::new(cells, number))
    }

    /// Counts `update` in the bucket of `at`; nowhere if the bucket has left the ring or is too far
    /// ahead, or if `now` does not admit `at`.
    ///
    /// Each further round follows a move of the ring: then `at` lies in the live bucket, or in an
    /// older one. The geometry that admits `at` must be the one in which its bucket would be
    /// opened: a time in the current bucket may be far ahead in a geometry of shorter buckets.
    fn add_in_ring(&self, at: u64, now: Option<u64>, update: Update) -> Result<(), OutOfRing> {
        loop {
            let admitted_by = now.map(|now| {
                let (geometry, newest) = self.newest();
                geometry.admit(at, now, newest).map(|()| geometry)
            });
            let admitted_by = admitted_by.transpose()?;
            let miss = self.add_live(at, update);
            if miss.is_none() {
                return Ok(());
            }
            let guard = reclaim::pin();
            let current = self.acquire_current();
            // SAFETY: of a bucket that is current under the guard.
            let of = unsafe { current.generation(&guard).deref() };
            let geometry = of.geometry();
            if admitted_by.is_some_and(|other| other != geometry) {
                continue;
            }
            let start = geometry.start_of(at);
            if start <= current.start() {
                // If the ring has only just come to this bucket, the next round adds through its
                // block.
                let has_column = miss == Some(Miss::OtherBucket) && current.block().is_some();
                if start == current.start() && has_column {
                    continue;
                }
                let put = self.put_beside(&current, start, update, &guard);
                let is_settled = self.shared_prefix.is_of(current.rank());
                drop((current, guard));
                if !is_settled {
                    self.settle();
                }
                if put? {
                    return Ok(());
                }
                continue;
            }
            if !geometry.follows(start, current.start(), self.max_lead) {
                return Err(OutOfRing::Ahead { newest: current.start() });
            }
            let moved = self.rotate(&current, at, &guard);
            drop((current, guard));
            if moved && !self.is_closed_by_another() {
                self.close_retired();
            }
        }
    }

    /// Counts `update` through the live bucket's block; `None` on success.
    fn add_live(&self, at: u64, update: Update) -> Option<Miss> {
        let Update { cells, number } = update;
        let announces = matches!(self.strategy, Strategy::Portable | Strategy::Fenced);
        let sequence = |missed: &MissCell| {
            if self.strategy != Strategy::PerCore {
                let slot = if announces { announced::mine_or_taken() } else { None };
                missed.set(self.try_portably(slot, at, update));
            } else if per_core::numbered() == Numbered::ById {
                self.add_any_per_core::<ById>(at, cells, number, missed);
            } else {
                self.add_any_per_core::<ByProcessor>(at, cells, number, missed);
            }
        };
        // A `Value` mostly comes here because it lies beyond what its row has seen: this is its
        // first attempt here. The same goes for an extreme alone whose time was given; and, without
        // sequences, for a thread that had no slot or no row.
        let first = match cells {
            CellIndex::Count { .. } if self.strategy == Strategy::PerCore => Some(Miss::Aborted),
            _ => attempt(sequence),
        };
        if first == Some(Miss::Aborted) { retry(sequence) } else { first }
    }

    /// Counts `update` in shared cells of the bucket at `start`, which is `current` or older.
    /// Returns false if the ring has moved on instead.
    fn put_beside(
        &self,
        current: &BucketRef<'_>,
        start: u64,
        update: Update,
        guard: &Guard,
    ) -> Result<bool, OutOfRing> {
        let _writer = self.shared_prefix.enter();
        if start < current.start() {
            // Relaxed: behind the fence in `enter`. (The bucket is not reused, so it does not
            // become current again.)
            return if self.current.leads_to(current.bucket(), Ordering::Relaxed) {
                self.add_back_dated(current, start, update, guard).map(|()| true)
            } else {
                Ok(false)
            };
        }
        // SAFETY: of a bucket that was current under the guard.
        let of = unsafe { current.generation(guard).deref() };
        Ok(self.put_live(current, of, update))
    }

    /// Counts `update` in the bucket at `start`, which is older than `current`.
    ///
    /// `current` never goes back, so no thread can make that bucket current any more. If it ever
    /// was current, it was in its slot before the caller could load `current`. So a bucket that is
    /// not in its slot may be put there.
    fn add_back_dated(
        &self,
        current: &BucketRef<'_>,
        start: u64,
        update: Update,
        guard: &Guard,
    ) -> Result<(), OutOfRing> {
        let of = current.generation(guard);
        // SAFETY: of a bucket that was current under the guard.
        let generation = unsafe { of.deref() };
        let (slots, geometry) = (&generation.slots, generation.geometry());
        if !geometry.in_ring(start, current.start()) {
            return Err(OutOfRing::Expired { oldest: geometry.oldest(current.start()) });
        }
        loop {
            // SAFETY: the window lives as long as `self`.
            match unsafe { slots.find(start) } {
                Lookup::Found(bucket) => {
                    self.put_shared(&bucket, generation, current.start(), update);
                    return Ok(());
                }
                // The ring has moved a whole round since `current` was loaded.
                Lookup::Left { newest } => {
                    return Err(OutOfRing::Expired { oldest: geometry.oldest(newest) });
                }
                Lookup::Free(older) => {
                    let opening = Opening::fine(of, start, current.start());
                    let new = self.store.open_without_block(&opening, CLOSED);
                    if !slots.slot_at(start).replace(&older, new) {
                        new.references.release(); // it will never be in a slot
                    }
                }
            }
        }
    }

    /// Counts `update` in the shared cells of a bucket, if it is still current, and returns whether
    /// it was. The bucket is neither closed nor final before that is done.
    fn put_live(&self, current: &BucketRef<'_>, of: &Generation, update: Update) -> bool {
        let adder = Adder::register(current, &self.current);
        if adder.is_some() {
            self.put_shared(current, of, current.start(), update);
        }
        adder.is_some()
    }

    /// Counts `update` in the shared cells of a bucket of a generation, and in those of the tiers.
    /// The newest bucket is at `newest`.
    fn put_shared(&self, bucket: &BucketRef<'_>, of: &Generation, newest: u64, update: Update) {
        let slots = &of.slots;
        let until = slots.geometry.until(bucket.start());
        slots.touched.touch(bucket.slot(), until);
        self.touched.touch(until);
        update.put(&self.store.cells(bucket));
        self.put_in_tiers(&of.tiers, bucket.start(), newest, update);
        update.put(&self.beside.shared_total(self.store.layout));
    }

    /// Counts `update` in each tier that reaches back to its time.
    fn put_in_tiers(&self, tiers: &[Tier], at: u64, newest: u64, update: Update) {
        for tier in tiers {
            self.store.put_in_tier(tier, at, newest, update);
        }
    }
}
