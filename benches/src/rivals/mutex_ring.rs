//! A simple ring behind one lock: slow when shared, and right. The control of the loss test: if
//! this one were to lose a count, the test would be at fault.

use std::sync::{Mutex, MutexGuard};

use super::{EVENTS, Ring};

#[derive(Clone, Default)]
struct Bucket {
    start: u64,
    counts: [u64; EVENTS],
}

/// A ring of plain integers, locked as a whole.
pub struct MutexRing {
    length: u64,
    buckets: Mutex<Vec<Bucket>>,
}

impl MutexRing {
    /// `buckets` equal buckets over `interval`.
    pub fn new(interval: u64, buckets: usize) -> MutexRing {
        MutexRing {
            length: interval / buckets as u64,
            buckets: Mutex::new(vec![Bucket::default(); buckets]),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Bucket>> {
        self.buckets.lock().expect("nobody panics in here")
    }

    fn slot(&self, buckets: &[Bucket], time: u64) -> usize {
        (time / self.length) as usize % buckets.len()
    }
}

impl Ring for MutexRing {
    #[inline]
    fn add_at(&self, now: u64, n: u64) -> bool {
        let start = now - now % self.length;
        let mut buckets = self.lock();
        let slot = self.slot(&buckets, now);
        let bucket = &mut buckets[slot];
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
        let bucket = &buckets[self.slot(&buckets, start)];
        if bucket.start == start { bucket.counts[0] } else { 0 }
    }

    fn sum_at(&self, now: u64) -> u64 {
        let buckets = self.lock();
        let interval = self.length * buckets.len() as u64;
        let live = |bucket: &&Bucket| bucket.start <= now && now - bucket.start < interval;
        buckets.iter().filter(live).map(|bucket| bucket.counts[0]).sum()
    }
}
