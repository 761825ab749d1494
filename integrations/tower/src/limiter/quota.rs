//! The state of one limit.

use std::time::Duration;

/// The state of a gate, or of one limit of a pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    pub limit: u64,
    pub interval: Duration,
    pub left: u64,
    /// The wait, if this limit refuses the request.
    pub retry_after: Option<Duration>,
}

impl Quota {
    /// Returns whether less than a weight is left.
    pub(crate) fn is_short_of(&self, weight: u64) -> bool {
        self.left < weight
    }

    /// Returns the time in which the limit admits a weight, on average.
    pub(crate) fn takes(&self, weight: u64) -> Duration {
        let nanos = self.interval.as_nanos() * u128::from(weight) / u128::from(self.limit.max(1));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}
