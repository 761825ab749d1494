//! The rate that a rule gives its keys.

use std::time::Duration;

use windrow::LimitError;
use windrow::{Gate, Pace};

use crate::rules::error::{RulesError, RulesPart};
#[cfg(feature = "serde")]
use crate::rules::fields::{Fields, Readable};
use crate::rules::setting::Setting;

/// A rate limit: at most `limit` in each `interval`, as a [`Gate`] counts it; or one in each
/// `interval / limit`, with a `burst`, as a [`Pace`] admits it.
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
    /// The maximum sum of weights in an interval: 1 to 2^40. For a pace, whose period is the
    /// interval divided by it and rounded up to a nanosecond, 1 or more.
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
    /// The burst of a [`Pace`], which is `limit` if this is `None`. A gate has none.
    pub burst: Option<u64>,
}

/// The reason for which a limiter cannot have a rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RateError {
    Gate(LimitError),
    Pace(LimitError),
    /// The limiter has nothing that the field could set.
    Unsuited(&'static str),
}

impl RateError {
    /// Returns the error of rules of which this rate is a part.
    pub(crate) fn of(self, part: RulesPart) -> RulesError {
        match self {
            RateError::Gate(error) => RulesError::Rate { part, error },
            RateError::Pace(error) => RulesError::Pace { part, error },
            RateError::Unsuited(field) => RulesError::Unsuited { part, field },
        }
    }
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
        let max_wait = Duration::ZERO;
        Rate { limit, interval, buckets: 2, strict: false, max_wait, burst: None }
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

    /// Sets the burst of a [`Pace`]: the weight that is admitted at once after a rest. By default
    /// it is the limit.
    ///
    /// Only paces take it: see [`PaceLimits`](crate::PaceLimits).
    ///
    /// ```
    /// use windrow_tower::Rate;
    ///
    /// assert_eq!(Rate::new(20).burst(40).burst, Some(40)); // 20 a second, 40 at once
    /// ```
    #[must_use]
    pub const fn burst(self, burst: u64) -> Rate {
        Rate { burst: Some(burst), ..self }
    }

    /// Returns the period of a pace, rounded up, and its burst.
    pub(crate) fn pace(self) -> (Duration, u64) {
        let nanos = self.interval.as_nanos().div_ceil(u128::from(self.limit.max(1)));
        let period = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        (period, self.burst.unwrap_or(self.limit))
    }
}

impl Setting for Rate {
    /// Refuses a rate that no gate can have, or with a burst no pace, also on a clock that is fine
    /// enough.
    fn check(self, part: RulesPart) -> Result<(), RulesError> {
        let Rate { limit, interval, buckets, strict, .. } = self;
        let max = Rate::MAX_BUCKETS;
        if buckets > max {
            return Err(RulesError::TooManyBuckets { part, buckets, max });
        }
        if self.burst.is_some() {
            let (period, burst) = self.pace();
            let pace = match limit {
                0 => Err(LimitError::ZeroLimit),
                _ => Pace::builder(period).burst(burst).allow_coarse_clock().build(),
            };
            return pace.map(|_| ()).map_err(|error| RateError::Pace(error).of(part));
        }
        let builder = Gate::builder(limit).interval(interval).buckets(buckets);
        let builder = if strict { builder.strict() } else { builder };
        let gate = builder.allow_coarse_clock().build();
        gate.map(|_| ()).map_err(|error| RateError::Gate(error).of(part))
    }
}

/// Reads the fields of an object.
#[cfg(feature = "serde")]
impl Readable for Rate {
    const WHAT: &'static str = "an object of a rate";
    const NAMES: &'static [&'static str] =
        &["match", "limit", "interval_ms", "buckets", "strict", "max_wait_ms", "burst"];
    const REQUIRED: &'static [&'static str] = &["limit"];
    const HAS_WEIGHTS: bool = true;
    const BLANK: Rate = Rate::new(0);

    fn with(self, fields: &Fields) -> Rate {
        Rate {
            limit: fields.limit.unwrap_or(self.limit),
            interval: fields.interval_ms.map_or(self.interval, Duration::from_millis),
            buckets: fields.buckets.unwrap_or(self.buckets),
            strict: fields.strict.unwrap_or(self.strict),
            max_wait: fields.max_wait_ms.map_or(self.max_wait, Duration::from_millis),
            burst: fields.burst.or(self.burst),
        }
    }
}
