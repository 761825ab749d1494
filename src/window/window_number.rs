//! A unique number for each window.

use crate::sync::{AtomicU64, Ordering, global};

global! {
    /// The number of windows built.
    fn built() -> AtomicU64 = AtomicU64::new(0);
}

/// Distinguishes a window from all others of the process, dropped ones included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity(u64);

impl Identity {
    pub(super) fn new() -> Identity {
        Identity(built().fetch_add(1, Ordering::Relaxed)) // only the number matters
    }
}
