//! Buckets that are replaced under an epoch pin only: the add pins, loads the bucket's address from
//! its slot, and adds to its stripe; the first one of a new bucket swaps in a fresh one and leaves
//! the old one to the epochs.
//!
//! It is right: a pin keeps the bucket in memory during the add, and it is never reset. A window
//! per core does without three things of it: a pin for each add, an allocation for each bucket, and
//! stripes of their own for each bucket.

use std::sync::atomic::Ordering;

use crossbeam_epoch::{Atomic, Guard, Owned, Shared, pin};

use super::ring::{Count, EVENTS, Geometry, Ring, Stripes};

struct Bucket {
    start: u64,
    counters: [Stripes; EVENTS],
}

/// A ring of pointers to buckets.
pub struct EpochRing {
    geometry: Geometry,
    slots: Box<[Atomic<Bucket>]>,
}

impl EpochRing {
    /// `buckets` equal buckets over `interval`.
    pub fn new(interval: u64, buckets: usize) -> EpochRing {
        EpochRing {
            geometry: Geometry::new(interval, buckets),
            slots: (0..buckets).map(|_| Atomic::null()).collect(),
        }
    }

    fn load<'a>(
        slot: &Atomic<Bucket>,
        guard: &'a Guard,
    ) -> (Shared<'a, Bucket>, Option<&'a Bucket>) {
        let found = slot.load(Ordering::Acquire, guard);
        // SAFETY: a pointer in a slot was made by `Owned::new`, and is not freed before `guard` is
        // dropped.
        (found, unsafe { found.as_ref() })
    }

    /// Returns the bucket of `now`, none if that has left the ring.
    #[inline]
    fn bucket_of<'a>(&self, now: u64, guard: &'a Guard) -> Option<&'a Bucket> {
        let start = self.geometry.start(now);
        let slot = &self.slots[self.geometry.slot(now)];
        loop {
            let (found, bucket) = EpochRing::load(slot, guard);
            match bucket {
                Some(bucket) if bucket.start == start => return Some(bucket),
                Some(bucket) if bucket.start > start => return None,
                _ => {}
            }
            let fresh = Owned::new(Bucket { start, counters: Default::default() });
            let swapped =
                slot.compare_exchange(found, fresh, Ordering::AcqRel, Ordering::Relaxed, guard);
            if swapped.is_ok() && !found.is_null() {
                // SAFETY: the slot does not lead to it any more, and only the thread that took it
                // out gets here.
                unsafe { guard.defer_destroy(found) };
            }
        }
    }
}

impl Ring for EpochRing {
    #[inline]
    fn add_at(&self, now: u64, n: u64) -> bool {
        let guard = pin();
        let bucket = self.bucket_of(now, &guard);
        if let Some(bucket) = bucket {
            bucket.counters[0].add(n);
        }
        bucket.is_some()
    }

    fn bucket(&self, _now: u64, start: u64) -> u64 {
        let guard = pin();
        let (_, bucket) = EpochRing::load(&self.slots[self.geometry.slot(start)], &guard);
        bucket.filter(|bucket| bucket.start == start).map_or(0, |bucket| bucket.counters[0].sum())
    }

    fn sum_at(&self, now: u64) -> u64 {
        let guard = pin();
        let buckets = self.slots.iter().filter_map(|slot| EpochRing::load(slot, &guard).1);
        let live = buckets.filter(|bucket| self.geometry.contains(bucket.start, now));
        live.map(|bucket| bucket.counters[0].sum()).sum()
    }
}

impl Drop for EpochRing {
    fn drop(&mut self) {
        for slot in &mut self.slots {
            let bucket = std::mem::take(slot);
            // SAFETY: no other thread is left, and a pointer in a slot was made by `Owned::new`.
            drop(unsafe { bucket.try_into_owned() });
        }
    }
}
