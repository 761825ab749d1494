//! Views: what one read sees of the ring: the newest bucket, the geometry, and any bucket that it
//! looks for.
//!
//! A read takes `current` first, then the time. It writes nothing, holds no reference and allocates
//! nothing (except for a thread's first pin). So a bucket may be reused while it is read: the read
//! checks the version afterwards, and leaves out what it has read if that has changed.

use std::cell::Cell;
use std::ops::Range;

use crate::event::layout::BucketLayout;
use crate::reclaim::Guard;
use crate::ring::Ring;
use crate::ring::order::bucket_ref::Versioned;
use crate::ring::order::generation::Generation;
use crate::ring::order::geometry::Geometry;
use crate::ring::order::slot::Slot;
use crate::ring::order::tier::Tier;

/// The ring as one read sees it, at one time.
pub(crate) struct View<'g> {
    ring: &'g Ring,
    guard: &'g Guard,
    current: Versioned<'g>,
    /// The start of `current`, and its slot.
    live: u64,
    slot: usize,
    generation: &'g Generation,
    now: u64,
    /// True if the time is that of an earlier view, which was torn.
    is_repeated: bool,
    /// True if a bucket that was looked for has left the ring meanwhile.
    overtaken: Cell<bool>,
    /// True if the numbers that were read of a tier may not belong together.
    torn: Cell<bool>,
}

/// The numbers of a bucket.
#[derive(Clone, Copy)]
pub(crate) enum BucketData<'g> {
    Bucket {
        found: Versioned<'g>,
        is_current: bool,
    },
    /// Carried from earlier geometries, and final.
    Carried(&'g [u64]),
}

impl<'g> View<'g> {
    /// Makes a view of the newest bucket, at no time yet; `None` if it is overtaken already.
    #[inline]
    pub(in crate::ring) fn of(ring: &'g Ring, guard: &'g Guard) -> Option<View<'g>> {
        // SAFETY: buckets live as long as the ring.
        let current = unsafe { Versioned::load(ring.current()) }?;
        let (live, slot) = (current.bucket.start(), current.bucket.slot());
        let generation = current.bucket.generation(guard);
        if !current.is_valid() {
            return None;
        }
        // SAFETY: it was current under the guard.
        let generation = unsafe { generation.deref() };
        let (overtaken, torn) = (Cell::new(false), Cell::new(false));
        let (now, is_repeated) = (0, false);
        Some(View {
            ring,
            guard,
            current,
            live,
            slot,
            generation,
            now,
            is_repeated,
            overtaken,
            torn,
        })
    }

    /// Returns the view at a time; `is_repeated` says that the time is an earlier view's, which was
    /// torn.
    #[inline]
    pub(in crate::ring) fn at(self, now: u64, is_repeated: bool) -> View<'g> {
        View { now, is_repeated, ..self }
    }

    /// Returns whether the time is that of an earlier view, which was torn: an exact number may
    /// never be found, where buckets are shorter than a read.
    pub(in crate::ring) fn is_repeated(&self) -> bool {
        self.is_repeated
    }

    pub(crate) fn geometry(&self) -> Geometry {
        self.generation.geometry()
    }

    pub(crate) fn tier_geometry(&self, tier: usize) -> Option<Geometry> {
        self.generation().tiers.get(tier).map(Tier::geometry)
    }

    pub(in crate::ring) fn generation(&self) -> &'g Generation {
        self.generation
    }

    pub(in crate::ring) fn layout(&self) -> BucketLayout {
        self.ring.store.layout
    }

    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    /// Returns the start of the live bucket.
    pub(crate) fn live(&self) -> u64 {
        self.live
    }

    /// Returns the start of the bucket that the time lies in.
    pub(crate) fn newest(&self) -> u64 {
        // Mostly the live one's, for which no division is needed.
        if self.is_live() { self.live } else { self.geometry().start_of(self.now) }
    }

    /// Returns whether the time lies in the live bucket.
    #[inline]
    pub(super) fn is_live(&self) -> bool {
        self.now >= self.live && self.now - self.live < self.geometry().length()
    }

    /// Returns whether only back-dated adds can add to a bucket without data.
    pub(crate) fn is_past(&self, start: u64) -> bool {
        start < self.live
    }

    /// Returns whether a bucket that was looked for has left the ring meanwhile.
    pub(in crate::ring) fn is_overtaken(&self) -> bool {
        self.overtaken.get()
    }

    /// Returns whether the numbers that were read do not belong together, so that they must be read
    /// again.
    pub(in crate::ring) fn is_torn(&self) -> bool {
        self.torn.get()
    }

    /// Returns what a bucket holds at a position; zero if it was reused meanwhile.
    #[inline]
    pub(crate) fn number(&self, data: BucketData<'_>, position: usize) -> u64 {
        match data {
            BucketData::Bucket { found, .. } => {
                let number = self.ring.store.number(found.bucket, position);
                if self.is_valid(data) { number } else { 0 }
            }
            BucketData::Carried(numbers) => numbers[position],
        }
    }

    /// Returns what a bucket holds at two extremes of the same pairs; zeros if it was reused
    /// meanwhile.
    pub(super) fn extremes(&self, data: BucketData<'_>, extremes: [usize; 2]) -> [u64; 2] {
        match data {
            BucketData::Bucket { found, .. } => {
                let numbers = self.ring.store.extremes(found.bucket, extremes);
                if self.is_valid(data) { numbers } else { [0; 2] }
            }
            BucketData::Carried(numbers) => extremes.map(|position| numbers[position]),
        }
    }

    /// Calls `see` with the positions of these wide pairs at which a bucket holds something, and
    /// the numbers there. The caller asks afterwards whether the data [is valid](Self::is_valid).
    pub(crate) fn each_number(
        &self,
        data: BucketData<'_>,
        pairs: Range<usize>,
        mut see: impl FnMut(usize, u64),
    ) {
        match data {
            BucketData::Bucket { found, .. } => {
                self.ring.store.each_number(found.bucket, pairs, see);
            }
            BucketData::Carried(numbers) => {
                let carried = pairs.map(|position| (position, numbers[position]));
                carried.filter(|(_, number)| *number > 0).for_each(|(at, number)| see(at, number));
            }
        }
    }

    /// Merges what a bucket holds at a position into `total`.
    pub(crate) fn merge(&self, data: BucketData<'_>, position: usize, total: &mut u64) {
        *total = self.layout().join(position, *total, self.number(data, position));
    }

    /// Returns whether all that was read belongs to the bucket that was found.
    #[inline]
    pub(crate) fn is_valid(&self, data: BucketData<'_>) -> bool {
        let valid = match data {
            BucketData::Bucket { found, .. } => found.is_valid(),
            BucketData::Carried(_) => true,
        };
        if !valid {
            self.overtaken.set(true);
        }
        valid
    }

    pub(in crate::ring) fn ring(&self) -> &'g Ring {
        self.ring
    }

    /// Returns whether `current` is what it was, and was so all the time.
    pub(super) fn is_current(&self) -> bool {
        self.ring.is_current(self.current)
    }

    /// Returns the start of the bucket that is live by now, if the ring still has the tiers that
    /// were found. The caller has found that `current` [is not](Self::is_current) what it was.
    pub(super) fn live_by_now(&self) -> Option<u64> {
        // Behind the fence in `Ring::is_current`: not older than the numbers that were read.
        let now = View::of(self.ring, self.guard)?;
        now.generation.tiers.are(&self.generation.tiers).then_some(now.live)
    }

    /// Returns whether the ring is still of the generation that was found. All that its tiers were
    /// told until then has been seen.
    pub(crate) fn has_present_generation(&self) -> bool {
        // Its fence makes this thread see the next generation too, if a closer has seen that before
        // it took an extreme from a block: new tiers are told nothing of a bucket of an earlier
        // generation.
        if self.is_current() {
            return true;
        }
        // SAFETY: buckets live as long as the ring.
        let current = unsafe { Versioned::load(self.ring.current()) };
        current.is_some_and(|current| {
            current.bucket.rank().0 == self.generation.number && current.is_valid()
        })
    }

    /// Says that something that was found has changed.
    pub(super) fn overtake(&self) {
        self.overtaken.set(true);
    }

    /// Says that the numbers that were read do not belong together.
    pub(super) fn tear(&self) {
        self.overtaken.set(true);
        self.torn.set(true);
    }

    /// Returns the live bucket as it was found.
    pub(in crate::ring) fn found(&self) -> Versioned<'g> {
        self.current
    }

    pub(in crate::ring) fn current(&self) -> BucketData<'g> {
        BucketData::Bucket { found: self.current, is_current: true }
    }

    /// Returns the data of a bucket that the slots of an earlier generation lead to.
    pub(in crate::ring) fn inherited(&self, found: Versioned<'g>) -> BucketData<'g> {
        let is_current = std::ptr::eq(found.bucket, self.current.bucket);
        BucketData::Bucket { found, is_current }
    }

    /// Returns the number of the slot of a start that is in the ring.
    #[inline]
    pub(in crate::ring) fn slot_of(&self, start: u64) -> usize {
        // Mostly the slot of the live bucket or of the one before, for which no division is needed.
        let geometry = self.geometry();
        match self.live - start {
            0 => self.slot,
            age if age == geometry.length() => {
                if self.slot == 0 {
                    geometry.buckets() - 1
                } else {
                    self.slot - 1
                }
            }
            _ => geometry.slot_of(start),
        }
    }

    /// Returns the bucket at `start`, found by its slot, if it was ever opened. The start is in the
    /// ring, and older than `current`.
    #[inline]
    pub(in crate::ring) fn bucket(&self, start: u64, slot: &Slot) -> Option<BucketData<'g>> {
        let found = match self.load(slot) {
            Ok(found) => found,
            Err(rounds) => {
                // Mostly zero, for which no division is needed.
                if rounds > 0 && self.geometry().round_of(start) < rounds as u64 {
                    self.overtaken.set(true);
                }
                return None;
            }
        };
        let there = found.bucket.start();
        if there == start {
            return Some(BucketData::Bucket { found, is_current: false });
        }
        // An older bucket says that this one was never opened; but not if the older one was reused
        // for that start since it was found here, and stands elsewhere now.
        if there > start || !found.is_valid() {
            self.overtaken.set(true);
        }
        None
    }

    /// Returns what a slot leads to, or the number of rounds that have left it.
    #[inline]
    pub(in crate::ring) fn load(&self, slot: &Slot) -> Result<Versioned<'g>, usize> {
        // SAFETY: buckets live as long as the ring.
        let found = unsafe { Versioned::load(slot) };
        found.ok_or_else(|| {
            let rounds = slot.rounds_left();
            if rounds.is_none() {
                self.overtaken.set(true); // there is a bucket, but another by now
            }
            rounds.unwrap_or(0)
        })
    }
}

impl BucketData<'_> {
    /// Returns whether only back-dated adds can change it.
    pub(crate) fn is_closed(self) -> bool {
        match self {
            BucketData::Bucket { found: Versioned { bucket, .. }, is_current } => {
                bucket.is_closed() || (!is_current && bucket.is_final())
            }
            BucketData::Carried(_) => true,
        }
    }
}
