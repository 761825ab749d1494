//! A simple ring behind one lock: slow when shared, and right. The control of the loss test: if
//! this one were to lose a count, the test would be at fault.

use std::sync::{Mutex, MutexGuard};

use super::ring::{EVENTS, Geometry, Ring};

#[derive(Clone, Default)]
struct Bucket {
    start: u64,
    counts: [u64; EVENTS],
}

/// A ring of plain integers, locked as a whole.
pub struct MutexRing {
    geometry: Geometry,
    buckets: Mutex<Vec<Bucket>>,
}

impl MutexRing {
    /// `buckets` equal buckets over `interval`.
    pub fn new(interval: u64, buckets: usize) -> MutexRing {
        MutexRing {
            geometry: Geometry::new(interval, buckets),
            buckets: Mutex::new(vec![Bucket::default(); buckets]),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Bucket>> {
        self.buckets.lock().expect("no thread panics in here")
    }
}

impl Ring for MutexRing {
    #[inline]
    fn add_at(&self, now: u64, n: u64) -> bool {
        let start = self.geometry.start(now);
        let mut buckets = self.lock();
        let bucket = &mut buckets[self.geometry.slot(now)];
        if bucket.start < start {
            *bucket = Bucket { start, ..Bucket::default() };
        }
        let there = bucket.start == start;
        if there {
            bucket.counts[0] += n;
        }
        there
    }

    fn bucket(&self, _now: u64, start: u64) -> u64 {
        let buckets = self.lock();
        let bucket = &buckets[self.geometry.slot(start)];
        if bucket.start == start { bucket.counts[0] } else { 0 }
    }

    fn sum_at(&self, now: u64) -> u64 {
        let buckets = self.lock();
        let live = |bucket: &&Bucket| self.geometry.contains(bucket.start, now);
        buckets.iter().filter(live).map(|bucket| bucket.counts[0]).sum()
    }
}
