//! The parts of an interval, and the sums over them.

use crate::ring::order::bucket::{Bucket, Prefix};

/// The buckets of an interval that are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ring) enum Part {
    Whole,
    /// The buckets before the newest.
    Complete,
}

/// Sums over an interval, of what buckets and blocks hold.
pub(super) trait Sums {
    /// Subtracts a closed bucket that has left the interval.
    fn take_off(&mut self, gone: &Bucket);
    /// Adds what the buckets of the live bucket's interval have counted through blocks, with or
    /// without the live bucket; `None` if the prefix is unknown.
    fn add_interval(&mut self, live: &Bucket, prefix: Prefix, part: Part) -> Option<()>;
    /// Adds a bucket's shared cells.
    fn add_shared(&mut self, touched: &Bucket);
}
