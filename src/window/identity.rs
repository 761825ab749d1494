//! Which window: a number of its own.

use crate::sync::{AtomicU64, Ordering, global};

global! {
    /// How many windows were built.
    fn built() -> AtomicU64 = AtomicU64::new(0);
}

/// Tells a window from all others of the process, those that are gone too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity(u64);

impl Identity {
    pub(super) fn new() -> Identity {
        Identity(built().fetch_add(1, Ordering::Relaxed)) // only the number matters
    }
}
