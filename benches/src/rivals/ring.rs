//! The common ground of the rings: their interface, their geometry, and the counts in a bucket.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crossbeam_utils::CachePadded;

use crate::harness::cores;

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
pub(super) struct Geometry {
    pub(super) length: u64,
    pub(super) buckets: usize,
}

impl Geometry {
    pub(super) fn new(interval: u64, buckets: usize) -> Geometry {
        Geometry { length: interval / buckets as u64, buckets }
    }

    /// Returns where the bucket of `time` starts.
    pub(super) fn start(self, time: u64) -> u64 {
        time - time % self.length
    }

    /// Returns which slot it is in.
    pub(super) fn slot(self, time: u64) -> usize {
        (time / self.length) as usize % self.buckets
    }

    /// Returns whether the bucket at `start` is inside the interval at `now`.
    pub(super) fn contains(self, start: u64, now: u64) -> bool {
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

/// A bucket that is reset in place. A start of zero is none yet.
#[derive(Default)]
pub(super) struct Bucket<C> {
    pub(super) start: AtomicU64,
    pub(super) counts: [C; EVENTS],
}

/// The buckets of a ring that resets them in place.
pub(super) struct Slots<C> {
    pub(super) geometry: Geometry,
    buckets: Box<[CachePadded<Bucket<C>>]>,
}

impl<C: Count> Slots<C> {
    /// `buckets` equal buckets over `interval`.
    pub(super) fn new(interval: u64, buckets: usize) -> Slots<C> {
        Slots {
            geometry: Geometry::new(interval, buckets),
            buckets: (0..buckets).map(|_| CachePadded::default()).collect(),
        }
    }

    /// Returns the slot of a time.
    #[inline]
    pub(super) fn at(&self, time: u64) -> &Bucket<C> {
        &self.buckets[self.geometry.slot(time)]
    }

    pub(super) fn bucket(&self, start: u64) -> u64 {
        let bucket = self.at(start);
        let counted = bucket.counts[0].sum();
        if bucket.start.load(Ordering::Acquire) == start { counted } else { 0 }
    }

    pub(super) fn sum_at(&self, now: u64) -> u64 {
        let live = |start| self.geometry.contains(start, now);
        let live = |bucket: &&CachePadded<Bucket<C>>| live(bucket.start.load(Ordering::Acquire));
        self.buckets.iter().filter(live).map(|bucket| bucket.counts[0].sum()).sum()
    }
}

/// Returns a small number of this thread's own: threads are numbered as they first ask.
#[inline]
pub(super) fn thread_index() -> usize {
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
pub struct Stripes(Box<[CachePadded<AtomicU64>]>);

impl Default for Stripes {
    fn default() -> Stripes {
        Stripes((0..cores().next_power_of_two()).map(|_| CachePadded::default()).collect())
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
