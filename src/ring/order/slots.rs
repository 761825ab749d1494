//! The slots of one generation of the ring: which bucket stands for each start now.
//!
//! A slot is empty at first. From then on it leads to ever newer buckets, each a whole number of rounds
//! after the one before; the thread that replaces one releases the slot's reference to it. A bucket that has left the
//! ring may be taken out without another in its place (see `slot`).

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
    /// A generation of these slots takes nothing over from the one before.
    pub(in crate::ring) forgets: bool,
    ring: Box<[Slot]>,
    /// Which of them may lead to buckets whose shared cells were added to.
    pub(in crate::ring) touched: TouchedSlots,
    /// The first grace period after which no thread writes to these slots or their buckets. Taken when
    /// the generation is over.
    pub(in crate::ring) no_writers: Ticket,
    /// The first grace period after which no thread reads them either. Taken when their numbers are
    /// carried.
    pub(in crate::ring) no_readers: Ticket,
}

/// What a thread finds that looks for the bucket of a start, to act on it.
#[derive(Debug)]
pub(in crate::ring) enum Lookup<'r> {
    /// The bucket.
    Found(BucketRef<'r>),
    /// The start has left the ring, which has come to `newest` at least.
    Left { newest: u64 },
    /// There was never a bucket of the start. One may be put in the place of this.
    Free(Content<'r>),
}

impl Slots {
    pub(in crate::ring) fn new(geometry: Geometry) -> Result<Slots, BuildError> {
        let buckets = geometry.buckets();
        let too_many = BuildError::TooManyBuckets { buckets };
        let mut ring = Vec::new();
        if u32::try_from(buckets).is_err() || ring.try_reserve_exact(buckets).is_err() {
            return Err(too_many);
        }
        ring.resize_with(buckets, Slot::empty);
        let (no_writers, no_readers) = (Ticket::default(), Ticket::default());
        let touched = TouchedSlots::new(buckets);
        Ok(Slots {
            geometry,
            forgets: false,
            ring: ring.into_boxed_slice(),
            touched,
            no_writers,
            no_readers,
        })
    }

    /// The same, for a generation that forgets what was before.
    pub(in crate::ring) fn forgetting(geometry: Geometry) -> Result<Slots, BuildError> {
        Ok(Slots { forgets: true, ..Slots::new(geometry)? })
    }

    /// The slot with a number.
    #[inline]
    pub(in crate::ring) fn slot(&self, number: usize) -> &Slot {
        &self.ring[number]
    }

    /// The slot of a start.
    pub(in crate::ring) fn slot_at(&self, start: u64) -> &Slot {
        self.slot(self.geometry.slot_of(start))
    }

    /// All slots.
    pub(in crate::ring) fn all(&self) -> &[Slot] {
        &self.ring
    }

    /// Whether nothing was ever put into a slot. What was current is in its slot once it is retired.
    pub(in crate::ring) fn is_untouched(&self) -> bool {
        // A thread that has seen a newer bucket current sees those in their slots before it.
        self.ring.iter().all(Slot::is_untouched)
    }

    /// Whether a bucket is in its slot. For checks at rest.
    pub(in crate::ring) fn has(&self, bucket: &Bucket) -> bool {
        self.slot_at(bucket.start()).leads_to(bucket, Ordering::Relaxed)
    }

    /// Looks for the bucket of a start.
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

    /// Puts `bucket`, to which the caller has a reference, into its slot, unless it or a newer one is there.
    /// Idempotent.
    pub(in crate::ring) fn install(&self, bucket: &Bucket) {
        let start = bucket.start();
        // SAFETY: dropped below, while the caller has a reference to a bucket of the same window.
        while let Lookup::Free(older) = unsafe { self.find(start) } {
            if self.slot_at(start).replace(&older, bucket) {
                return;
            }
        }
    }

    /// Takes the bucket of a start that has left the ring out of its slot. False if it is not there, or no longer.
    pub(in crate::ring) fn evict(&self, start: u64) -> bool {
        // SAFETY: dropped below; a thread that evicts is in the window.
        let found = unsafe { self.slot_at(start).content() };
        matches!(&found, Content::Bucket(there) if there.start() == start)
            && self.slot_at(start).evict(&found, self.geometry.round_of(start))
    }

    /// What the shared cells of buckets hold that begin in a range which is not empty, at a position that adds up, if the interval
    /// that ends at `newest` is touched. `None` if a bucket was reused meanwhile, which need not have been of the interval:
    /// it may be found again in another slot.
    ///
    /// Takes no reference. The caller checks afterwards that `current` is what it was, so that no bucket of
    /// its interval has left its slot.
    pub(in crate::ring) fn each_touched(
        &self,
        starts: RangeInclusive<u64>,
        newest: u64,
        mut see: impl FnMut(&Bucket),
    ) -> Option<()> {
        let (oldest, span) = (*starts.start(), starts.end().wrapping_sub(*starts.start()));
        // Loops, and no chain of iterators: this is most of what such a sum takes.
        for range in self.touched.slots(newest) {
            for slot in &self.ring[range.start..range.end.min(self.ring.len())] {
                // SAFETY: buckets live as long as the window.
                let Some(bucket) = (unsafe { slot.follow() }) else { continue };
                // As `Versioned::load`, and `is_valid`.
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

/// The last start of an interval with a touched bucket; zero at first, which says of the interval that ends
/// at time zero that it may have one.
#[derive(Debug, Default)]
pub(in crate::ring) struct Touched(AtomicU64);

impl Touched {
    /// Before the shared cells of a bucket are added to.
    pub(in crate::ring) fn touch(&self, until: u64) {
        // Relaxed, both: it only rises. A reader that the add happened before finds it raised, by coherence;
        // and one that it did not happen before may leave the add out.
        if self.0.load(Ordering::Relaxed) < until {
            self.0.fetch_max(until, Ordering::Relaxed);
        }
    }

    /// Whether the interval that ends with the bucket at `newest` may have a touched bucket.
    #[inline]
    pub(in crate::ring) fn reaches(&self, newest: u64) -> bool {
        self.0.load(Ordering::Relaxed) >= newest // as in `touch`
    }
}

/// The same of each group of neighbouring slots.
#[derive(Debug)]
pub(in crate::ring) struct TouchedSlots {
    /// How many slots a group has: about as many as there are groups.
    size: usize,
    groups: Box<[Touched]>,
}

impl TouchedSlots {
    pub(in crate::ring) fn new(slots: usize) -> TouchedSlots {
        let size = sized(slots.isqrt().max(1), slots);
        TouchedSlots {
            size,
            groups: (0..slots.div_ceil(size)).map(|_| Touched::default()).collect(),
        }
    }

    /// Before the shared cells of the bucket in a slot are added to.
    pub(in crate::ring) fn touch(&self, slot: usize, until: u64) {
        self.groups[slot / self.size].touch(until);
    }

    /// The slots that may lead to a touched bucket of the interval that ends at `newest`, in ranges, the last
    /// of which may go beyond the end.
    pub(in crate::ring) fn slots(&self, newest: u64) -> impl Iterator<Item = Range<usize>> {
        let touched = move |(_, group): &(usize, &Touched)| group.reaches(newest);
        let groups = self.groups.iter().enumerate().filter(touched);
        groups.map(|(group, _)| group * self.size..(group + 1) * self.size)
    }
}

/// Calls `each` with the buckets from one start to before another that were live once. False if one of
/// them is not closed yet, or has left its slot: then what `each` has seen may be wrong.
///
/// Takes no reference. The caller checks afterwards that `current` is what it was
/// before: then none of these buckets has left its slot.
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

    /// A thread that stood still comes to put a bucket into its slot that others have put there, and taken out again.
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
