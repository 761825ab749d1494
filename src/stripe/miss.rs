//! Why a sequence wrote nothing.

use std::cell::Cell;

/// Why a sequence wrote nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Miss {
    /// It may be tried again: as a rule, the kernel interrupted it.
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

/// Where a sequence that is retried notes its miss: none if it was committed.
pub(crate) type MissCell = Cell<Option<Miss>>;

/// What is done after a miss.
///
/// Not a closure, which a compiler may leave out of line: then what it holds is written to memory
/// before the sequence, by each add.
pub(crate) trait OnMiss {
    fn missed(self, why: Miss);
}

impl OnMiss for &MissCell {
    #[inline]
    fn missed(self, why: Miss) {
        self.set(Some(why));
    }
}
