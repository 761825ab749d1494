//! The settings of a breaker, once they are checked: what its two rules ask.

/// The calls by which a breaker is judged.
#[derive(Clone, Copy, Debug)]
pub(super) enum Window {
    /// The last calls.
    LastCalls { size: u64 },
    /// Those of an interval, in buckets of a length in nanoseconds.
    Interval { length: u64, buckets: u64 },
}

/// Settings that were checked. Times are in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    pub(super) window: Window,
    pub(super) minimum_calls: u64,
    pub(super) failed_percent: u64,
    pub(super) slow_percent: Option<u32>,
    /// The end of time if no call is slow.
    pub(super) slow_from: u64,
    pub(super) trials: u64,
    pub(super) trial_timeout: u64,
    pub(super) open_for: u64,
    pub(super) longest: u64,
}

impl Terms {
    /// Returns whether a call that has taken a time is slow.
    #[inline]
    pub(super) fn is_slow(&self, took: u64) -> bool {
        took >= self.slow_from && self.slow_percent.is_some()
    }

    /// Returns whether the minimum of calls is there, and a share is reached.
    #[inline]
    pub(super) fn opens(&self, calls: u64, failed: u64, slow: u64) -> bool {
        calls >= self.minimum_calls && self.is_bad(calls, failed, slow)
    }

    /// Returns whether a share is reached.
    #[inline]
    pub(super) fn is_bad(&self, calls: u64, failed: u64, slow: u64) -> bool {
        // At most 32 full buckets of 2^21 calls, times a hundred.
        let is_reached = |of: u64, percent: u64| 100 * of >= percent * calls;
        is_reached(failed, self.failed_percent)
            || self.slow_percent.is_some_and(|percent| is_reached(slow, percent.into()))
    }

    /// Returns the time for which the breaker is open, for the number of openings in a row.
    #[inline]
    pub(super) fn open_time(&self, openings: u64) -> u64 {
        let doublings = openings.saturating_sub(1).min(63);
        let fits = self.longest >> doublings >= self.open_for;
        if fits { self.open_for << doublings } else { self.longest }
    }
}
