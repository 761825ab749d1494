//! The ring that half the field writes: one atomic per event, the new start published by
//! compare-and-set, zeros stored afterwards.
//!
//! Exactly one thread wins the start, so there is no double reset; but between its compare-and-set
//! and its zeros others find the start, add, and are wiped.

use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_utils::CachePadded;

use super::{EVENTS, Ring};

#[derive(Default)]
struct Bucket {
    start: AtomicU64,
    counts: [AtomicU64; EVENTS],
}

/// A ring of plain atomics without any lock.
pub struct CasRing {
    length: u64,
    buckets: Box<[CachePadded<Bucket>]>,
}

impl CasRing {
    /// `buckets` equal buckets over `interval`.
    pub fn new(interval: u64, buckets: usize) -> CasRing {
        CasRing {
            length: interval / buckets as u64,
            buckets: (0..buckets).map(|_| CachePadded::default()).collect(),
        }
    }

    fn interval(&self) -> u64 {
        self.length * self.buckets.len() as u64
    }

    fn slot(&self, time: u64) -> &Bucket {
        &self.buckets[(time / self.length) as usize % self.buckets.len()]
    }
}

impl Ring for CasRing {
    #[inline]
    fn add_at(&self, now: u64, n: u64) -> bool {
        let start = now - now % self.length;
        let bucket = self.slot(now);
        let mut found = bucket.start.load(Ordering::Acquire);
        while found < start {
            match bucket.start.compare_exchange(found, start, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => {
                    for count in &bucket.counts {
                        count.store(0, Ordering::Relaxed);
                    }
                    found = start;
                }
                Err(newer) => found = newer,
            }
        }
        if found == start {
            bucket.counts[0].fetch_add(n, Ordering::Relaxed);
        }
        found == start
    }

    fn bucket(&self, _now: u64, start: u64) -> u64 {
        let bucket = self.slot(start);
        let counted = bucket.counts[0].load(Ordering::Relaxed);
        if bucket.start.load(Ordering::Acquire) == start { counted } else { 0 }
    }

    fn sum_at(&self, now: u64) -> u64 {
        let live = |start| start <= now && now - start < self.interval();
        let live = |bucket: &&CachePadded<Bucket>| live(bucket.start.load(Ordering::Acquire));
        let count = |bucket: &CachePadded<Bucket>| bucket.counts[0].load(Ordering::Relaxed);
        self.buckets.iter().filter(live).map(count).sum()
    }
}
