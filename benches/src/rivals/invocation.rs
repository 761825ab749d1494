//! The published crate invocation-counter: one start and one 32-bit count a slot, the start stored,
//! then the count. It counts one event, in slots whose number is a power of two, and treats a time
//! that is older than its slot as a new one.

use invocation_counter::InvocationCounter;

use super::ring::{Geometry, Ring};

/// A counter of at least the requested number of slots, on a clock that counts buckets.
pub struct Invocation {
    counter: InvocationCounter,
    geometry: Geometry,
}

impl Invocation {
    /// `buckets` equal buckets over `interval`.
    pub fn new(interval: u64, buckets: usize) -> Invocation {
        let exponent = buckets.next_power_of_two().ilog2() as u8;
        let counter = InvocationCounter::new(exponent, 0);
        Invocation { counter, geometry: Geometry::new(interval, buckets) }
    }

    /// Counts in buckets from `first` to `last`.
    fn count(&self, first: u64, last: u64) -> u64 {
        u64::from(self.counter.count_in(first, last + 1))
    }
}

impl Ring for Invocation {
    #[inline]
    fn add_at(&self, now: u64, n: u64) -> bool {
        let number = now / self.geometry.length;
        for _ in 0..n {
            self.counter.register(number);
        }
        true
    }

    fn bucket(&self, _now: u64, start: u64) -> u64 {
        let number = start / self.geometry.length;
        self.count(number, number)
    }

    fn sum_at(&self, now: u64) -> u64 {
        let newest = now / self.geometry.length;
        self.count((newest + 1).saturating_sub(self.geometry.buckets as u64), newest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts() {
        let counter = Invocation::new(200, 2);
        assert!(counter.add_at(1000, 3) && counter.add_at(1100, 4));
        assert_eq!((counter.bucket(1100, 1000), counter.sum_at(1100)), (3, 7));
        assert!(counter.add_at(1200, 5));
        assert_eq!((counter.bucket(1200, 1000), counter.sum_at(1200)), (0, 9));
    }
}
