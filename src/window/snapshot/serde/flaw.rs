//! Errors in the times of a deserialized snapshot. No window produces such a snapshot.

use std::fmt::{self, Display, Formatter};

use crate::event::Events;
use crate::window::snapshot::BucketSnapshot;

/// An error, with the value and the rule that it breaks. All numbers are nanoseconds, except counts
/// and indexes of buckets.
pub(super) enum Flaw {
    End { start: u64, end: u64 },
    Start { start: u64, length: u64 },
    ZeroLength,
    Interval { interval: u64, length: u64 },
    Number { at: u64, found: usize, expected: u64 },
    Order { at: u64, index: usize, start: u64, expected: u64 },
    Length { start: u64, end: u64, length: u64 },
}

impl Display for Flaw {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Flaw::End { start, end } => {
                write!(f, "the bucket's end, {end} ns, is not after its start, {start} ns")
            }
            Flaw::Start { start, length } => write!(
                f,
                "the bucket's start, {start} ns, is not a multiple of its length, {length} ns"
            ),
            Flaw::ZeroLength => write!(f, "a bucket's length is 0 ns; it must be at least 1 ns"),
            Flaw::Interval { interval, length } => write!(
                f,
                "the interval of {interval} ns is not a positive multiple of a bucket's length of \
                 {length} ns"
            ),
            Flaw::Number { at, found, expected } => write!(
                f,
                "the number of buckets is {found}; at the time {at} ns the interval has {expected}"
            ),
            Flaw::Order { at, index, start, expected } => write!(
                f,
                "bucket {index} begins at {start} ns; oldest first, and one beside the other up to the \
                 time {at} ns, it must begin at {expected} ns"
            ),
            Flaw::Length { start, end, length } => {
                write!(f, "the bucket from {start} ns to {end} ns must be {length} ns long")
            }
        }
    }
}

/// Checks the start and the end of a bucket of any length.
pub(super) fn of_bucket<E: Events>(bucket: &BucketSnapshot<E>) -> Result<(), Flaw> {
    let (start, end) = (bucket.start.as_nanos(), bucket.end.as_nanos());
    // A bucket that ends with the end of time may have any length; and the bucket before time zero
    // has length 0.
    if end == u64::MAX || (start, end) == (0, 0) {
        return Ok(());
    }
    let length = end.checked_sub(start).filter(|length| *length > 0);
    let length = length.ok_or(Flaw::End { start, end })?;
    if start.is_multiple_of(length) { Ok(()) } else { Err(Flaw::Start { start, length }) }
}

/// Checks that the buckets are those of the interval at the time `at`.
pub(super) fn of_snapshot<E: Events>(
    at: u64,
    interval: u64,
    length: u64,
    buckets: &[BucketSnapshot<E>],
) -> Result<(), Flaw> {
    if length == 0 {
        return Err(Flaw::ZeroLength);
    }
    if interval == 0 || !interval.is_multiple_of(length) {
        return Err(Flaw::Interval { interval, length });
    }
    // The number that the interval has, without those that would begin before time zero.
    let newest = at / length;
    let expected = (interval / length).min(newest.saturating_add(1));
    if buckets.len() as u64 != expected {
        return Err(Flaw::Number { at, found: buckets.len(), expected });
    }
    let oldest = newest - (expected - 1); // there is at least one
    for (index, bucket) in buckets.iter().enumerate() {
        let (start, end) = (bucket.start.as_nanos(), bucket.end.as_nanos());
        let expected = (oldest + index as u64) * length;
        if start != expected {
            return Err(Flaw::Order { at, index, start, expected });
        }
        if end != start.saturating_add(length) {
            return Err(Flaw::Length { start, end, length });
        }
    }
    Ok(())
}
