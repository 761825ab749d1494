//! Which series: a number of its own.

use crate::sync::{AtomicU64, Ordering, global};

global! {
    /// The number of series that were made.
    fn made() -> AtomicU64 = AtomicU64::new(0);
}

/// A number for a new series, which no other one of the process has or had.
pub(super) fn next() -> u64 {
    made().fetch_add(1, Ordering::Relaxed) // only the number matters
}
