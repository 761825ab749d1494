//! The terms by which a gate decides: the geometry of its buckets, and its limit.

use crate::error::LimitError;
use crate::ring::Geometry;

/// The largest limit: see [`sheet`](super::sheet).
const MOST: u64 = 1 << 40;
/// The limit of a retired gate, which no caller can set.
const RETIRED: u64 = 0;

/// The limit holds for each run of `buckets` buckets, of `length` nanoseconds each, aligned to time
/// zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Terms {
    pub(super) length: u64,
    pub(super) buckets: usize,
    pub(super) limit: u64,
}

impl Terms {
    pub(super) const fn new(geometry: Geometry, limit: u64) -> Result<Terms, LimitError> {
        Terms { length: geometry.length(), buckets: geometry.buckets(), limit }.with_limit(limit)
    }

    /// Returns these terms with another limit.
    pub(super) const fn with_limit(self, limit: u64) -> Result<Terms, LimitError> {
        match limit {
            0 => Err(LimitError::ZeroLimit),
            1..=MOST => Ok(Terms { limit, ..self }),
            _ => Err(LimitError::LimitTooHigh { limit, most: MOST }),
        }
    }

    /// Returns the terms of a retired gate.
    pub(super) const fn retired(self) -> Terms {
        Terms { limit: RETIRED, ..self }
    }

    /// Returns whether these are the terms of a retired gate.
    pub(super) const fn are_retired(self) -> bool {
        self.limit == RETIRED
    }

    /// Returns the terms of a gate that is not retired.
    pub(super) const fn unless_retired(self) -> Result<Terms, LimitError> {
        if self.are_retired() { Err(LimitError::Retired) } else { Ok(self) }
    }

    /// Returns the start of the bucket that contains `at`.
    pub(super) fn start_of(self, at: u64) -> u64 {
        at - at % self.length
    }

    /// Returns the last nanosecond of the bucket that contains `at`.
    pub(super) fn end_of(self, at: u64) -> u64 {
        self.start_of(at).saturating_add(self.length - 1)
    }

    /// Returns the gate's time for a change of the geometry: all earlier grants, except those that
    /// wait, were made by then. The clock shows `read`, and the gate has `reached` a time. That is
    /// known to the bucket: a clock that is behind may have shown any moment of it.
    pub(super) fn time_of_change(self, reached: u64, read: u64) -> u64 {
        if read >= reached { read } else { self.end_of(reached) }
    }

    /// Returns the number of buckets before its own that a sheet knows. Its own is at most an
    /// interval ahead of the current one, whose interval a sheet must know too.
    pub(super) fn history(self) -> usize {
        self.buckets.saturating_mul(2) - 1
    }

    /// Returns the number of buckets from one start to a later one; zero if it is not later. It
    /// saturates.
    pub(super) fn steps(self, from: u64, to: u64) -> usize {
        usize::try_from(to.saturating_sub(from) / self.length).unwrap_or(usize::MAX)
    }

    /// Returns the last start for which a call in the bucket at `start` may wait: an interval
    /// ahead.
    pub(super) fn horizon(self, start: u64) -> u64 {
        start.saturating_add(self.length.saturating_mul(self.buckets as u64))
    }
}
