//! The settings that a rule gives its keys: a rate, places, or the geometry of a window.

use std::fmt::Debug;
use std::time::Duration;

use windrow::LimitError;
use windrow::{BuildError, Clock, Events, Gate, Pace, SlidingWindow};

use crate::endpoint::Http;
use crate::rules::error::Problem;

/// The setting that a rule of [`Rules`](crate::Rules) gives its keys: a [`Rate`], [`Places`] or a
/// [`Geometry`]. It can be read by serde, as an object.
pub trait Setting: Copy + PartialEq + Debug + Send + Sync + 'static {
    /// The object that is expected.
    const WHAT: &'static str;

    /// The names of the fields of a rule: `match`, and those of the setting.
    const NAMES: &'static [&'static str];

    /// The names of the fields that the default setting must have.
    const REQUIRED: &'static [&'static str];

    /// True if rules of this setting have weights of requests, too.
    const HAS_WEIGHTS: bool = false;

    /// The setting whose fields a default setting may leave out.
    const BLANK: Self;

    /// Returns the setting with the fields that are there.
    #[must_use]
    fn with(self, fields: &Fields) -> Self;

    /// Refuses a setting that no key can have.
    fn check(self) -> Result<(), Problem> {
        Ok(())
    }
}

/// The fields of an object as serde reads them: each may be there or not.
#[cfg_attr(not(feature = "serde"), expect(dead_code))]
#[derive(Default)]
pub struct Fields {
    /// The labels and patterns of a rule.
    pub(super) labels: Vec<(String, String)>,
    /// The pattern of a weight's requests.
    pub(super) request: String,
    pub(super) weight: u64,
    pub(super) limit: Option<u64>,
    pub(super) interval_ms: Option<u64>,
    pub(super) buckets: Option<usize>,
    pub(super) strict: Option<bool>,
    pub(super) max_wait_ms: Option<u64>,
    pub(super) burst: Option<u64>,
    pub(super) places: Option<u64>,
}

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

    /// Refuses a rate that no gate can have, or with a burst no pace, also on a clock that is fine
    /// enough.
    fn check(self) -> Result<(), Problem> {
        few_buckets(self.buckets, Rate::MAX_BUCKETS)?;
        if self.burst.is_some() {
            let (period, burst) = self.pace();
            if self.limit == 0 {
                return Err(LimitError::ZeroLimit.into());
            }
            Pace::builder(period).burst(burst).allow_coarse_clock().build()?;
            return Ok(());
        }
        let builder = Gate::builder(self.limit).interval(self.interval).buckets(self.buckets);
        let builder = if self.strict { builder.strict() } else { builder };
        builder.allow_coarse_clock().build()?;
        Ok(())
    }
}

/// A concurrency limit: the number of requests that a [`Room`](crate::Room) holds at once.
///
/// ```
/// use windrow_tower::Places;
///
/// assert_eq!(Places::new(50).places, 50);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Places {
    /// The number of places. A room with 0 places refuses all requests.
    pub places: u64,
}

impl Places {
    /// Returns a number of places.
    ///
    /// ```
    /// assert_eq!(windrow_tower::Places::new(2).places, 2);
    /// ```
    pub const fn new(places: u64) -> Places {
        Places { places }
    }
}

impl Setting for Places {
    const WHAT: &'static str = "an object of places";
    const NAMES: &'static [&'static str] = &["match", "places"];
    const REQUIRED: &'static [&'static str] = &["places"];
    const BLANK: Places = Places::new(0);

    fn with(self, fields: &Fields) -> Places {
        Places::new(fields.places.unwrap_or(self.places))
    }
}

/// The geometry of a sliding window: an interval in equal buckets.
///
/// ```
/// use std::time::Duration;
/// use windrow_tower::Geometry;
///
/// let minute = Geometry::new(Duration::from_secs(60), 60);
/// assert_eq!((minute.interval.as_secs(), minute.buckets), (60, 60));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Geometry {
    /// The interval that the window covers.
    pub interval: Duration,
    /// The number of equal buckets of the interval: at most [`MAX_BUCKETS`](Self::MAX_BUCKETS), and
    /// a divisor of the interval's nanoseconds.
    pub buckets: usize,
}

impl Geometry {
    /// The maximum number of buckets: 3600.
    pub const MAX_BUCKETS: usize = 3_600;

    /// Returns a geometry, which is not checked yet.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow_tower::{Geometry, Rules};
    ///
    /// let rules = Rules::builder(Geometry::new(Duration::from_secs(60), 7));
    /// assert_eq!(
    ///     rules.build().unwrap_err().to_string(),
    ///     "default: 7 buckets do not divide the interval of 60s into whole nanoseconds"
    /// );
    /// ```
    pub const fn new(interval: Duration, buckets: usize) -> Geometry {
        Geometry { interval, buckets }
    }

    /// Gives a window this geometry; returns whether it had another.
    pub(crate) fn apply<E: Events, C: Clock>(
        self,
        window: &SlidingWindow<E, C>,
    ) -> Result<bool, BuildError> {
        if (window.interval(), window.buckets()) == (self.interval, self.buckets) {
            return Ok(false);
        }
        window.reconfigure(self.interval, self.buckets)?;
        Ok(true)
    }
}

impl Setting for Geometry {
    const WHAT: &'static str = "an object of a geometry";
    const NAMES: &'static [&'static str] = &["match", "interval_ms", "buckets"];
    const REQUIRED: &'static [&'static str] = &["interval_ms", "buckets"];
    const BLANK: Geometry = Geometry::new(Duration::ZERO, 0);

    fn with(self, fields: &Fields) -> Geometry {
        Geometry {
            interval: fields.interval_ms.map_or(self.interval, Duration::from_millis),
            buckets: fields.buckets.unwrap_or(self.buckets),
        }
    }

    fn check(self) -> Result<(), Problem> {
        few_buckets(self.buckets, Geometry::MAX_BUCKETS)?;
        let builder = SlidingWindow::<Http>::builder().interval(self.interval);
        builder.buckets(self.buckets).allow_coarse_clock().build()?;
        Ok(())
    }
}

fn few_buckets(buckets: usize, max: usize) -> Result<(), Problem> {
    if buckets > max {
        return Err(format!("there are {buckets} buckets; there must be {max} or fewer").into());
    }
    Ok(())
}
