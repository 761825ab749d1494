//! When two snapshots are equal: by all that can be read of them.
//!
//! Cells are not compared. Of a live bucket, extremes may be ahead of the count, and of a value
//! that is not counted nothing is read.

use super::{BucketSnapshot, Snapshot};
use crate::event::Events;

impl<E: Events> PartialEq for Snapshot<E> {
    fn eq(&self, other: &Snapshot<E>) -> bool {
        let of = |snapshot: &Snapshot<E>| (snapshot.at, snapshot.interval, snapshot.length);
        of(self) == of(other) && self.buckets == other.buckets
    }
}

impl<E: Events> Eq for Snapshot<E> {}

impl<E: Events> PartialEq for BucketSnapshot<E> {
    fn eq(&self, other: &BucketSnapshot<E>) -> bool {
        let of = |bucket: &BucketSnapshot<E>| (bucket.start, bucket.end, bucket.is_closed);
        of(self) == of(other)
            && self.all_stats().eq(other.all_stats())
            && self.all_distributions().eq(other.all_distributions())
    }
}

impl<E: Events> Eq for BucketSnapshot<E> {}
