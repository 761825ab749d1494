//! Time series: the tiers of a window, bucket by bucket.

use super::SlidingWindow;
use crate::clock::Clock;
use crate::event::Events;
use crate::ring::RingAndClock;
use crate::window::snapshot::Snapshot;

/// # Tiers
impl<E: Events, C: Clock> SlidingWindow<E, C> {
    /// Returns the buckets of a tier, as [`snapshot`](Self::snapshot) gives those of the window:
    /// the first tier that the builder was given is number 0. `None` if there is no such tier.
    ///
    /// Each number is exact for its bucket, as [`sum`](Self::sum) is for the interval. The newest
    /// bucket, to which adds still go, is the one of the clock's time. If the clock has stepped
    /// back within it, it has the adds of later times too; buckets behind it are left out. Where
    /// the tier has [missed](crate::guide::design::windows#tiers) a boundary, the bucket before it
    /// holds the numbers of both; if that one has left the tier, no bucket does.
    ///
    /// Costs the allocations of a `snapshot`, an epoch pin, a load for each [open
    /// row](crate::diagnostics::strategy#rows) and a load or two for each bucket and cell.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// # use std::time::Duration;
    /// # let clock = windrow::clock::Manual::default();
    /// let window = windrow::SlidingWindow::<Hits>::builder()
    ///     .interval(Duration::from_secs(1))
    ///     .buckets(10)
    ///     .tier(Duration::from_secs(1), 60)
    ///     .clock(clock.clone())
    ///     .build()?;
    /// for _ in 0..30 {
    ///     window.add(Hits::Hit, 1);
    ///     clock.advance(Duration::from_millis(100));
    /// }
    /// let series = window.series(0).unwrap();
    /// let seconds = series.buckets().iter().map(|bucket| bucket.sum(Hits::Hit));
    /// let seconds: Vec<u64> = seconds.collect();
    /// assert_eq!(seconds, [10, 10, 10, 0]);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn series(&self, tier: usize) -> Option<Snapshot<E>> {
        loop {
            let (series, is_whole) = self.ring.view_then(
                || self.nanos(),
                |view| Snapshot::newest_of_tier(view, tier),
                |view, newest| {
                    let series =
                        newest.map(|(series, before)| series.with_older(view, tier, before));
                    (series, view.has_present_generation())
                },
            );
            if is_whole {
                return series;
            }
        }
    }
}
