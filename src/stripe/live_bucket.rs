//! Where the adds of the present go.

use crate::sync::{AtomicPtr, AtomicU64, Ordering};

/// The bit of a row's count of records that says that the row has a pending value (see
/// [`per_core`](super::per_core)).
pub(crate) const PENDING: u64 = 1 << 63;

/// What an add needs to know of a window's live bucket. It begins each bucket, and does not change
/// while anybody may be adding through it.
///
/// Its fields are atomics because their memory is used again: whoever reads them without being
/// kept from that (a reader that looks afterwards whether it was) must not race.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct LiveBucket {
    /// Where the bucket begins, in nanoseconds.
    pub(crate) start: AtomicU64,
    /// How far behind its start the bucket can be reached through its columns: its length; or zero,
    /// if it has none, so that one comparison answers both.
    pub(crate) span: AtomicU64,
    /// Its first column, as the [`TaggedColumn`](super::TaggedColumn) to add to it.
    pub(crate) column: AtomicPtr<AtomicU64>,
}

impl LiveBucket {
    /// One that can not be reached.
    pub(crate) fn empty() -> LiveBucket {
        LiveBucket {
            start: AtomicU64::new(0),
            span: AtomicU64::new(0),
            column: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// Where the bucket begins.
    #[inline]
    pub(crate) fn start(&self) -> u64 {
        self.start.load(Ordering::Relaxed) // published with the whole
    }

    /// Whether a time lies in the bucket, and the bucket has columns.
    #[inline]
    pub(crate) fn contains(&self, at: u64) -> bool {
        // Before the start the difference wraps: to no less than the start's distance from the end
        // of time, which no length exceeds.
        at.wrapping_sub(self.start()) < self.span.load(Ordering::Relaxed)
    }
}
