//! The settings of a breaker, and their check.

use std::time::Duration;

use super::measured::{MOST_BUCKETS, MOST_CALLS};
use super::terms::{Terms, Window};
use crate::error::{BuildError, LimitError};

/// The longest time of a trial, unless the settings have another.
const A_MINUTE: Duration = Duration::new(60, 0);

/// The greatest minimum of calls.
const MOST_MINIMUM: u64 = 1_000_000;
/// The greatest number of trials.
const MOST_TRIALS: u64 = 1_000;
/// The longest of all times, in nanoseconds: 2^62, some 146 years.
const LONGEST: u64 = 1 << 62;

/// The settings of a [`Breaker`](crate::Breaker): what opens it, and how it closes again.
///
/// Each setting has a default, except for the calls that are measured.
///
/// ```
/// use std::time::Duration;
/// use windrow::{Breaker, breaker::Settings};
///
/// static PAYMENTS: Breaker = Breaker::of(
///     Settings::interval(Duration::from_secs(10), 10)
///         .minimum_calls(20)
///         .failed_percent(50)
///         .slow_percent(80, Duration::from_secs(2))
///         .trials(3)
///         .open_for(Duration::from_secs(5))
///         .up_to(Duration::from_secs(60)),
/// );
///
/// assert!(PAYMENTS.try_call().is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Settings {
    calls: Calls,
    minimum_calls: Option<u64>,
    failed_percent: u32,
    slow: Option<(u32, Duration)>,
    trials: u64,
    trial_timeout: Duration,
    open_for: Duration,
    up_to: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Calls {
    Last(usize),
    Of { interval: Duration, buckets: usize },
}

impl Settings {
    /// Returns settings of a breaker that measures the last `n` calls: 1 to 1024.
    ///
    /// It forgets a call when `n` others have ended, however long that takes.
    ///
    /// ```
    /// use windrow::{Breaker, breaker::Settings};
    ///
    /// let breaker = Breaker::of(Settings::last_calls(3)); // and opens if half of them fail
    /// breaker.try_call().expect("closed").success();
    /// breaker.try_call().expect("closed").failure();
    /// assert!(breaker.try_call().is_ok());
    /// breaker.try_call().expect("closed").failure();
    /// assert!(breaker.try_call().is_err());
    /// ```
    pub const fn last_calls(n: usize) -> Settings {
        Settings::new(Calls::Last(n))
    }

    /// Returns settings of a breaker that measures the calls that ended in the last `interval`, cut
    /// into 1 to 32 `buckets`.
    ///
    /// A sum covers the current bucket and the buckets before it: at most the interval, and at
    /// least the interval without one bucket.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Breaker, breaker::Settings, clock::Manual};
    ///
    /// let clock = Manual::default();
    /// let settings = Settings::interval(Duration::from_secs(10), 10).minimum_calls(2);
    /// let breaker = Breaker::with_clock(settings, clock.clone())?;
    /// breaker.try_call().expect("closed").failure();
    /// clock.advance(Duration::from_secs(10)); // it has left
    /// breaker.try_call().expect("closed").failure();
    /// assert!(breaker.try_call().is_ok());
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub const fn interval(interval: Duration, buckets: usize) -> Settings {
        Settings::new(Calls::Of { interval, buckets })
    }

    const fn new(calls: Calls) -> Settings {
        Settings {
            calls,
            minimum_calls: None,
            failed_percent: 50,
            slow: None,
            trials: 3,
            trial_timeout: A_MINUTE,
            open_for: Duration::from_secs(5),
            up_to: None,
        }
    }

    /// Sets the number of calls below which nothing opens the breaker: 1 to 1 000 000, and at most
    /// the number of [last calls](Self::last_calls). The default is 20, or the number of last calls
    /// if that is less.
    pub const fn minimum_calls(self, calls: u64) -> Settings {
        Settings { minimum_calls: Some(calls), ..self }
    }

    /// Sets the share of failed calls that opens the breaker if it is reached, in per cent: 1 to
    /// 100; 50 by default.
    pub const fn failed_percent(self, percent: u32) -> Settings {
        Settings { failed_percent: percent, ..self }
    }

    /// Sets the share of slow calls that opens the breaker if it is reached, in per cent: 1 to 100.
    /// A call is slow if it takes `slow_from`, or longer. By default no call is slow.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Breaker, breaker::Settings, clock::Manual};
    ///
    /// let clock = Manual::default();
    /// let settings = Settings::last_calls(1).slow_percent(80, Duration::from_secs(2));
    /// let breaker = Breaker::with_clock(settings, clock.clone())?;
    /// let call = breaker.try_call().expect("closed");
    /// clock.advance(Duration::from_secs(2));
    /// call.success();
    /// assert!(breaker.try_call().is_err());
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub const fn slow_percent(self, percent: u32, slow_from: Duration) -> Settings {
        Settings { slow: Some((percent, slow_from)), ..self }
    }

    /// Sets the number of calls that are let through on trial when the breaker is half open: 1 to
    /// 1000; 3 by default.
    pub const fn trials(self, trials: u64) -> Settings {
        Settings { trials, ..self }
    }

    /// Sets the time after which trials are overdue that have neither ended nor been dropped; a
    /// minute by default. Then the breaker is open again, as if they had failed. Choose more than
    /// the longest call takes.
    pub const fn trial_timeout(self, timeout: Duration) -> Settings {
        Settings { trial_timeout: timeout, ..self }
    }

    /// Sets the time for which the breaker is open before it lets trials through; 5 seconds by
    /// default.
    pub const fn open_for(self, time: Duration) -> Settings {
        Settings { open_for: time, ..self }
    }

    /// Doubles the time for which the breaker is [open](Self::open_for) each time that its trials
    /// fail, up to `longest`. By default it is the same each time. When the breaker closes, it
    /// begins anew.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::breaker::Settings;
    ///
    /// let second = Duration::from_secs(1);
    /// let settings = Settings::last_calls(100).open_for(5 * second).up_to(30 * second);
    /// // 5 s, 10 s, 20 s, 30 s, 30 s ...
    /// # windrow::Breaker::of(settings);
    /// ```
    pub const fn up_to(self, longest: Duration) -> Settings {
        Settings { up_to: Some(longest), ..self }
    }

    /// Checks the settings, for a clock of a resolution in nanoseconds.
    #[inline]
    pub(super) const fn terms(self, resolution: u64) -> Result<Terms, LimitError> {
        let (window, most_minimum) = match self.calls.window(resolution) {
            Ok(window) => window,
            Err(error) => return Err(error),
        };
        let minimum_calls = match self.minimum_calls {
            Some(calls) => calls,
            None if most_minimum < 20 => most_minimum,
            None => 20,
        };
        if minimum_calls == 0 || minimum_calls > most_minimum {
            return Err(LimitError::MinimumCalls { calls: minimum_calls, most: most_minimum });
        }
        let (slow_percent, slow_from) = match self.slow {
            None => (None, u64::MAX),
            Some((percent, from)) => match nanos(from, resolution) {
                Ok(from) => (Some(percent), from),
                Err(error) => return Err(error),
            },
        };
        if !is_percent(self.failed_percent) {
            return Err(LimitError::Percent { percent: self.failed_percent });
        }
        if let Some(percent) = slow_percent
            && !is_percent(percent)
        {
            return Err(LimitError::Percent { percent });
        }
        if self.trials == 0 || self.trials > MOST_TRIALS {
            return Err(LimitError::Trials { trials: self.trials, most: MOST_TRIALS });
        }
        let (open_for, trial_timeout) =
            match (nanos(self.open_for, resolution), nanos(self.trial_timeout, resolution)) {
                (Ok(open_for), Ok(trial_timeout)) => (open_for, trial_timeout),
                (Err(error), _) | (_, Err(error)) => return Err(error),
            };
        let longest = match self.up_to {
            None => open_for,
            Some(longest) => match nanos(longest, resolution) {
                Ok(nanos) if nanos < open_for => {
                    return Err(LimitError::UpTo { up_to: longest, open_for: self.open_for });
                }
                Ok(nanos) => nanos,
                Err(error) => return Err(error),
            },
        };
        Ok(Terms {
            window,
            minimum_calls,
            failed_percent: self.failed_percent as u64,
            slow_percent,
            slow_from,
            trials: self.trials,
            trial_timeout,
            open_for,
            longest,
        })
    }
}

impl Calls {
    /// Returns the window, and the greatest minimum of calls that it can have.
    #[inline]
    const fn window(self, resolution: u64) -> Result<(Window, u64), LimitError> {
        match self {
            Calls::Last(0) => Err(LimitError::LastCalls { calls: 0, most: MOST_CALLS }),
            Calls::Last(calls) if calls > MOST_CALLS => {
                Err(LimitError::LastCalls { calls, most: MOST_CALLS })
            }
            Calls::Last(calls) => Ok((Window::LastCalls { size: calls as u64 }, calls as u64)),
            Calls::Of { buckets, .. } if buckets == 0 || buckets > MOST_BUCKETS => {
                Err(LimitError::BucketCount { buckets, most: MOST_BUCKETS })
            }
            Calls::Of { interval, buckets } => {
                let all = match nanos(interval, 0) {
                    Ok(all) => all,
                    Err(error) => return Err(error),
                };
                if all % buckets as u64 != 0 {
                    return Err(LimitError::Buckets(BuildError::UnevenBuckets {
                        interval,
                        buckets,
                    }));
                }
                let length = all / buckets as u64;
                match nanos(Duration::from_nanos(length), resolution) {
                    Ok(length) => {
                        let window = Window::Interval { length, buckets: buckets as u64 };
                        Ok((window, MOST_MINIMUM))
                    }
                    Err(error) => Err(error),
                }
            }
        }
    }
}

const fn is_percent(percent: u32) -> bool {
    1 <= percent && percent <= 100
}

/// Returns a time in nanoseconds, if it is one that a clock of this resolution can measure: ten of
/// its steps.
const fn nanos(time: Duration, resolution: u64) -> Result<u64, LimitError> {
    let nanos = time.as_nanos();
    if nanos == 0 || nanos > LONGEST as u128 {
        return Err(LimitError::Time { time });
    }
    let nanos = nanos as u64;
    if resolution > nanos / 10 {
        let resolution = Duration::from_nanos(resolution);
        return Err(LimitError::ClockTooCoarse { resolution, span: time });
    }
    Ok(nanos)
}
