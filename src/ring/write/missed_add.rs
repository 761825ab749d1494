//! Adds that missed the quick path, and adds of a given time.
//!
//! ```text
//!   add_slowly
//!       |- in the live bucket: its block again, or its shared cells
//!       |- newer: rotate, and try again
//!       |- newer by more than the ring follows: `late`
//!       |- older, in the ring: its shared cells, and `shared_total`
//!       `- older, out of the ring: `late`, and each tier that reaches back so far
//! ```

use crate::event::layout::CellIndex;
use crate::reclaim::announced::{self, Slot};
use crate::reclaim::{self, Guard};
use crate::ring::Ring;
use crate::ring::cells::Update;
use crate::ring::order::bucket::Bucket;
use crate::ring::order::bucket::CLOSED;
use crate::ring::order::bucket_ref::{Adder, BucketPointer, BucketRef};
use crate::ring::order::generation::Generation;
use crate::ring::order::geometry::OutOfRing;
use crate::ring::order::opening::Opening;
use crate::ring::order::slots::Lookup;
use crate::ring::order::tier::Tier;
use crate::ring::write::bucket_hold::{Announced, Fenced, Hold, Pinned};
use crate::stripe::Strategy;
use crate::stripe::misses::{Miss, MissCell};
use crate::stripe::per_core::{self, ById, ByProcessor, Numbering};
use crate::stripe::retries::{attempt, retry};
use crate::stripe::row_numbers::Numbered;
use crate::sync::Ordering;

impl Ring {
    // Does not take the `Update` of the quick path, which would have to be written to memory.
    #[cold]
    pub(super) fn add_slowly(&self, at: u64, cells: CellIndex, number: u64) {
        let update = Update::new(cells, number);
        while let Err(outside) = self.add_in_ring(at, None, update) {
            if matches!(outside, OutOfRing::Expired { .. }) {
                let guard = reclaim::pin_apart();
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
            let guard = reclaim::pin_apart();
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

    /// Counts `update` through the live bucket's block; `None` on success. A value that is no part
    /// of a sum is not counted in blocks.
    fn add_live(&self, at: u64, update: Update) -> Option<Miss> {
        if update.is_beyond_sums() {
            return Some(Miss::Extreme);
        }
        let Update { cells, number } = update;
        let is_count = matches!(cells, CellIndex::Count { .. });
        let announces = matches!(self.strategy, Strategy::Portable | Strategy::Fenced);
        let sequence = |missed: &MissCell| {
            if self.strategy != Strategy::PerCore {
                let slot = if announces { announced::mine_or_taken() } else { None };
                missed.set(self.try_portably(slot, at, update));
            } else if let CellIndex::Count { cell } = cells {
                self.add_count_per_core(at, cell, number, missed);
            } else if let Some(for_records) = self.for_records {
                (for_records.add_per_core)(self, at, update, missed);
            }
        };
        // The quick path has tried a count already, by a sequence. A `Value` mostly lies beyond
        // what its row has seen, and so had no attempt yet. Nor had an extreme whose time was
        // given, nor an add without sequences of a thread that had no slot or no row.
        let first = if is_count && self.strategy == Strategy::PerCore {
            Some(Miss::Aborted)
        } else {
            attempt(&sequence)
        };
        if first == Some(Miss::Aborted) { retry(&sequence) } else { first }
    }

    /// Counts a number of a count as [`add_per_core`](Self::add_per_core) does.
    fn add_count_per_core(&self, at: u64, cell: u16, number: u64, missed: &MissCell) {
        let (live, cells) = (self.live(), CellIndex::Count { cell });
        let because = |why| missed.set(Some(why));
        if per_core::numbered() == Numbered::ById {
            Ring::add_per_core::<ById, _>(live, at, cells, number, because);
        } else {
            Ring::add_per_core::<ByProcessor, _>(live, at, cells, number, because);
        }
    }

    /// Counts an update as [`add_per_core`](Self::add_per_core) does, also a value beyond what the
    /// row has seen.
    pub(in crate::ring) fn add_any_per_core(&self, at: u64, update: Update, missed: &MissCell) {
        let Update { cells, number } = update;
        if per_core::numbered() == Numbered::ById {
            self.add_any_numbered::<ById>(at, cells, number, missed);
        } else {
            self.add_any_numbered::<ByProcessor>(at, cells, number, missed);
        }
    }

    fn add_any_numbered<N: Numbering>(
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
            Ok(bucket) => (!put_through(&bucket, at, update)).then_some(Miss::OtherBucket),
            Err(miss) => Some(miss),
        }
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
        if let Some(for_tiers) = self.for_tiers {
            (for_tiers.put)(&self.store, tiers, at, newest, update);
        }
    }
}

/// Counts `update` as [`Bucket::put`] does. (For all holds: its code once.)
#[inline(never)]
fn put_through(bucket: &Bucket, at: u64, update: Update) -> bool {
    bucket.put(at, update)
}
