//! A bucket's snapshot as a reusable buffer.

use super::BucketSnapshot;
use crate::event::Events;
use crate::event::snapshot_numbers::Kept;
use crate::timestamp::Timestamp;

impl<E: Events> BucketSnapshot<E> {
    /// Overwrites this copy with a closed bucket and its numbers, and reuses its memory.
    pub(crate) fn refill(&mut self, start: u64, length: u64, number: impl FnMut(usize) -> u64) {
        self.start = Timestamp::from_nanos(start);
        self.end = Timestamp::from_nanos(start.saturating_add(length));
        self.is_closed = true;
        self.numbers.refill(number);
    }
}

/// An empty bucket of no length at time zero.
impl<E: Events> Default for BucketSnapshot<E> {
    fn default() -> BucketSnapshot<E> {
        let start = Timestamp::from_nanos(0);
        BucketSnapshot { start, end: start, is_closed: true, numbers: Kept::ZERO }
    }
}
