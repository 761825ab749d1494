//! pingora-limits' estimator on counters of windrow's: takes the place of `src/estimator.rs`.
//!
//! Each of several hashes picks a counter of its own row, and the least of them is the estimate.

use std::hash::Hash;

use windrow::Counter;

use crate::{RandomState, hash};

/// A row of counters, and the hash that picks one of them.
type Row = (Box<[Counter]>, RandomState);

/// An estimate of the count of each key, which is never too low.
pub struct Estimator {
    rows: Box<[Row]>,
}

impl Estimator {
    /// Creates an estimator of `hashes` rows of `slots` counters.
    pub fn new(hashes: usize, slots: usize) -> Estimator {
        let row = |_| ((0..slots).map(|_| Counter::new()).collect(), RandomState::new());
        Estimator { rows: (0..hashes).map(row).collect() }
    }

    /// Returns the key's counters.
    fn of<'a, T: Hash>(&'a self, key: &'a T) -> impl Iterator<Item = &'a Counter> {
        self.rows.iter().map(move |(row, hasher)| &row[hash(key, hasher) as usize % row.len()])
    }

    /// Adds `value` to the key, wrapping, and returns the new estimate.
    pub fn incr<T: Hash>(&self, key: T, value: isize) -> isize {
        self.of(&key).fold(isize::MAX, |least, counter| {
            counter.add(value as u64);
            least.min(counter.sum() as isize)
        })
    }

    /// Takes `value` from the key.
    pub fn decr<T: Hash>(&self, key: T, value: isize) {
        self.of(&key).for_each(|counter| counter.add((value as u64).wrapping_neg()));
    }

    /// Returns the estimate of a key.
    pub fn get<T: Hash>(&self, key: T) -> isize {
        self.of(&key).map(|counter| counter.sum() as isize).fold(isize::MAX, isize::min)
    }

    /// Sets everything to zero.
    pub fn reset(&self) {
        self.rows.iter().for_each(|(row, _)| row.iter().for_each(Counter::reset));
    }
}
