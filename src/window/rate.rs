//! Rates of a window.

use std::time::Duration;

use super::SlidingWindow;
use crate::clock::Clock;
use crate::event::{Event, cells_of, number_of};
use crate::ring::RingAndClock;

/// # Rates
///
/// A rate is what was added to a `Count` event per second, or of a `Value` event, how many values were recorded
/// per second. What they come to per second is the mean times the rate. Of a `Signed` event it is what it goes up by per
/// second, or less than zero if it goes down; of a `Maximum` or `Minimum` event, 0.
///
/// The newest bucket has only begun. So at a constant rate, `n` buckets hold what `n - 1` to `n` buckets of
/// time brought. What each rate makes of that:
///
/// | | divides | by | at a constant rate |
/// |---|---|---|---|
/// | [`rate`](Self::rate), [`Over::rate`] | all buckets | all buckets' time | low by 0 to 1 / n, on average 1 / 2n: 25 % with two buckets |
/// | [`warm_up_rate`](Self::warm_up_rate) | the same | the window's age, while that is less | right as long as nothing has left, then as `rate` |
/// | [`Over::complete`] | the buckets before the newest | their time | right, but up to one bucket old |
/// | [`Over::weighted_rate`] | buckets, and a share of the oldest one | the time that they cover | right |
///
/// [`Over::rate`]: crate::Over::rate
/// [`Over::complete`]: crate::Over::complete
/// [`Over::weighted_rate`]: crate::Over::weighted_rate
impl<E: Event, C: Clock> SlidingWindow<E, C> {
    /// What was added to a `Count` event per second of the interval; of a `Value` event, the records per second.
    ///
    /// It is the count of [`stats`](Self::stats), with what [`sum`](Self::sum) promises, divided by the
    /// interval. It is low, because the newest bucket has only begun: by at most one bucket's share of the
    /// interval, if events come at a constant rate. See [the other rates](#rates).
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count, Micros: Value } }
    /// # let clock = windrow::clock::Manual::default();
    /// let window = windrow::SlidingWindow::<Hits>::builder()
    ///     .interval(std::time::Duration::from_secs(10))
    ///     .clock(clock)
    ///     .build()?;
    /// window.add(Hits::Hit, 5);
    /// window.record(Hits::Micros, 1_250);
    /// assert_eq!(window.rate(Hits::Hit), 0.5);
    /// assert_eq!(window.rate(Hits::Micros), 0.1);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn rate(&self, event: E) -> f64 {
        let Some(cells) = cells_of(event).count() else { return 0.0 };
        let (count, interval) = self.ring.view(
            || self.nanos(),
            |view| (view.sum_in(view.interval(), cells), view.geometry().interval()),
        );
        per_second(number_of(event, count), Duration::from_nanos(interval))
    }

    /// The [`rate`](Self::rate) of a window that is younger than its interval: per second since it was built,
    /// if that is less. `None` if its clock shows no later time than when it was built.
    ///
    /// While the window is younger than its interval less one bucket, nothing has left it: of what was added on
    /// the clock's time, this is the exact rate so far. Later it has the error of `rate`; once the window is as old as
    /// its interval, it is `rate`. What was back-dated to before the window was built is counted as if it had
    /// come since. Soon after the window was built, the clock's resolution is a part of the error: with a clock of 4 ms,
    /// up to half of the rate after 8 ms. A [changed](Self::reconfigure) geometry does not make a window younger.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// # let clock = windrow::clock::Manual::default();
    /// use std::time::Duration;
    ///
    /// let window = windrow::SlidingWindow::<Hits>::builder()
    ///     .interval(Duration::from_secs(60))
    ///     .clock(clock.clone())
    ///     .build()?;
    /// window.add(Hits::Hit, 30);
    /// assert_eq!(window.warm_up_rate(Hits::Hit), None);
    /// clock.advance(Duration::from_secs(3));
    /// assert_eq!(window.rate(Hits::Hit), 0.5);
    /// assert_eq!(window.warm_up_rate(Hits::Hit), Some(10.0));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn warm_up_rate(&self, event: E) -> Option<f64> {
        let cells = cells_of(event).count();
        let (count, nanos) = self.ring.view(
            || self.nanos(),
            |view| {
                let age = view.now().saturating_sub(self.built.as_nanos());
                let count = cells.map_or(0, |cells| view.sum_in(view.interval(), cells));
                (count, view.geometry().interval().min(age))
            },
        );
        let count = number_of(event, count);
        (nanos > 0).then(|| per_second(count, Duration::from_nanos(nanos)))
    }
}

/// So many in a span, per second; of no span, 0.
pub(super) fn per_second(count: f64, span: Duration) -> f64 {
    if span.is_zero() { 0.0 } else { count / span.as_secs_f64() }
}
