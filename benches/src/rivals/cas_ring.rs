//! The ring that half the field writes: one atomic per event, the new start published by
//! compare-and-set, zeros stored afterwards.
//!
//! Exactly one thread wins the start, so there is no double reset; but between its compare-and-set
//! and its zeros others find the start, add, and are wiped.

use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_utils::CachePadded;

use super::ring::{Count, EVENTS, Geometry, Ring};

#[derive(Default)]
struct Bucket {
    start: AtomicU64,
    counts: [AtomicU64; EVENTS],
}

/// A ring without any lock.
pub struct CasRing {
    geometry: Geometry,
    buckets: Box<[CachePadded<Bucket>]>,
}

impl CasRing {
    /// `buckets` equal buckets over `interval`.
    pub fn new(interval: u64, buckets: usize) -> CasRing {
        CasRing {
            geometry: Geometry::new(interval, buckets),
            buckets: (0..buckets).map(|_| CachePadded::default()).collect(),
        }
    }

    fn slot(&self, time: u64) -> &Bucket {
        &self.buckets[self.geometry.slot(time)]
    }
}

impl Ring for CasRing {
    #[inline]
    fn add_at(&self, now: u64, n: u64) -> bool {
        let start = self.geometry.start(now);
        let bucket = self.slot(now);
        let mut found = bucket.start.load(Ordering::Acquire);
        while found < start {
            match bucket.start.compare_exchange(found, start, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => {
                    bucket.counts.iter().for_each(Count::reset);
                    found = start;
                }
                Err(newer) => found = newer,
            }
        }
        if found == start {
            bucket.counts[0].add(n);
        }
        found == start
    }

    fn bucket(&self, _now: u64, start: u64) -> u64 {
        let bucket = self.slot(start);
        let counted = bucket.counts[0].sum();
        if bucket.start.load(Ordering::Acquire) == start { counted } else { 0 }
    }

    fn sum_at(&self, now: u64) -> u64 {
        let live = |start| self.geometry.contains(start, now);
        let live = |bucket: &&CachePadded<Bucket>| live(bucket.start.load(Ordering::Acquire));
        self.buckets.iter().filter(live).map(|bucket| bucket.counts[0].sum()).sum()
    }
}
