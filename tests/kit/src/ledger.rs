//! The books that writers keep beside a window, to be compared with the window's answers.

use std::collections::BTreeMap;
#[cfg(target_has_atomic = "64")]
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;

#[cfg(not(target_has_atomic = "64"))]
use portable_atomic::AtomicU64;

use windrow::Stats;

/// Returns the part of a value in a sum: nothing of one that no clock measures.
pub fn summand(value: u64) -> u64 {
    if value < 1 << 60 { value } else { 0 }
}

/// Count, sum, minimum and maximum of one event, counted in the plainest way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of adds or records.
    pub count: u64,
    /// The sum of the amounts, or of the values below 2^60.
    pub sum: u64,
    /// The smallest value, if one was recorded.
    pub min: Option<u64>,
    /// The largest value, if one was recorded.
    pub max: Option<u64>,
}

impl Tally {
    /// Returns what adding `n` to a `Count` event amounts to.
    pub fn amount(n: u64) -> Tally {
        Tally { count: n, sum: n, min: None, max: None }
    }

    /// Returns what recording `value` for a `Value` event amounts to.
    pub fn value(value: u64) -> Tally {
        Tally { count: 1, sum: summand(value), min: Some(value), max: Some(value) }
    }

    /// Takes another tally in.
    pub fn merge(&mut self, other: Tally) {
        self.count = self.count.wrapping_add(other.count);
        self.sum = self.sum.wrapping_add(other.sum);
        self.min = [self.min, other.min].into_iter().flatten().min();
        self.max = [self.max, other.max].into_iter().flatten().max();
    }

    /// Sum by count; `None` of nothing.
    pub fn mean(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }
}

impl From<Stats> for Tally {
    fn from(stats: Stats) -> Tally {
        Tally { count: stats.count, sum: stats.sum, min: stats.min, max: stats.max }
    }
}

/// One event's tallies by the start of their bucket.
#[derive(Clone, Debug, Default)]
pub struct Ledger(BTreeMap<u64, Tally>);

impl Ledger {
    /// Adds to the tally of a bucket.
    pub fn note(&mut self, start: u64, tally: Tally) {
        self.0.entry(start).or_default().merge(tally);
    }

    /// Returns the tally of a bucket.
    pub fn at(&self, start: u64) -> Tally {
        self.0.get(&start).copied().unwrap_or_default()
    }

    /// Returns the tallies of all buckets as one.
    pub fn total(&self) -> Tally {
        self.since(0)
    }

    /// Returns the tallies of the bucket at `start`, and of all behind it, as one.
    pub fn since(&self, start: u64) -> Tally {
        let mut total = Tally::default();
        self.0.range(start..).for_each(|(_, &tally)| total.merge(tally));
        total
    }

    /// Returns the start of the newest bucket that was noted.
    pub fn newest(&self) -> Option<u64> {
        self.0.last_key_value().map(|(&start, _)| start)
    }

    /// One ledger of all writers' ledgers.
    pub fn merged(ledgers: impl IntoIterator<Item = Ledger>) -> Ledger {
        let mut all = Ledger::default();
        for ledger in ledgers {
            for (start, tally) in ledger.0 {
                all.note(start, tally);
            }
        }
        all
    }
}

/// The operations that one writer has begun, and those that it has finished: a reader brackets its
/// answers with the two.
///
/// A line of its own, written with plain stores, so that it slows no writer and orders none.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Progress {
    begun: [AtomicU64; 2],
    done: [AtomicU64; 2],
}

impl Progress {
    /// Runs `add`, which adds `count` and `sum` unless it answers `None`, between the two marks.
    pub fn around<T>(&self, count: u64, sum: u64, add: impl FnOnce() -> Option<T>) -> Option<T> {
        let step = |marks: &[AtomicU64; 2], by: [u64; 2]| {
            for (mark, by) in marks.iter().zip(by) {
                let moved = mark.load(Ordering::Relaxed).wrapping_add(by);
                mark.store(moved, Ordering::Release);
            }
        };
        let by = [count, sum];
        step(&self.begun, by);
        let result = add();
        match result {
            Some(_) => step(&self.done, by),
            None => step(&self.begun, by.map(u64::wrapping_neg)),
        }
        result
    }

    /// Count and sum that all writers have begun.
    pub fn begun(all: &[Progress]) -> [u64; 2] {
        Progress::total(all, |one| &one.begun)
    }

    /// Count and sum that all writers have done.
    pub fn done(all: &[Progress]) -> [u64; 2] {
        Progress::total(all, |one| &one.done)
    }

    fn total(all: &[Progress], marks: impl Fn(&Progress) -> &[AtomicU64; 2]) -> [u64; 2] {
        [0, 1].map(|i| all.iter().map(|one| marks(one)[i].load(Ordering::Acquire)).sum())
    }
}
