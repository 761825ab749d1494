//! Equality of snapshots, by everything that their methods return.
//!
//! Cells are not compared: in a live bucket, extremes may be ahead of the count, and no method
//! returns a part of a value that is not counted yet.

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
