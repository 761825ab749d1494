//! Percentiles (quantiles) of a window.

use super::SlidingWindow;
use crate::clock::Clock;
use crate::event::cells::Places;
use crate::event::kinds::HasDistribution;
use crate::event::{Event, Events, cells_of};
use crate::histogram::Distribution;
use crate::ring::RingAndClock;

/// # Percentiles
///
/// A sliding-window latency histogram: for a [`Histogram`](crate::Kind::Histogram) event, each
/// bucket counts the values in each cell of the event's [`Scale`](crate::histogram::Scale).
/// Distributions of any buckets, windows and machines can be merged without a further error. There
/// is one wherever there are [stats](Self::stats): of a
/// [span](crate::snapshot::Over::totals), of each
/// [bucket](crate::snapshot::BucketSnapshot::distribution), drained or of a series too, since a
/// [moment](crate::snapshot::Moment::since), and over the
/// [lifetime](Self::lifetime_distribution).
///
/// Count, sum, minimum and maximum are exact; a percentile is right to the scale's
/// [error](crate::histogram::Scale::error_bound). Each cell's count has the promises that
/// [`stats`](Self::stats) makes. In each bucket the cells always add up to the count.
impl<E: Events, C: Clock> SlidingWindow<E, C> {
    /// Returns the distribution of a `Histogram` event's values over the interval, with the
    /// promises of [`sum`](Self::sum).
    ///
    /// Costs an epoch pin, some four loads for each cell of the scale and [open
    /// row](crate::diagnostics::strategy#rows), two for each bucket, and an allocation or two.
    /// After back-dated adds, a change of geometry or a late close: up to two loads for each bucket
    /// and cell.
    ///
    /// ```
    /// use windrow::{SlidingWindow, events};
    ///
    /// events! { enum Http { Rt: Histogram } }
    ///
    /// let window = SlidingWindow::<Http>::builder().build()?;
    /// (1..=1_000).for_each(|micros| window.record(Http::Rt, micros * 1_000));
    /// let now = window.distribution(Http::Rt);
    /// assert_eq!((now.count(), now.max()), (1_000, Some(1_000_000)));
    /// let error = now.scale().error_bound();
    /// let [half, most] = [0.5, 0.99].map(|q| now.quantile(q).unwrap());
    /// assert!(half.abs_diff(500_000) as f64 <= 500_000.0 * error + 0.5);
    /// assert!(most.abs_diff(990_000) as f64 <= 990_000.0 * error + 0.5);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    #[doc(alias = "count_above")]
    pub fn distribution<K: HasDistribution>(&self, event: Event<E, K>) -> Distribution {
        let Some(places) = cells_of(event).places() else { return Distribution::default() };
        self.distribution_at(places)
    }

    fn distribution_at(&self, places: Places) -> Distribution {
        self.ring.view(|| self.nanos(), |view| view.distribution_in(view.interval(), places))
    }

    /// Estimates the `q`-quantile of the interval's values, with `q` from 0 to 1: for 0.99 the 99th
    /// percentile.
    ///
    /// As [`Distribution::quantile`]: `None` if there is no value, or if `q` is not a number from 0
    /// to 1. Durations are nanoseconds: `.map(Duration::from_nanos)`. Costs the same as
    /// [`distribution`](Self::distribution): for several percentiles, take one, and ask it.
    ///
    /// ```
    /// # windrow::events! { enum Http { Rt: Histogram } }
    /// let window = windrow::SlidingWindow::<Http>::builder().build()?;
    /// assert_eq!(window.quantile(Http::Rt, 0.99), None);
    /// window.record(Http::Rt, 1_250_000);
    /// assert_eq!(window.quantile(Http::Rt, 0.99), Some(1_250_000));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    #[doc(alias = "percentile")]
    #[doc(alias = "quantile_duration")]
    pub fn quantile<K: HasDistribution>(&self, event: Event<E, K>, q: f64) -> Option<u64> {
        self.distribution(event).quantile(q)
    }

    /// Returns the distribution of all values that were ever recorded of a `Histogram` event: for
    /// exporters, whose counts must never go back. Each cell's count has the promises of
    /// [`lifetime`](Self::lifetime).
    ///
    /// Costs some four loads for each cell of the scale and open row, and an allocation or two.
    ///
    /// ```
    /// # windrow::events! { enum Http { Rt: Histogram } }
    /// let clock = windrow::clock::Manual::default();
    /// let window = windrow::SlidingWindow::<Http>::builder().clock(clock.clone()).build()?;
    /// window.record(Http::Rt, 2_000);
    /// clock.advance(std::time::Duration::from_secs(3_600));
    /// assert_eq!(window.distribution(Http::Rt).count(), 0);
    /// assert_eq!(window.lifetime_distribution(Http::Rt).count(), 1);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn lifetime_distribution<K: HasDistribution>(&self, event: Event<E, K>) -> Distribution {
        let places = cells_of(event).places();
        places.map_or_else(Distribution::default, |places| {
            let pairs = self.ring.lifetimes(places.cells());
            places.of_pairs(pairs, || self.lifetime_extremes(places), Distribution::default())
        })
    }
}
