//! The slots of one generation of the ring: which bucket stands for each start now.
//!
//! A slot is empty at first. From then on it leads to ever newer buckets, each a whole number of
//! rounds after the one before. The thread that replaces a bucket releases the slot's reference to
//! it. A bucket that has left the ring may be taken out without a replacement (see `slot`).
//!
//! # Touched buckets
//!
//! A bucket is *touched* when its shared cells are first added to, and this is said before that
//! add, so that a sum at once can skip the others. A word holds the *last start* of an interval
//! that contains a touched bucket. It only rises, and no thread ever clears it: it is out of date
//! once the newest start has passed it. So no stalled thread can clear what another relies on.

use std::ops::{Range, RangeInclusive};

use crate::error::BuildError;
use crate::ring::order::bucket::Bucket;
use crate::ring::order::bucket_ref::{BucketPointer, BucketRef, Versioned};
use crate::ring::order::geometry::Geometry;
use crate::ring::order::slot::{Content, Slot};
use crate::ring::order::ticket::Ticket;
use crate::sync::{AtomicU64, Ordering, sized};

/// A ring of slots.
#[derive(Debug)]
pub(in crate::ring) struct Slots {
    pub(in crate::ring) geometry: Geometry,
    /// True if a generation of these slots takes nothing over from the one before.
    pub(in crate::ring) forgets: bool,
    ring: Box<[Slot]>,
    /// The slots that may lead to touched buckets; none of a tier's.
    pub(in crate::ring) touched: TouchedSlots,
    /// The first grace period after which no thread writes to these slots or their buckets. Taken
    /// when the generation is over.
    pub(in crate::ring) no_writers: Ticket,
    /// The first grace period after which no thread reads them either. Taken when their numbers are
    /// carried.
    pub(in crate::ring) no_readers: Ticket,
}

/// The outcome of a search for the bucket of a start.
#[derive(Debug)]
pub(in crate::ring) enum Lookup<'r> {
    /// The bucket, with a reference.
    Found(BucketRef<'r>),
    /// The start has left the ring, which has come to `newest` at least.
    Left { newest: u64 },
    /// The start never had a bucket. One may replace this content.
    Free(Content<'r>),
}

impl Slots {
    pub(in crate::ring) fn new(geometry: Geometry) -> Result<Slots, BuildError> {
        Slots::with(geometry, geometry.buckets())
    }

    /// Makes slots for a tier's level, which does not say which of them are touched.
    pub(in crate::ring) fn of_level(geometry: Geometry) -> Result<Slots, BuildError> {
        Slots::with(geometry, 0)
    }

    /// Makes slots, the first of which, `told`, say that they are touched.
    fn with(geometry: Geometry, told: usize) -> Result<Slots, BuildError> {
        let buckets = geometry.buckets();
        let too_many = BuildError::TooManyBuckets { buckets };
        let mut ring = Vec::new();
        if u32::try_from(buckets).is_err() || ring.try_reserve_exact(buckets).is_err() {
            return Err(too_many);
        }
        ring.resize_with(buckets, Slot::empty);
        let (no_writers, no_readers) = (Ticket::default(), Ticket::default());
        Ok(Slots {
            geometry,
            forgets: false,
            ring: ring.into_boxed_slice(),
            touched: TouchedSlots::new(told),
            no_writers,
            no_readers,
        })
    }

    /// Makes slots for a generation that forgets the one before.
    pub(in crate::ring) fn forgetting(geometry: Geometry) -> Result<Slots, BuildError> {
        Ok(Slots { forgets: true, ..Slots::new(geometry)? })
    }

    /// Returns the slot with a number.
    #[inline]
    pub(in crate::ring) fn slot(&self, number: usize) -> &Slot {
        &self.ring[number]
    }

    /// Returns the slot of a start.
    pub(in crate::ring) fn slot_at(&self, start: u64) -> &Slot {
        self.slot(self.geometry.slot_of(start))
    }

    /// Returns all slots.
    pub(in crate::ring) fn all(&self) -> &[Slot] {
        &self.ring
    }

    /// Returns whether nothing was ever put into any slot. A bucket that was current is in its slot
    /// once it is retired.
    pub(in crate::ring) fn is_untouched(&self) -> bool {
        // A thread that has seen a newer bucket current sees the earlier ones in their slots.
        self.ring.iter().all(Slot::is_untouched)
    }

    /// Returns whether a bucket is in its slot. For checks at rest.
    pub(in crate::ring) fn has(&self, bucket: &Bucket) -> bool {
        self.slot_at(bucket.start()).leads_to(bucket, Ordering::Relaxed)
    }

    /// Searches for the bucket of a start.
    ///
    /// # Safety
    /// The slots' window lives for `'r`.
    pub(in crate::ring) unsafe fn find<'r>(&self, start: u64) -> Lookup<'r> {
        // SAFETY: by contract.
        match unsafe { self.slot_at(start).content() } {
            Content::Bucket(there) if there.start() == start => Lookup::Found(there),
            Content::Bucket(newer) if newer.start() > start => {
                Lookup::Left { newest: newer.start() }
            }
            Content::Left(rounds) if self.geometry.round_of(start) < rounds as u64 => {
                Lookup::Left { newest: self.geometry.start_in_round(start, rounds as u64) }
            }
            older => Lookup::Free(older),
        }
    }

    /// Puts `bucket`, to which the caller has a reference, into its slot, unless it or a newer one
    /// is there. Idempotent.
    pub(in crate::ring) fn install(&self, bucket: &Bucket) {
        let start = bucket.start();
        // SAFETY: dropped below, while the caller has a reference to a bucket of the same window.
        while let Lookup::Free(older) = unsafe { self.find(start) } {
            if self.slot_at(start).replace(&older, bucket) {
                return;
            }
        }
    }

    /// Takes the bucket of a start that has left the ring out of its slot. Returns false if it is
    /// not there.
    pub(in crate::ring) fn evict(&self, start: u64) -> bool {
        // SAFETY: dropped below; a thread that evicts is in the window.
        let found = unsafe { self.slot_at(start).content() };
        matches!(&found, Content::Bucket(there) if there.start() == start)
            && self.slot_at(start).evict(&found, self.geometry.round_of(start))
    }

    /// Calls `see` with the touched buckets that begin in a range, which is not empty, of the
    /// interval that ends at `newest`; also with others of these starts. Returns `None` if a bucket
    /// was reused meanwhile: it may be found again in another slot, whether it was of the interval
    /// or not.
    ///
    /// Takes no reference. The caller checks afterwards that `current` is what it was, so that no
    /// bucket of its interval has left its slot.
    pub(in crate::ring) fn each_touched(
        &self,
        starts: RangeInclusive<u64>,
        newest: u64,
        mut see: impl FnMut(&Bucket),
    ) -> Option<()> {
        let (oldest, span) = (*starts.start(), starts.end().wrapping_sub(*starts.start()));
        // Loops instead of a chain of iterators, because this is most of the cost of such a sum.
        for range in self.touched.slots(newest) {
            for slot in &self.ring[range.start..range.end.min(self.ring.len())] {
                // SAFETY: buckets live as long as the window.
                let Some(bucket) = (unsafe { slot.follow() }) else { continue };
                // As in `Versioned::load` and `is_valid`.
                let version = bucket.version()?;
                if !slot.leads_to(bucket, Ordering::Relaxed) {
                    return None;
                }
                if bucket.start().wrapping_sub(oldest) <= span {
                    see(bucket);
                }
                if !bucket.has_version(version) {
                    return None;
                }
            }
        }
        Some(())
    }
}

/// The last start of an interval with a touched bucket. It begins with zero, which says that the
/// interval that ends at time zero may have one.
#[derive(Debug, Default)]
pub(in crate::ring) struct Touched(AtomicU64);

impl Touched {
    /// Says that the shared cells of a bucket are about to be added to.
    pub(in crate::ring) fn touch(&self, until: u64) {
        // Relaxed, both: the word only rises. A reader that the add happened before finds it
        // raised, by coherence; any other reader may leave the add out.
        if self.0.load(Ordering::Relaxed) < until {
            self.0.fetch_max(until, Ordering::Relaxed);
        }
    }

    /// Returns whether the interval that ends with the bucket at `newest` may have a touched
    /// bucket.
    #[inline]
    pub(in crate::ring) fn reaches(&self, newest: u64) -> bool {
        self.0.load(Ordering::Relaxed) >= newest // as in `touch`
    }
}

/// For each group of neighbouring slots, the last start of an interval with a touched bucket.
#[derive(Debug)]
pub(in crate::ring) struct TouchedSlots {
    /// The number of slots in a group: about the number of groups.
    size: usize,
    groups: Box<[Touched]>,
}

impl TouchedSlots {
    pub(in crate::ring) fn new(slots: usize) -> TouchedSlots {
        let size = sized(root(slots), slots).max(1);
        TouchedSlots {
            size,
            groups: (0..slots.div_ceil(size)).map(|_| Touched::default()).collect(),
        }
    }

    /// Says that the shared cells of the bucket in a slot are about to be added to.
    pub(in crate::ring) fn touch(&self, slot: usize, until: u64) {
        self.groups[slot / self.size].touch(until);
    }

    /// Returns the slots that may lead to a touched bucket of the interval that ends at `newest`,
    /// in ranges. The last range may go beyond the last slot.
    pub(in crate::ring) fn slots(&self, newest: u64) -> impl Iterator<Item = Range<usize>> {
        let touched = move |(_, group): &(usize, &Touched)| group.reaches(newest);
        let groups = self.groups.iter().enumerate().filter(touched);
        groups.map(|(group, _)| group * self.size..(group + 1) * self.size)
    }
}

/// Returns the whole root of a number, rounded down: Newton's steps from above. (The code of
/// `usize::isqrt` is ten times as long.)
fn root(number: usize) -> usize {
    let mut root = number;
    let mut next = number.div_ceil(2);
    while next < root {
        (root, next) = (next, usize::midpoint(next, number / next));
    }
    root
}

/// Calls `each` with the buckets that begin at `from` or later and before `to`, and were live once.
/// Returns false if one of them is not closed yet, or has left its slot: then what `each` has seen
/// may be wrong.
///
/// Takes no reference. The caller checks afterwards that `current` is what it was: then none of
/// these buckets has left its slot.
pub(in crate::ring) fn each_closed(
    slots: &Slots,
    from: u64,
    to: u64,
    mut each: impl FnMut(&Bucket),
) -> bool {
    if from >= to {
        return true;
    }
    let geometry = slots.geometry;
    let (mut start, mut slot) = (from, geometry.slot_of(from));
    while start < to {
        let pointer = slots.slot(slot);
        // SAFETY: buckets live as long as the window.
        if let Some(found) = unsafe { Versioned::load(pointer) } {
            let bucket = found.bucket;
            let (is_closed, there) = (bucket.is_closed(), bucket.start());
            if there > start || (there == start && !is_closed && bucket.block().is_some()) {
                return false;
            }
            if there == start && is_closed {
                each(bucket);
            }
            if !found.is_valid() {
                return false;
            }
        } else if pointer.rounds_left().is_none() {
            return false; // there is a bucket, but another by now
        }
        start += geometry.length();
        slot = if slot + 1 == geometry.buckets() { 0 } else { slot + 1 };
    }
    true
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::event::Kind;
    use crate::event::layout::{BucketLayout, CellIndex};
    use crate::reclaim;
    use crate::ring::Ring;

    const EVENTS: &[(&str, Kind)] = &[("Hit", Kind::Count)];

    /// A thread that has stalled puts a bucket into its slot that others have put there, and taken
    /// out again.
    #[test]
    fn what_has_left_is_not_put_back() {
        let geometry = Geometry::new(Duration::from_nanos(40), 4).expect("sound");
        let layout = BucketLayout::of(&EVENTS);
        let ring = Ring::new(geometry, Vec::new(), layout, 1_000).expect("sound");
        let cell = CellIndex::Count { cell: 0 };
        let late = ring.acquire_current();
        assert!(ring.add_at(1_053, 1_053, cell, 1).is_ok());
        let guard = reclaim::pin();
        // SAFETY: of a bucket that is current under the guard.
        let slots = &unsafe { ring.acquire_current().generation(&guard).deref() }.slots;
        assert!(!slots.evict(1_040), "another round's");
        assert!(slots.evict(1_000) && !slots.evict(1_000));
        slots.install(&late);
        // SAFETY: the ring is there.
        let find = |start| unsafe { slots.find(start) };
        for gone in [960, 1_000] {
            assert!(matches!(find(gone), Lookup::Left { newest: 1_040 }), "it was put back");
        }
        assert!(matches!(find(1_040), Lookup::Free(Content::Left(26))));
        assert!(matches!(find(1_050), Lookup::Found(_)));
        assert!(ring.add_at(1_043, 1_053, cell, 2).is_ok());
        assert!(matches!(find(1_040), Lookup::Found(_)));
        drop(late);
        assert_eq!(ring.view(|| 1_053, |view| view.total(0)), 3);
    }
}
