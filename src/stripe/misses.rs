//! Misses: sequences that wrote nothing.

use std::cell::Cell;

/// The reason why a sequence wrote nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Miss {
    /// It may be tried again: usually the kernel interrupted it.
    Aborted,
    /// This thread has no open row.
    NoRow,
    /// This thread has no slot in which to announce the bucket.
    NoSlot,
    /// The time does not lie in the live bucket, or that bucket has no columns.
    OtherBucket,
    /// The value lies beyond the extremes that the row has seen.
    #[allow(dead_code)] // where there are no sequences
    Extreme,
}

/// The cell in which a sequence that is retried stores its miss: `None` if it was committed.
pub(crate) type MissCell = Cell<Option<Miss>>;

/// The action after a miss.
///
/// It is not a closure, because a compiler may leave a closure out of line, and then each add
/// writes the captured values to memory before the sequence.
pub(crate) trait OnMiss {
    fn missed(self, why: Miss);
}

impl OnMiss for &MissCell {
    #[inline]
    fn missed(self, why: Miss) {
        self.set(Some(why));
    }
}
