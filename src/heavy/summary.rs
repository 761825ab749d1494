//! A summary: the keys with the most weight of one bucket in one shard, in bounded memory.
//!
//! It is `SpaceSaving` (Metwally, Agrawal and El Abbadi, 2005) that evicts several keys at once,
//! which needs no heap: a Misra-Gries summary (1982) that never subtracts. It has a *floor*, and
//! for each key that it holds a count and an error.
//!
//! ```text
//!   add w to a key that is held      count += w
//!   add w to any other key           count = floor + w, error = floor
//!   the summary is full              floor = the count of rank BATCH from below;
//!                                    the keys with that count or less are evicted
//! ```
//!
//! # Theorem
//!
//! With `c(x)` the true weight of a key, `W` that of all keys, and `n` the capacity:
//!
//! 1. of a key that is held: `count - error <= c(x) <= count`;
//! 2. of any other key: `c(x) <= floor`;
//! 3. `error <= floor <= W / n`;
//! 4. if at most `n` keys were added, every key is held, its error is zero, and the floor is zero.
//!
//! # Why
//!
//! * The floor never falls: after an eviction all counts are above it, and adds only raise counts.
//! * 2: a key that was never held has no weight. At an eviction, a key with `c(x) <= count <=
//!   floor` goes; the floor only rises, and a key that is not held gets no weight.
//! * 1: when a key comes in, it had at most the floor before (by 2), so `w <= c(x) <= floor + w`.
//!   As long as it is held, count and `c(x)` grow by the same.
//! * 4: there is room for `n` keys, so none is evicted.
//! * 3: consider `R`, the sum of `count - floor` over the keys that are held. It is never negative.
//!   An add of `w` raises it by `w`, whether the key was held or not. An eviction that raises the
//!   floor by `d` lowers `count - floor` by `d` for each key whose count is at least the new floor.
//!   Of the `n + batch - 1` keys, only `batch - 1` may have less: so `R` falls by at least `n d`.
//!   Together: `0 <= R <= W - n floor`. And an error is a floor of the past.
//!
//! The last line says more: `floor <= (W - R) / n`. What the heavy keys have above the floor is in
//! `R`, so where few keys have most of the weight, the error is far smaller than `W / n`.
//!
//! Numbers stop at 2^64 - 1 instead of wrapping. A number that has stopped stands for itself or
//! more: a count or floor that has stopped bounds nothing, and `count - error` is still at most
//! `c(x)`.

use super::key::Key;
use super::table::Table;

mod absorb;

/// A summary has more room than its capacity, by a fourth of it: each eviction makes room for that
/// number of keys.
const SHARE: usize = 4;

/// The bounds of a key that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Held {
    /// The key has at most this weight.
    pub(super) count: u64,
    /// It has at least the count less this.
    pub(super) error: u64,
}

/// A summary of one bucket in one shard.
pub(super) struct Summary<K: Key + ?Sized> {
    held: Table<K, Held>,
    /// Any key that is not held has at most this weight.
    floor: u64,
    /// The weight of all keys.
    total: u64,
}

/// Returns the rank from below of the count that an eviction makes the floor.
pub(super) const fn batch(capacity: usize) -> usize {
    capacity.div_ceil(SHARE)
}

/// Returns the number of keys that a summary holds at most.
pub(super) const fn room(capacity: usize) -> usize {
    capacity + batch(capacity) - 1
}

impl<K: Key + ?Sized> Summary<K> {
    /// Returns an empty summary without memory, which must be made before keys are added.
    pub(super) fn unmade() -> Summary<K> {
        Summary { held: Table::unmade(), floor: 0, total: 0 }
    }

    /// Makes sure that an empty summary has all memory that it will ever need.
    pub(super) fn make(&mut self, capacity: usize) {
        if !self.held.is_made() {
            self.held = Table::with_capacity(room(capacity));
        }
    }

    /// Returns the bytes that a summary has allocated.
    pub(super) const fn bytes(capacity: usize) -> usize {
        Table::<K, Held>::bytes(room(capacity))
    }

    /// Adds a weight to a key if it is held, and returns its lower bound.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as `HeavyKeys::add`
    pub(super) fn add_held(&mut self, hash: u64, key: &K, weight: u64) -> Option<u64> {
        // First: a user's comparison may panic, and must find nothing changed.
        let number = self.held.find(hash, key)?;
        self.total = self.total.saturating_add(weight);
        let held = self.held.value_mut(number);
        held.count = held.count.saturating_add(weight);
        Some(held.count - held.error)
    }

    /// Adds a weight to a key that is not held, and returns its lower bound. Allocates nothing:
    /// `counts` has room for a count of each key.
    pub(super) fn add_other(
        &mut self,
        capacity: usize,
        counts: &mut Vec<u64>,
        hash: u64,
        key: &K,
        weight: u64,
    ) -> u64 {
        self.total = self.total.saturating_add(weight);
        if self.held.len() == room(capacity) {
            self.evict(batch(capacity), counts);
        }
        let held = Held { count: self.floor.saturating_add(weight), error: self.floor };
        self.held.push(hash, key, held);
        held.count - held.error
    }

    #[cold]
    fn evict(&mut self, batch: usize, counts: &mut Vec<u64>) {
        counts.clear();
        counts.extend(self.held.values().map(|held| held.count));
        let floor = *counts.select_nth_unstable(batch - 1).1;
        counts.clear();
        self.floor = floor;
        self.held.retain(|held| held.count > floor);
    }

    /// Returns the bounds of a key if it is held.
    pub(super) fn find(&self, hash: u64, key: &K) -> Option<Held> {
        self.held.find(hash, key).map(|number| self.held.value(number))
    }

    pub(super) fn held(&self) -> &Table<K, Held> {
        &self.held
    }

    pub(super) fn floor(&self) -> u64 {
        self.floor
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Begins anew, with the same memory.
    pub(super) fn clear(&mut self) {
        self.held.clear();
        (self.floor, self.total) = (0, 0);
    }
}
