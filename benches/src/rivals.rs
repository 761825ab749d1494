//! What windrow is measured against. One file, one family; none of them uses windrow.

pub mod cas_ring;
pub mod counters;
pub mod leap_array;
pub mod mutex_ring;
#[cfg(feature = "sentinel")]
pub mod sentinel;

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crossbeam_utils::CachePadded;

use self::cas_ring::CasRing;
use self::leap_array::LeapArray;
use self::mutex_ring::MutexRing;
use crate::harness::{Contender, Rival, cores};

/// How many events a bucket of a rival ring has room for: as many as windrow's in these benches.
/// Only the first is counted, yet a reset has to clear them all.
pub const EVENTS: usize = 5;

/// A ring whose time the caller gives, and whose buckets can be asked one by one.
pub trait Ring: Send + Sync {
    /// Counts `n` in the bucket of time `now`; false if that has left the ring, and then nothing
    /// is counted.
    fn add_at(&self, now: u64, n: u64) -> bool;

    /// The total of the bucket that starts at `start`, zero if it is not in the ring at `now`.
    fn bucket(&self, now: u64, start: u64) -> u64;

    /// What all buckets inside the interval at `now` hold together.
    fn sum_at(&self, now: u64) -> u64;
}

/// A ring with a clock of its own.
struct Clocked<R, N> {
    ring: R,
    now: N,
}

impl<R: Ring, N: Fn() -> u64 + Send + Sync> Rival for Clocked<R, N> {
    #[inline]
    fn add(&self, n: u64) {
        self.ring.add_at((self.now)(), n);
    }

    #[inline]
    fn sum(&self) -> u64 {
        self.ring.sum_at((self.now)())
    }
}

/// Every ring here, fresh, on clock `now`.
pub fn windows<N>(interval: u64, buckets: usize, now: N) -> Vec<Contender>
where
    N: Fn() -> u64 + Clone + Send + Sync + 'static,
{
    let leap_array = Clocked { ring: LeapArray::new(interval, buckets), now: now.clone() };
    let cas_ring = Clocked { ring: CasRing::new(interval, buckets), now: now.clone() };
    let mutex_ring = Clocked { ring: MutexRing::new(interval, buckets), now };
    vec![
        Contender::new(LEAP_ARRAY, leap_array),
        Contender::new(CAS_RING, cas_ring),
        Contender::new(MUTEX_RING, mutex_ring),
    ]
}

/// The name of [`LeapArray`] in tables.
pub const LEAP_ARRAY: &str = "reset-lock LeapArray";
/// The name of [`CasRing`] in tables.
pub const CAS_RING: &str = "compare-and-set ring";
/// The name of [`MutexRing`] in tables.
pub const MUTEX_RING: &str = "Mutex around a ring";

/// A small number of this thread's own: threads are numbered as they first ask.
#[inline]
fn thread_index() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static INDEX: Cell<usize> = const { Cell::new(usize::MAX) });
    INDEX.with(|index| {
        if index.get() == usize::MAX {
            index.set(NEXT.fetch_add(1, Ordering::Relaxed));
        }
        index.get()
    })
}

/// The textbook striped counter: locked adds to a padded cell per thread index, what Java's
/// `LongAdder` comes to once its threads have spread out.
struct Stripes(Box<[CachePadded<AtomicU64>]>);

impl Stripes {
    fn new() -> Stripes {
        let count = cores().next_power_of_two();
        Stripes((0..count).map(|_| CachePadded::default()).collect())
    }

    fn mine(&self) -> &AtomicU64 {
        &self.0[thread_index() & (self.0.len() - 1)]
    }

    fn add(&self, n: u64) {
        self.mine().fetch_add(n, Ordering::Relaxed);
    }

    #[inline]
    fn sum(&self) -> u64 {
        self.0.iter().map(|cell| cell.load(Ordering::Relaxed)).sum()
    }

    fn reset(&self) {
        for cell in &self.0 {
            cell.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ring;
    use super::cas_ring::CasRing;
    use super::leap_array::LeapArray;
    use super::mutex_ring::MutexRing;

    /// A rival that does not count proves nothing: each ring, alone, keeps buckets apart, reuses a
    /// slot from zero and refuses what has left.
    fn counts(ring: &impl Ring) {
        assert!(ring.add_at(1000, 1) && ring.add_at(1099, 2) && ring.add_at(1100, 4));
        assert_eq!(ring.bucket(1100, 1000), 3);
        assert_eq!(ring.bucket(1100, 1100), 4);
        assert_eq!(ring.sum_at(1100), 7);
        assert!(ring.add_at(1000, 8), "still in the ring");
        assert_eq!(ring.bucket(1100, 1000), 11);
        assert!(ring.add_at(1200, 16), "reuses the slot of 1000");
        assert_eq!(ring.bucket(1200, 1000), 0);
        assert_eq!(ring.bucket(1200, 1200), 16);
        assert!(!ring.add_at(1099, 32), "its bucket is gone");
        assert!(ring.add_at(90_000, 64), "a jump");
        assert_eq!(ring.bucket(90_000, 1200), 0);
        assert_eq!(ring.bucket(90_000, 90_000), 64);
        assert_eq!(ring.sum_at(90_000), 64);
    }

    #[test]
    fn the_leap_array_counts() {
        counts(&LeapArray::new(200, 2));
    }

    #[test]
    fn the_compare_and_set_ring_counts() {
        counts(&CasRing::new(200, 2));
    }

    #[test]
    fn the_locked_ring_counts() {
        counts(&MutexRing::new(200, 2));
    }
}
