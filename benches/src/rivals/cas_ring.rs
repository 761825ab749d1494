//! The ring that half the field writes: one atomic per event, the new start published by
//! compare-and-set, zeros stored afterwards.
//!
//! Exactly one thread wins the start, so there is no double reset; but between its compare-and-set
//! and its zeros others find the start, add, and are wiped.

use std::sync::atomic::{AtomicU64, Ordering};

use super::ring::{Count, Ring, Slots};

/// A ring without any lock.
pub struct CasRing(Slots<AtomicU64>);

impl CasRing {
    /// `buckets` equal buckets over `interval`.
    pub fn new(interval: u64, buckets: usize) -> CasRing {
        CasRing(Slots::new(interval, buckets))
    }
}

impl Ring for CasRing {
    #[inline]
    fn add_at(&self, now: u64, n: u64) -> bool {
        let start = self.0.geometry.start(now);
        let bucket = self.0.at(now);
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
        self.0.bucket(start)
    }

    fn sum_at(&self, now: u64) -> u64 {
        self.0.sum_at(now)
    }
}
