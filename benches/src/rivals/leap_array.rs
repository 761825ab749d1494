//! Sentinel's `LeapArray`, from its articles' description: the baseline that windrow exists to
//! beat.
//!
//! The slot of a time is `time / length % buckets`. A writer looks at the start that stands in it:
//!
//! 1. nothing yet: compare-and-set the start; the loser looks again;
//! 2. the writer's own start: add;
//! 3. an older one: try the lock. The thread that gets it resets the bucket *in place*: the new
//!    start first, then zeros in all counters, one after the other. Other threads yield and look
//!    again;
//! 4. a newer one: the writer's bucket has left the ring.
//!
//! The flaw is in 3: from the store of the start until the store of the zero, other writers take
//! the bucket for theirs, and their adds are wiped. Nor is the start looked at again under the
//! lock: a second writer that saw the old start and came to the lock late resets the bucket that
//! the first has opened.

use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::thread;

use super::ring::{Bucket, Count, Ring, Slots, Stripes};

/// The start of a bucket that has none yet.
const EMPTY: u64 = 0;

/// An array of windows that are reset in place under one lock; a striped counter per event.
pub struct LeapArray {
    slots: Slots<Stripes>,
    update: Mutex<()>,
}

impl LeapArray {
    /// `buckets` equal buckets over `interval`.
    pub fn new(interval: u64, buckets: usize) -> LeapArray {
        LeapArray { slots: Slots::new(interval, buckets), update: Mutex::new(()) }
    }

    /// Returns the bucket of `now`, none if that has left the ring.
    fn bucket_of(&self, now: u64) -> Option<&Bucket<Stripes>> {
        let start = self.slots.geometry.start(now);
        let bucket = self.slots.at(now);
        loop {
            let found = bucket.start.load(Ordering::Acquire);
            if found == start {
                return Some(bucket);
            } else if found == EMPTY {
                // The loser looks again; the winner does too, and finds its own.
                let _ = bucket.start.compare_exchange(
                    found,
                    start,
                    Ordering::AcqRel,
                    Ordering::Relaxed,
                );
            } else if found > start {
                return None;
            } else if let Ok(_guard) = self.update.try_lock() {
                bucket.start.store(start, Ordering::Release);
                bucket.counts.iter().for_each(Count::reset);
                return Some(bucket);
            } else {
                thread::yield_now();
            }
        }
    }
}

impl Ring for LeapArray {
    #[inline]
    fn add_at(&self, now: u64, n: u64) -> bool {
        let bucket = self.bucket_of(now);
        if let Some(bucket) = bucket {
            bucket.counts[0].add(n);
        }
        bucket.is_some()
    }

    fn bucket(&self, _now: u64, start: u64) -> u64 {
        self.slots.bucket(start)
    }

    fn sum_at(&self, now: u64) -> u64 {
        self.slots.sum_at(now)
    }
}
