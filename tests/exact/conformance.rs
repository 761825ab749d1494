//! Answers on which the field agrees, and its known defects.
//!
//! The cases `a01` to `a21` come from the tests and articles of Sentinel (Java, Go, Rust),
//! qps-helper, resilience4j, Hystrix and a few others, restated for this library's contract; each
//! names its origin, and says so where the original pins a defect. The promises `b01` to `b18`
//! answer defects that were measured in, or reported against, the same libraries.

mod clocks_and_starts;
mod concurrent;
mod counters;
mod limits;
mod memory;
mod numbers;
mod rings;
mod views;

use windrow::kind::HasSum;
use windrow::{Event, Events, snapshot::Snapshot};

windrow::events! {
    /// The events of one endpoint.
    pub(crate) enum Http { Pass: Count, Block: Count, Exception: Count, Success: Count, Rt: Value }
}

/// Returns the starts of a snapshot's buckets, in milliseconds.
fn starts<E: Events>(snapshot: &Snapshot<E>) -> Vec<u64> {
    snapshot.buckets().iter().map(|bucket| bucket.start().as_nanos() / 1_000_000).collect()
}

/// Returns the sums of `event` in a snapshot's buckets.
fn sums<E: Events, K: HasSum<Number = u64>>(
    snapshot: &Snapshot<E>,
    event: Event<E, K>,
) -> Vec<u64> {
    snapshot.buckets().iter().map(|bucket| bucket.sum(event)).collect()
}
