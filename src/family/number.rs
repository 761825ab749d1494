//! A unique number for each series.

use std::num::NonZeroU64;

use crate::sync::{AtomicU64, Ordering, global};

global! {
    /// The number of series that were made.
    fn made() -> AtomicU64 = AtomicU64::new(0);
}

/// Returns a number for a new series, unique in the process for all time.
pub(super) fn next() -> NonZeroU64 {
    let before = made().fetch_add(1, Ordering::Relaxed); // only the number matters
    NonZeroU64::MIN.saturating_add(before)
}
