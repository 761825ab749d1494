//! The bucket's number and its count in one word, changed together by compare-exchange.
//!
//! A thread that finds an older number replaces number and count at once, so that there is no
//! moment between them: nothing is lost, without a lock, a pin or an allocation. Its costs: a
//! compare-exchange loop for each add; a word for each event, so that the events of a bucket do not
//! change together; 32 bits for a count, after which it wraps; and no space for a sum, a minimum or
//! a maximum.

use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_utils::CachePadded;

use super::ring::{EVENTS, Geometry, Ring, stripes, thread_index};

/// Bits of a word that count; those above are the bucket's number.
const COUNT_BITS: u32 = 32;

/// A ring of packed words, a line of them for each stripe of each bucket.
pub struct PackedRing {
    geometry: Geometry,
    stripes: usize,
    /// By slot, then by stripe.
    lines: Box<[CachePadded<[AtomicU64; EVENTS]>]>,
}

impl PackedRing {
    /// `buckets` equal buckets over `interval`; all threads share their words.
    pub fn shared(interval: u64, buckets: usize) -> PackedRing {
        PackedRing::new(interval, buckets, 1)
    }

    /// Returns a ring with words for each core.
    pub fn striped(interval: u64, buckets: usize) -> PackedRing {
        PackedRing::new(interval, buckets, stripes())
    }

    fn new(interval: u64, buckets: usize, stripes: usize) -> PackedRing {
        PackedRing {
            geometry: Geometry::new(interval, buckets),
            stripes,
            lines: (0..buckets * stripes).map(|_| CachePadded::default()).collect(),
        }
    }

    fn number(&self, time: u64) -> u64 {
        (time / self.geometry.length) & (u64::MAX >> COUNT_BITS)
    }

    /// Returns the count in `word` if it is that of bucket `number`.
    fn count(word: u64, number: u64) -> u64 {
        if word >> COUNT_BITS == number { word & (u64::MAX >> COUNT_BITS) } else { 0 }
    }
}

impl Ring for PackedRing {
    #[inline]
    fn add_at(&self, now: u64, n: u64) -> bool {
        let number = self.number(now);
        let first = self.geometry.slot(now) * self.stripes;
        let word = &self.lines[first + (thread_index() & (self.stripes - 1))][0];
        let mut found = word.load(Ordering::Relaxed);
        loop {
            if found >> COUNT_BITS > number {
                return false;
            }
            let count = PackedRing::count(found, number).wrapping_add(n) & (u64::MAX >> COUNT_BITS);
            let next = (number << COUNT_BITS) | count;
            match word.compare_exchange_weak(found, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(newer) => found = newer,
            }
        }
    }

    fn bucket(&self, _now: u64, start: u64) -> u64 {
        let number = self.number(start);
        let first = self.geometry.slot(start) * self.stripes;
        let lines = &self.lines[first..first + self.stripes];
        lines.iter().map(|line| PackedRing::count(line[0].load(Ordering::Relaxed), number)).sum()
    }

    fn sum_at(&self, now: u64) -> u64 {
        let newest = self.number(now);
        let oldest = (newest + 1).saturating_sub(self.geometry.buckets as u64);
        let words = self.lines.iter().map(|line| line[0].load(Ordering::Relaxed));
        let live = words.filter(|word| (oldest..=newest).contains(&(word >> COUNT_BITS)));
        live.map(|word| word & (u64::MAX >> COUNT_BITS)).sum()
    }
}
