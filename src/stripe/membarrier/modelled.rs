//! Barriers of the process in a model (`windrow_announced`): each thread is interrupted at its
//! present step.

use crate::reclaim::{announced, is_pinned};
use crate::sync::{AtomicUsize, Ordering, global};

pub(in crate::stripe) fn is_offered() -> bool {
    true
}

pub(in crate::stripe) fn restarting_is_offered() -> bool {
    true
}

pub(super) fn register() -> bool {
    true
}

/// Interrupts each thread.
///
/// The kernel may take long for this, so the caller must not be pinned. In a model only one window
/// opens buckets, so no two threads are in this call at once.
pub(super) fn fence_everywhere() -> bool {
    assert!(!is_pinned(), "a barrier is asked for while pinned");
    assert_eq!(inside().fetch_add(1, Ordering::Relaxed), 0, "two threads ask for a barrier");
    announced::interrupt();
    inside().fetch_sub(1, Ordering::Relaxed);
    true
}

global! {
    /// The number of threads in a barrier.
    fn inside() -> AtomicUsize = AtomicUsize::new(0);
}
