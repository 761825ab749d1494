//! The permits that a process holds of one limit.
//!
//! Two leases: one in use, and one that was asked for ahead. A take from a lease is one
//! compare-exchange of a word that all threads share ([`lease`]). So each core has a small ration
//! of a lease in its row, as under a `RationedGate`: a take from that is one plain store
//! ([`Stock`]).
//!
//! # Theorem
//!
//! Each permit that the engine has granted is used once, before the end of its lease by the clock
//! that the caller has read; or is given back by the machine; or lies unused in a row.
//!
//! # Why
//!
//! A permit is in one place: a lease, a row, a thread's hands, or the list of late ones. A ration
//! is taken out of a lease before it is put into a row, and what a row held before is swapped out,
//! and put back: into its lease if that has not ended, otherwise into the list.
//!
//! A row knows its end by the *quick* clock, which may be behind the precise one by a margin
//! ([`Pulse`](crate::pulse::Pulse)). So a ration ends that margin before its lease.
//!
//! # Settling
//!
//! A call that has cost less than it took puts the rest [back](Permits::put_back). One that has
//! cost more is [charged](Permits::charge): held permits pay first, then the next grants do. So a
//! use beyond a call's permits counts in the ledger, if later. What a process owes when it dies is
//! forgotten.
//!
//! # How short
//!
//! All rows together hold at most an eighth of what a lease had. What lies in the row of a core
//! that makes no more calls counts until its bucket leaves the ledger. A call that finds neither a
//! lease nor its own row is refused, whatever other rows hold.

use windrow::gate::Stock;

use crate::sync::{AtomicU64, Mutex, Ordering};
use lease::Lease;
pub(crate) use lease::MAX_PERMITS;

#[path = "permits/lease.rs"] // found by models as well, which include this file
mod lease;

/// The number of leases at once.
pub(crate) const LEASES: usize = 2;

/// The part of a lease that all rows together hold at most.
const IN_ROWS: u64 = 8;

/// The largest ration of a row: more would not make a take cheaper.
const MAX_RATION: u64 = 512;

/// The permits that a process holds of one limit. Times are microseconds of the machine's clock,
/// except where they are called quick.
pub(crate) struct Permits {
    leases: [Lease; LEASES],
    /// A ration in each core's row, by the quick clock, in nanoseconds.
    rows: Stock,
    /// The time by which the quick clock may be behind, in microseconds; `u64::MAX`: no rations in
    /// rows.
    margin: u64,
    /// The weight of all calls that found no permit, wrapping.
    missed: AtomicU64,
    /// The cost of calls beyond their permits that was not paid yet.
    owed: AtomicU64,
    /// Permits put back after the end of their lease, by that end. A thread that finds it locked
    /// leaves its permits counted as used.
    late: Mutex<Vec<(u64, u64)>>,
}

impl Permits {
    /// Returns no permits. All threads will take from the leases.
    pub(crate) fn new() -> Permits {
        Permits::with_rows(u64::MAX)
    }

    /// Returns no permits. There will be rations in the rows, by a quick clock that is behind the
    /// machine's by less than `margin` microseconds.
    pub(crate) fn with_rows(margin: u64) -> Permits {
        Permits {
            leases: [(); LEASES].map(|()| Lease::none()),
            rows: Stock::new(),
            margin,
            missed: AtomicU64::new(0),
            owed: AtomicU64::new(0),
            late: Mutex::new(Vec::new()),
        }
    }

    /// Takes `weight` permits of this core's row, at the quick clock's time in nanoseconds. Returns
    /// whether it did; if not, the caller [refills](Self::refill).
    #[inline]
    pub(crate) fn take_quickly(&self, quick: u64, weight: u64) -> bool {
        self.rows.take(quick, weight)
    }

    /// Takes `weight` permits, and a ration for this core's row.
    ///
    /// `quick` is the quick clock's time in nanoseconds, `now` the machine's.
    #[cold]
    pub(crate) fn refill(&self, quick: u64, now: u64, weight: u64) -> bool {
        if self.margin == u64::MAX {
            return self.take(now, weight);
        }
        if self.rows.take_apart(quick, weight) {
            return true;
        }
        let rows = IN_ROWS * Stock::rows();
        let with_ration = |left: u64| weight + (left.saturating_sub(weight) / rows).min(MAX_RATION);
        let taken =
            || self.leases.iter().find_map(|lease| lease.take_some(now, weight, with_ration));
        if let Some((count, end)) = taken() {
            self.keep(now, end, count - weight);
            return true;
        }
        // Too little for this weight in the row may be enough together with a lease.
        self.keep(now, 0, 0);
        self.take(now, weight)
    }

    /// Puts a ration into this core's row, and what was there back.
    fn keep(&self, now: u64, end: u64, count: u64) {
        if self.margin == u64::MAX {
            return self.put_back(end, count);
        }
        let last = end.saturating_sub(self.margin).saturating_mul(1_000).saturating_sub(1);
        if end > 0 && (count == 0 || last <= now.saturating_mul(1_000)) {
            return self.put_back(end, count);
        }
        match self.rows.swap(last, count) {
            Some((_, 0)) => {}
            Some((last, count)) => self.put_back((last + 1) / 1_000 + self.margin, count),
            None => self.put_back(end, count), // the thread has no row
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

    /// Charges what a call has cost beyond its permits: from what is held now, and the rest from
    /// the next grants, before any request has a permit of them.
    pub(crate) fn charge(&self, now: u64, weight: u64) {
        self.keep(now, 0, 0); // what lies in this core's row is in a lease again
        let mut due = weight;
        for lease in &self.leases {
            while due > 0
                && let Some((paid, _)) = lease.take_some(now, 1, |_| due)
            {
                due -= paid;
            }
        }
        if due > 0 {
            // Relaxed, both: a number, which publishes nothing.
            let more = |owed: u64| Some(owed.saturating_add(due));
            let _ = self.owed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
            self.miss(due);
        }
    }

    /// Pays what is owed from `granted` new permits. Returns the rest of them.
    pub(crate) fn pay(&self, granted: u64) -> u64 {
        // Relaxed, both: as in `charge`. Only the machine pays.
        let owed = self.owed.load(Ordering::Relaxed);
        let paid = owed.min(granted);
        if paid > 0 {
            self.owed.fetch_sub(paid, Ordering::Relaxed);
        }
        granted - paid
    }

    /// Returns what is owed.
    #[cfg(test)]
    pub(crate) fn owed(&self) -> u64 {
        self.owed.load(Ordering::Relaxed) // as in `charge`
    }

    /// Counts the weight of a call that found no permit.
    pub(crate) fn miss(&self, weight: u64) {
        self.missed.fetch_add(weight, Ordering::Relaxed); // a number, which publishes nothing
    }

    /// Returns the number of permits in leases that may be used at `now`.
    pub(crate) fn left(&self, now: u64) -> u64 {
        let left = |lease: &Lease| match lease.left() {
            (left, end) if now < end => left,
            _ => 0,
        };
        self.leases.iter().map(left).sum()
    }

    /// Returns the time by which all leases so far end.
    pub(crate) fn leases_end(&self) -> u64 {
        self.leases.iter().map(|lease| lease.left().1).max().unwrap_or(0)
    }

    /// Returns the number of permits in rows, those included that have ended.
    pub(crate) fn in_rows(&self) -> u64 {
        self.rows.left()
    }

    /// Returns the weight of all calls that found no permit, wrapping.
    pub(crate) fn missed(&self) -> u64 {
        self.missed.load(Ordering::Relaxed) // as in `miss`
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
