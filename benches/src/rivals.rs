//! The rivals of windrow. Each file has one family; none of them uses windrow.

pub mod cas_ring;
pub mod counters;
pub mod epoch_ring;
pub mod fenster;
pub mod invocation;
pub mod labelled;
pub mod leap_array;
#[cfg(feature = "labels")]
pub mod measured;
pub mod mutex_ring;
#[cfg(feature = "labels")]
pub mod opentelemetry;
pub mod packed_ring;
pub mod published;
pub mod scraped;
#[cfg(feature = "sentinel")]
pub mod sentinel;

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crossbeam_utils::CachePadded;

use self::cas_ring::CasRing;
use self::epoch_ring::EpochRing;
use self::invocation::Invocation;
use self::leap_array::LeapArray;
use self::mutex_ring::MutexRing;
use self::packed_ring::PackedRing;
use crate::harness::{Contender, Rival, cores};

/// The number of events in a bucket of a rival ring, equal to that of windrow's in these benches.
/// Only the first is counted, yet a reset has to clear them all.
pub const EVENTS: usize = 5;

/// A ring whose time the caller gives, and whose buckets can be asked one by one.
pub trait Ring: Send + Sync {
    /// Counts `n` in the bucket of time `now`; false if that has left the ring, and then nothing
    /// is counted.
    fn add_at(&self, now: u64, n: u64) -> bool;

    /// Returns the total of the bucket that starts at `start`, zero if it is not in the ring at
    /// `now`.
    fn bucket(&self, now: u64, start: u64) -> u64;

    /// Returns what all buckets inside the interval at `now` hold together.
    fn sum_at(&self, now: u64) -> u64;

    /// Returns whether its all-time total is `added`, if it has one.
    fn exact(&self, _added: u64) -> Option<bool> {
        None
    }
}

/// Equal buckets over an interval: what every ring here has in common.
#[derive(Clone, Copy)]
struct Geometry {
    length: u64,
    buckets: usize,
}

impl Geometry {
    fn new(interval: u64, buckets: usize) -> Geometry {
        Geometry { length: interval / buckets as u64, buckets }
    }

    /// Returns where the bucket of `time` starts.
    fn start(self, time: u64) -> u64 {
        time - time % self.length
    }

    /// Returns which slot it is in.
    fn slot(self, time: u64) -> usize {
        (time / self.length) as usize % self.buckets
    }

    /// Returns whether the bucket at `start` is inside the interval at `now`.
    fn contains(self, start: u64, now: u64) -> bool {
        start <= now && now - start < self.length * self.buckets as u64
    }
}

/// One event's count in one bucket of a ring that resets in place.
pub trait Count: Default + Send + Sync {
    /// Counts `n`.
    fn add(&self, n: u64);
    /// Returns the sum since the last reset.
    fn sum(&self) -> u64;
    /// Back to zero.
    fn reset(&self);
}

impl Count for AtomicU64 {
    #[inline]
    fn add(&self, n: u64) {
        self.fetch_add(n, Ordering::Relaxed);
    }

    fn sum(&self) -> u64 {
        self.load(Ordering::Relaxed)
    }

    fn reset(&self) {
        self.store(0, Ordering::Relaxed);
    }
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

/// Every ring here that takes the time from outside, fresh, on clock `now`.
pub fn windows<N>(interval: u64, buckets: usize, now: N) -> Vec<Contender>
where
    N: Fn() -> u64 + Clone + Send + Sync + 'static,
{
    let mut contenders = Vec::new();
    let mut on = |name, contender| contenders.push(Contender { name, rival: contender });
    on(LEAP_ARRAY, clocked(LeapArray::new(interval, buckets), now.clone()));
    on(CAS_RING, clocked(CasRing::<AtomicU64>::new(interval, buckets), now.clone()));
    on(CAS_STRIPES, clocked(CasRing::<Stripes>::new(interval, buckets), now.clone()));
    on(PACKED_RING, clocked(PackedRing::shared(interval, buckets), now.clone()));
    on(PACKED_STRIPES, clocked(PackedRing::striped(interval, buckets), now.clone()));
    on(EPOCH_RING, clocked(EpochRing::new(interval, buckets), now.clone()));
    on(INVOCATION, clocked(Invocation::new(interval, buckets), now.clone()));
    on(MUTEX_RING, clocked(MutexRing::new(interval, buckets), now));
    contenders
}

fn clocked<R, N>(ring: R, now: N) -> Box<dyn Rival>
where
    R: Ring + 'static,
    N: Fn() -> u64 + Send + Sync + 'static,
{
    Box::new(Clocked { ring, now })
}

/// The name of [`LeapArray`] in tables.
pub const LEAP_ARRAY: &str = "reset-lock LeapArray";
/// The name of [`CasRing`] in tables.
pub const CAS_RING: &str = "compare-and-set ring";
/// The name of [`CasRing`] with a striped counter for each event.
pub const CAS_STRIPES: &str = "compare-and-set ring, striped";
/// The name of [`PackedRing`] with one word for each event.
pub const PACKED_RING: &str = "packed words";
/// The name of [`PackedRing`] with a word for each core and event.
pub const PACKED_STRIPES: &str = "packed words, striped";
/// The name of [`EpochRing`] in tables.
pub const EPOCH_RING: &str = "epoch swap, pinned stripes";
/// The name of [`Invocation`] in tables.
pub const INVOCATION: &str = "invocation-counter";
/// The name of [`fenster::Fenster`] in tables.
pub const FENSTER: &str = "Mutex around fenster";
/// The name of [`MutexRing`] in tables.
pub const MUTEX_RING: &str = "Mutex around a ring";

/// Returns a small number of this thread's own: threads are numbered as they first ask.
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

/// Returns the number of stripes of a striped rival.
fn stripes() -> usize {
    cores().next_power_of_two()
}

/// The textbook striped counter: locked adds to a padded cell per thread index, what Java's
/// `LongAdder` comes to once its threads have spread out.
pub struct Stripes(Box<[CachePadded<AtomicU64>]>);

impl Default for Stripes {
    fn default() -> Stripes {
        Stripes((0..stripes()).map(|_| CachePadded::default()).collect())
    }
}

impl Stripes {
    fn mine(&self) -> &AtomicU64 {
        &self.0[thread_index() & (self.0.len() - 1)]
    }
}

impl Count for Stripes {
    #[inline]
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
    use super::*;

    /// A rival that does not count proves nothing: each ring, alone, keeps buckets apart, reuses a
    /// slot from zero and refuses times that have left.
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
    fn the_compare_and_set_rings_count() {
        counts(&CasRing::<AtomicU64>::new(200, 2));
        counts(&CasRing::<Stripes>::new(200, 2));
    }

    #[test]
    fn the_packed_rings_count() {
        counts(&PackedRing::shared(200, 2));
        counts(&PackedRing::striped(200, 2));
    }

    #[test]
    fn the_epoch_ring_counts() {
        counts(&EpochRing::new(200, 2));
    }

    #[test]
    fn the_locked_ring_counts() {
        counts(&MutexRing::new(200, 2));
    }
}
