//! The buckets that were ever the newest of a window.

use std::collections::BTreeMap;

/// The buckets that were ever the newest, by their starts.
#[derive(Default)]
pub(super) struct Newest(BTreeMap<u64, bool>);

impl Newest {
    /// `is_held_up` says that the bucket may be replaced while others cannot be closed.
    pub(super) fn note(&mut self, start: u64, is_held_up: bool) {
        *self.0.entry(start).or_default() |= is_held_up;
    }

    /// Returns whether a tier of buckets of this length must know the count before a boundary.
    pub(super) fn knows(&self, boundary: u64, length: u64) -> bool {
        let Some((first, _)) = self.0.range(boundary..).next() else { return true };
        let coarse = first - first % length;
        !self.0.range(coarse..coarse.saturating_add(length)).any(|(_, is_held_up)| *is_held_up)
    }
}
