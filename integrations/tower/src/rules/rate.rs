//! The rate that a rule gives its keys.

use std::time::Duration;

use windrow::{Clock, Gate, gate::GateError};

use crate::rules::error::{RulesError, RulesPart};
use crate::rules::setting::{Setting, sealed};

/// A rate limit: at most `limit` in each `interval`, as a [`Gate`] counts it.
///
/// ```
/// use std::time::Duration;
/// use windrow_tower::Rate;
///
/// let rate = Rate::new(600).interval(Duration::from_secs(60)).buckets(60).strict();
/// assert_eq!((rate.limit, rate.max_wait), (600, Duration::ZERO));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rate {
    /// The maximum sum of weights in an interval: 1 to 2^40.
    pub limit: u64,
    /// The interval; one second by default.
    pub interval: Duration,
    /// The number of equal buckets of the interval; 2 by default.
    pub buckets: usize,
    /// If true, the limit holds in every span of time, as in a
    /// [`strict`](windrow::gate::GateBuilder::strict) gate; false by default. A gate that was built
    /// strict stays strict in either case.
    pub strict: bool,
    /// The longest time that a request may wait for its turn; zero by default.
    pub max_wait: Duration,
}

impl Rate {
    /// The maximum number of buckets: 1000.
    pub const MAX_BUCKETS: usize = 1_000;

    /// Returns a rate of `limit` a second.
    ///
    /// ```
    /// use windrow_tower::Rate;
    ///
    /// assert_eq!(Rate::new(100).buckets, 2);
    /// ```
    pub const fn new(limit: u64) -> Rate {
        let interval = Duration::from_secs(1);
        Rate { limit, interval, buckets: 2, strict: false, max_wait: Duration::ZERO }
    }

    /// Sets the interval.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow_tower::Rate;
    ///
    /// let minute = Duration::from_secs(60);
    /// assert_eq!(Rate::new(100).interval(minute).interval, minute);
    /// ```
    #[must_use]
    pub const fn interval(self, interval: Duration) -> Rate {
        Rate { interval, ..self }
    }

    /// Sets the number of buckets of the interval: at most [`MAX_BUCKETS`](Self::MAX_BUCKETS), and
    /// a divisor of the interval's nanoseconds.
    ///
    /// ```
    /// use windrow_tower::Rate;
    ///
    /// assert_eq!(Rate::new(100).buckets(10).buckets, 10);
    /// ```
    #[must_use]
    pub const fn buckets(self, buckets: usize) -> Rate {
        Rate { buckets, ..self }
    }

    /// Makes the limit hold in every span of time: the gate has one bucket more.
    ///
    /// ```
    /// use windrow_tower::Rate;
    ///
    /// assert!(Rate::new(100).strict().strict);
    /// ```
    #[must_use]
    pub const fn strict(self) -> Rate {
        Rate { strict: true, ..self }
    }

    /// Sets the longest wait of a request. Requests wait only in a layer that
    /// [waits](crate::LimitLayer::wait), and no longer than the layer says, nor than the interval.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow_tower::Rate;
    ///
    /// let rate = Rate::new(100).max_wait(Duration::from_millis(300));
    /// assert_eq!(rate.max_wait.as_millis(), 300);
    /// ```
    #[must_use]
    pub const fn max_wait(self, max_wait: Duration) -> Rate {
        Rate { max_wait, ..self }
    }

    /// Gives a gate this rate; returns whether it had another.
    ///
    /// While the geometry changes, the lower of the two limits is in force. So no mixture of the
    /// two rates grants what both of them would refuse.
    pub(crate) fn apply<C: Clock>(self, gate: &Gate<C>) -> Result<bool, GateError> {
        let terms = || (gate.limit(), gate.bucket_length(), gate.buckets());
        let before = terms();
        if self.limit < before.0 {
            gate.set_limit(self.limit)?;
        }
        self.shape(gate)?;
        if self.limit > before.0 {
            gate.set_limit(self.limit)?;
        }
        Ok(terms() != before)
    }

    /// Gives a gate this geometry. A gate that was built strict stays strict, and adds the spare
    /// bucket itself; any other gate gets that bucket from a strict rate.
    fn shape<C: Clock>(self, gate: &Gate<C>) -> Result<(), GateError> {
        let length = self.interval / self.buckets as u32; // even, and few: it is checked
        let spare = usize::from(self.strict && !gate.is_strict());
        let buckets = self.buckets + spare;
        let all = buckets + usize::from(gate.is_strict());
        if (gate.bucket_length(), gate.buckets()) == (length, all) {
            return Ok(());
        }
        gate.reconfigure(length * buckets as u32, buckets)
    }
}

impl Setting for Rate {}

impl sealed::Setting for Rate {
    /// Refuses a rate that no gate can have, also on a clock that is fine enough.
    fn check(self, part: RulesPart) -> Result<(), RulesError> {
        let Rate { limit, interval, buckets, strict, .. } = self;
        let max = Rate::MAX_BUCKETS;
        if buckets > max {
            return Err(RulesError::TooManyBuckets { part, buckets, max });
        }
        let builder = Gate::builder(limit).interval(interval).buckets(buckets);
        let builder = if strict { builder.strict() } else { builder };
        let gate = builder.allow_coarse_clock().build();
        gate.map(|_| ()).map_err(|error| RulesError::Rate { part, error })
    }
}
