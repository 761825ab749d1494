//! Rates of a window.

use super::SlidingWindow;
use crate::clock::Clock;
use crate::event::kinds::HasSum;
use crate::event::{Event, Events, cells_of, number_of};
use crate::ring::RingAndClock;

/// # Rates
///
/// The rate of a `Count` event is its adds per second; of a `Value` event, its records per second
/// (times the mean: the sum of values per second); of a `Signed` event, its change per second,
/// negative if it goes down. The newest of `n` buckets has only begun, which the rates treat
/// differently:
///
/// | | divides | at a constant rate |
/// |---|---|---|
/// | [`rate`](Self::rate), [`Over::rate`] | all buckets by their time | low by 0 to 1 / n, on average 1 / 2n |
/// | [`Over::complete`] | those before the newest by their time | right, but up to one bucket old |
/// | [`Over::weighted_rate`] | buckets, and a share of the oldest, by the time covered | right |
///
/// Each divides by that time in a young window, too. Until the window is as old as the span, divide
/// the sum by its age:
///
/// ```
/// # use std::time::Duration;
/// # use windrow::{Clock, SlidingWindow, clock::Manual};
/// # windrow::events! { enum Hits { Hit: Count } }
/// # let builder = SlidingWindow::<Hits>::builder().interval(Duration::from_secs(60)).buckets(60);
/// # let window = builder.clock(Manual::default()).build()?;
/// window.add(Hits::Hit, 600);
/// window.clock().advance(Duration::from_secs(10));
/// assert_eq!(window.rate(Hits::Hit), 10.0);
/// let age = (window.clock().now() - window.built()).min(window.interval());
/// assert_eq!(window.sum(Hits::Hit) as f64 / age.as_secs_f64(), 60.0);
/// # Ok::<(), windrow::BuildError>(())
/// ```
///
/// [`Over::rate`]: crate::snapshot::Over::rate
/// [`Over::complete`]: crate::snapshot::Over::complete
/// [`Over::weighted_rate`]: crate::snapshot::Over::weighted_rate
impl<E: Events, C: Clock> SlidingWindow<E, C> {
    /// Returns the adds to a `Count` event per second of the interval; the records per second of a
    /// `Value` event.
    ///
    /// That is the count of [`stats`](Self::stats), with the promises of [`sum`](Self::sum),
    /// divided by the interval: [low](#rates) by at most one bucket's share of it, at a constant
    /// rate.
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
    #[doc(alias = "PerSecond")]
    pub fn rate<K: HasSum>(&self, event: Event<E, K>) -> f64 {
        let Some(cells) = cells_of(event).count() else { return 0.0 };
        let (count, interval) = self.of_interval_at_once(cells, None).unwrap_or_else(|| {
            self.ring.view(
                || self.nanos(),
                |view| (view.sum_in(view.interval(), cells), view.geometry().interval()),
            )
        });
        per_second(number_of(event, count), interval)
    }
}

/// Returns `count` per second of a span in nanoseconds; 0 if the span is zero.
#[inline]
pub(super) fn per_second(count: f64, span: u64) -> f64 {
    if span == 0 { 0.0 } else { count / (span as f64 / 1e9) }
}
