//! The permits that a process holds of one limit.
//!
//! Two leases: one in use, and one that was asked for ahead. A take is one compare-exchange.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use lease::Lease;
pub(crate) use lease::MAX_PERMITS;

mod lease;

/// The number of leases at once.
pub(crate) const LEASES: usize = 2;

/// The permits that a process holds of one limit. Times are those of the machine.
#[derive(Debug)]
pub(crate) struct Permits {
    leases: [Lease; LEASES],
    /// The weight of all calls that found no permit, wrapping.
    missed: AtomicU64,
    /// Permits put back after the end of their lease, by that end. A thread that finds it locked
    /// leaves its permits counted as used.
    late: Mutex<Vec<(u64, u64)>>,
}

impl Permits {
    /// Returns no permits.
    pub(crate) const fn new() -> Permits {
        Permits {
            leases: [const { Lease::none() }; LEASES],
            missed: AtomicU64::new(0),
            late: Mutex::new(Vec::new()),
        }
    }

    /// Takes `weight` permits at `now`, of one lease. Returns whether it did.
    #[inline]
    pub(crate) fn take(&self, now: u64, weight: u64) -> bool {
        self.take_for(now, weight).is_some()
    }

    /// Takes as [`take`](Self::take), and returns the end of the lease, by which permits can be
    /// [put back](Self::put_back).
    #[inline]
    pub(crate) fn take_for(&self, now: u64, weight: u64) -> Option<u64> {
        self.leases.iter().find_map(|lease| lease.take(now, weight))
    }

    /// Puts permits back that were taken of the lease with this end, and were not used.
    pub(crate) fn put_back(&self, end: u64, count: u64) {
        if count == 0 || self.leases.iter().any(|lease| lease.put_back(end, count)) {
            return;
        }
        if let Ok(mut late) = self.late.try_lock() {
            late.push((end, count));
        }
    }

    /// Counts the weight of a call that found no permit.
    pub(crate) fn miss(&self, weight: u64) {
        self.missed.fetch_add(weight, Ordering::Relaxed); // a number, which publishes nothing
    }

    /// Returns the number of permits that may be used at `now`.
    pub(crate) fn left(&self, now: u64) -> u64 {
        let left = |lease: &Lease| match lease.left() {
            (left, end) if now < end => left,
            _ => 0,
        };
        self.leases.iter().map(left).sum()
    }

    /// Returns the weight of all calls that found no permit, wrapping.
    pub(crate) fn missed(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }

    /// Returns what is left of a lease, and its end.
    pub(crate) fn lease(&self, place: usize) -> (u64, u64) {
        self.leases[place].left()
    }

    /// Ends a lease, and returns what was left of it. Only the machine may, one thread at a time.
    pub(crate) fn end(&self, place: usize) -> u64 {
        self.leases[place].end()
    }

    /// Begins a lease at a place where one was ended. Only the machine may.
    pub(crate) fn begin(&self, place: usize, end: u64, granted: u64) {
        self.leases[place].begin(end, granted);
    }

    /// Returns the permits that were put back after the end of their lease: ends and counts.
    pub(crate) fn late(&self) -> Vec<(u64, u64)> {
        self.late.try_lock().map(|mut late| std::mem::take(&mut *late)).unwrap_or_default()
    }
}
