//! Adding one summary to another: as if the one had come to the other in keys with weights.
//!
//! # Theorem
//!
//! The result keeps the summary's theorem, for the keys and weights of both: bounds hold, `floor <=
//! (W + W') / n`, and if both together had at most `n` keys, all are exact. (Agarwal and others,
//! 2012, show that such summaries merge; this one needs no memory beside its own.)
//!
//! # Why
//!
//! With `f'` the other's floor: first the floor here, and each count and error, rise by `f'`. Then
//! a key's bounds here hold for what it has here, and up to `f'` more. The keys that the other
//! holds follow one by one, with count `c'` and error `e'`.
//!
//! * A key that is held here gets `c' - f'` and the error `e' - f'` more: bounds are added.
//! * A key that is not held here had at most `floor - f'` here. It comes in with the count `floor +
//!   c' - f'` and the error `floor + e' - f'`.
//! * If the summary is full, keys are evicted first, as for an add. A key that is evicted before
//!   its turn has at most `floor - f'` here, as any other.
//! * The sum `R` of `count - floor` rises by `c' - f'` for each key, so to that of both at most. It
//!   falls by `n d` for each eviction that raises the floor by `d`: so `floor <= (W + W') / n`, as
//!   before.
//! * Without evictions each floor and error is zero if both were.
//!
//! # Comparisons that panic
//!
//! Nothing here panics: of two keys that both tables hold, a comparison that
//! does takes them for equal (see `table`). So a bucket comes to each tier as a whole, whatever the
//! `Eq` of one of its keys does.

use super::{Held, Summary, batch, room};
use crate::heavy::key::Key;

impl<K: Key + ?Sized> Summary<K> {
    /// Adds all that another summary counts, within the same memory.
    pub(in crate::heavy) fn absorb(
        &mut self,
        capacity: usize,
        counts: &mut Vec<u64>,
        other: &Summary<K>,
    ) {
        self.total = self.total.saturating_add(other.total);
        let floor = other.floor;
        if floor > 0 {
            self.floor = self.floor.saturating_add(floor);
            for held in self.held.values_mut() {
                held.count = held.count.saturating_add(floor);
                held.error = held.error.saturating_add(floor);
            }
        }
        for (number, theirs) in other.held.values().enumerate() {
            // Of the other: an error is a floor of its past, and a count is above its floor.
            let (above, less) = (theirs.count - floor, floor - theirs.error);
            if let Some(mine) = self.held.find_of(&other.held, number) {
                let held = self.held.value_mut(mine);
                held.count = held.count.saturating_add(above);
                // It is the other's floor at least, unless two of the other's keys are taken for
                // one. Then a lower bound of zero error is below what both have together.
                held.error = held.error.saturating_sub(less);
                continue;
            }
            if self.held.len() == room(capacity) {
                self.evict(batch(capacity), counts);
            }
            let (count, error) = (self.floor.saturating_add(above), self.floor - less);
            self.held.push_of(&other.held, number, Held { count, error });
        }
    }
}
