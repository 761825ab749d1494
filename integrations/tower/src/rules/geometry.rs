//! The geometry that a rule gives the windows of its keys.

use std::time::Duration;

use windrow::{BuildError, Clock, Events, SlidingWindow};

use crate::endpoint::Http;
use crate::rules::error::{RulesError, RulesPart};
#[cfg(feature = "serde")]
use crate::rules::fields::{Fields, Readable};
use crate::rules::setting::Setting;

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
    fn check(self, part: RulesPart) -> Result<(), RulesError> {
        let Geometry { interval, buckets } = self;
        let max = Geometry::MAX_BUCKETS;
        if buckets > max {
            return Err(RulesError::TooManyBuckets { part, buckets, max });
        }
        let builder = SlidingWindow::<Http>::builder().interval(interval).buckets(buckets);
        let window = builder.allow_coarse_clock().build();
        window.map(|_| ()).map_err(|error| RulesError::Window { part, error })
    }
}

/// Reads the fields of an object.
#[cfg(feature = "serde")]
impl Readable for Geometry {
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
}
