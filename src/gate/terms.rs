//! What a gate decides by: how time is cut, and how much is granted.

use crate::error::GateError;
use crate::ring::Geometry;

/// The most that a limit can be: see [`sheet`](super::sheet).
const MOST: u64 = 1 << 40;

/// The limit holds for each run of `buckets` buckets, of `length` nanoseconds each, aligned to time
/// zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Terms {
    pub(super) length: u64,
    pub(super) buckets: usize,
    pub(super) limit: u64,
}

impl Terms {
    pub(super) const fn new(geometry: Geometry, limit: u64) -> Result<Terms, GateError> {
        Terms { length: geometry.length(), buckets: geometry.buckets(), limit }.with_limit(limit)
    }

    /// The same with another limit.
    pub(super) const fn with_limit(self, limit: u64) -> Result<Terms, GateError> {
        match limit {
            0 => Err(GateError::ZeroLimit),
            1..=MOST => Ok(Terms { limit, ..self }),
            _ => Err(GateError::LimitTooHigh { limit, most: MOST }),
        }
    }

    /// The start of the bucket that contains `at`.
    pub(super) fn start_of(self, at: u64) -> u64 {
        at - at % self.length
    }

    /// How many buckets before its own a sheet knows of. Its own is at most an interval ahead of
    /// now, and the interval that ends with now's is to be read too.
    pub(super) fn history(self) -> usize {
        self.buckets.saturating_mul(2) - 1
    }

    /// How many buckets one start is before another; zero if it is not. More than can be counted
    /// are as many as can be.
    pub(super) fn steps(self, from: u64, to: u64) -> usize {
        usize::try_from(to.saturating_sub(from) / self.length).unwrap_or(usize::MAX)
    }

    /// The last start that may be granted at a time in the bucket at `start`: an interval ahead.
    pub(super) fn horizon(self, start: u64) -> u64 {
        start.saturating_add(self.length.saturating_mul(self.buckets as u64))
    }
}
