//! The rivals of windrow. Each file has one family; none of them uses windrow.

// Counters, and those with labels.
pub mod counters;
pub mod labelled;
pub mod published;

// Windows: what rings share, the rings, and those of crates.
pub mod cas_ring;
pub mod epoch_ring;
pub mod leap_array;
pub mod mutex_ring;
pub mod ring;
#[cfg(feature = "sentinel")]
pub mod sentinel;

use self::cas_ring::CasRing;
use self::epoch_ring::EpochRing;
use self::leap_array::LeapArray;
use self::mutex_ring::MutexRing;
pub use self::ring::{EVENTS, Ring, Stripes};
use crate::harness::{Contender, Rival};

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
    vec![
        Contender::new(
            LEAP_ARRAY,
            Clocked { ring: LeapArray::new(interval, buckets), now: now.clone() },
        ),
        Contender::new(
            CAS_RING,
            Clocked { ring: CasRing::new(interval, buckets), now: now.clone() },
        ),
        Contender::new(
            EPOCH_RING,
            Clocked { ring: EpochRing::new(interval, buckets), now: now.clone() },
        ),
        Contender::new(MUTEX_RING, Clocked { ring: MutexRing::new(interval, buckets), now }),
    ]
}

/// The name of [`LeapArray`] in tables.
pub const LEAP_ARRAY: &str = "reset-lock LeapArray";
/// The name of [`CasRing`] in tables.
pub const CAS_RING: &str = "compare-and-set ring";
/// The name of [`EpochRing`] in tables.
pub const EPOCH_RING: &str = "epoch swap, pinned stripes";
/// The name of [`MutexRing`] in tables.
pub const MUTEX_RING: &str = "Mutex around a ring";

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
    fn the_compare_and_set_ring_counts() {
        counts(&CasRing::new(200, 2));
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
