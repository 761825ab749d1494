//! Snapshots: copies of a window's buckets.

use std::slice;
use std::time::Duration;

use crate::event::cells::EventCells;
use crate::event::kinds::sealed::Number;
use crate::event::kinds::{EventKind, HasDistribution, HasSum};
use crate::event::{Event, Events, Stats, cells_of, number_of};
use crate::histogram::Distribution;
use crate::ring::{Span, View};
use crate::timestamp::Timestamp;
use crate::window::rate::per_second;

mod bucket;
mod buffer;
mod compare;
mod merge;
#[cfg(feature = "serde")]
mod serde;
mod show;
mod tier;

pub use bucket::BucketSnapshot;

/// A copy of a window's buckets: from [`SlidingWindow::snapshot`] and [`SlidingWindow::last`].
///
/// It is *not* an atomic snapshot: each bucket was read at some moment during the call.
///
/// A running total of *complete* buckets is the sum over all but the newest:
///
/// ```
/// use std::time::Duration;
/// use windrow::{SlidingWindow, clock::Manual, events};
///
/// events! { enum Hits { Hit: Count } }
///
/// let clock = Manual::default();
/// let window = SlidingWindow::<Hits>::builder()
///     .interval(Duration::from_secs(3))
///     .buckets(3)
///     .clock(clock.clone())
///     .build()?;
/// for second in 1..=4 {
///     window.add(Hits::Hit, second);
///     clock.advance(Duration::from_secs(1));
/// }
/// let snapshot = window.snapshot();
/// let held: Vec<u64> = snapshot.buckets().iter().map(|bucket| bucket.sum(Hits::Hit)).collect();
/// assert_eq!(held, [3, 4, 0]); // the newest has only just begun
/// let (_, complete) = snapshot.buckets().split_last().unwrap();
/// assert_eq!(complete.iter().map(|bucket| bucket.sum(Hits::Hit)).sum::<u64>(), 7);
/// # Ok::<(), windrow::BuildError>(())
/// ```
///
/// Two snapshots are equal if they are of the same time and interval, and hold equal buckets.
///
/// [`SlidingWindow::snapshot`]: crate::SlidingWindow::snapshot
/// [`SlidingWindow::last`]: crate::SlidingWindow::last
pub struct Snapshot<E: Events> {
    at: Timestamp,
    interval: Duration,
    /// A bucket's length.
    length: Duration,
    buckets: Vec<BucketSnapshot<E>>,
}

impl<E: Events> Snapshot<E> {
    /// Copies the buckets of a span of the view's.
    pub(crate) fn of(view: &View<'_>, span: Span<'_>) -> Snapshot<E> {
        Snapshot::of_events(view, span, None)
    }

    /// Copies the numbers of one event in the buckets of a span of the view's, or of all events.
    pub(crate) fn of_events(
        view: &View<'_>,
        span: Span<'_>,
        only: Option<EventCells>,
    ) -> Snapshot<E> {
        let mut buckets = Vec::new();
        if let Some((oldest, newest)) = span.starts() {
            let length = span.length();
            let starts = (0..=(newest - oldest) / length).map(|index| oldest + index * length);
            buckets.extend(starts.map(|start| BucketSnapshot::empty(view, start)));
            let mut found = Vec::new();
            view.each(oldest, newest, |start, source| {
                let bucket = &mut buckets[((start - oldest) / length) as usize];
                bucket.merge(view, source, only, &mut found);
            });
        }
        let interval = Duration::from_nanos(span.covers());
        let length = Duration::from_nanos(span.length());
        Snapshot { at: Timestamp::from_nanos(view.now()), interval, length, buckets }
    }

    /// Returns the time at which it was taken.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// # let clock = windrow::clock::Manual::default();
    /// clock.set(windrow::Timestamp::from_millis(1_700));
    /// # let window = windrow::SlidingWindow::<Hits>::builder().clock(clock).build()?;
    /// assert_eq!(window.snapshot().at().as_nanos(), 1_700_000_000);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn at(&self) -> Timestamp {
        self.at
    }

    /// Returns the span that the snapshot's buckets cover: the window's interval or, for a snapshot
    /// from [`last`](crate::SlidingWindow::last), its argument rounded up to whole buckets.
    ///
    /// ```
    /// use std::time::Duration;
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// let window = windrow::SlidingWindow::<Hits>::builder().build()?; // 1 s, 2 buckets
    /// let half = window.last(Duration::from_millis(100)).unwrap();
    /// assert_eq!(half.interval(), Duration::from_millis(500));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn interval(&self) -> Duration {
        self.interval
    }

    /// Returns the buckets, oldest first, gaps filled with zeros. Buckets that would begin before
    /// time zero are left out.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// # let clock = windrow::clock::Manual::default();
    /// # let window = windrow::SlidingWindow::<Hits>::builder().clock(clock.clone()).build()?;
    /// assert_eq!(window.snapshot().buckets().len(), 1); // it is time zero
    /// clock.set(windrow::Timestamp::from_millis(60_000));
    /// assert_eq!(window.snapshot().buckets().len(), 2);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn buckets(&self) -> &[BucketSnapshot<E>] {
        &self.buckets
    }

    /// Returns the [`buckets`](Self::buckets), one by one, oldest first, as
    /// `for bucket in &snapshot` does.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// let window = windrow::SlidingWindow::<Hits>::builder().build()?;
    /// window.add(Hits::Hit, 2);
    /// let snapshot = window.snapshot();
    /// assert_eq!(snapshot.iter().map(|bucket| bucket.sum(Hits::Hit)).max(), Some(2));
    /// for bucket in &snapshot {
    ///     println!("{}: {}", bucket.start(), bucket.sum(Hits::Hit));
    /// }
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn iter(&self) -> slice::Iter<'_, BucketSnapshot<E>> {
        self.buckets.iter()
    }

    /// Returns whether all buckets are empty: the count of each event is zero, and no `Maximum` or
    /// `Minimum` has a value.
    ///
    /// It is *not* about the number of buckets, which is never zero.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// let window = windrow::SlidingWindow::<Hits>::builder().build()?;
    /// assert!(window.snapshot().is_empty());
    /// window.add(Hits::Hit, 1);
    /// assert!(!window.snapshot().is_empty());
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.buckets.iter().all(BucketSnapshot::is_empty)
    }

    /// Returns the sum of an event over all buckets, wrapping.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// let window = windrow::SlidingWindow::<Hits>::builder().build()?;
    /// assert_eq!(window.snapshot().sum(Hits::Hit), 0);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn sum<K: HasSum>(&self, event: Event<E, K>) -> K::Number {
        K::Number::of(self.stats(event).sum)
    }

    /// Returns the adds to a `Count` event per second of the interval; the records per second of a
    /// `Value` event. It has the error of [`SlidingWindow::rate`](crate::SlidingWindow::rate).
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// let window = windrow::SlidingWindow::<Hits>::builder().build()?;
    /// assert_eq!(window.snapshot().rate(Hits::Hit), 0.0);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn rate<K: HasSum>(&self, event: Event<E, K>) -> f64 {
        per_second(number_of(event, self.stats(event).count), self.interval.as_nanos() as u64)
    }

    /// Returns count, sum, minimum and maximum of an event over all buckets.
    ///
    /// ```
    /// # windrow::events! { enum Disk { Latency: Value } }
    /// let window = windrow::SlidingWindow::<Disk>::builder().build()?;
    /// assert_eq!(window.snapshot().stats(Disk::Latency).max, None);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn stats<K: EventKind>(&self, event: Event<E, K>) -> Stats {
        self.stats_at(cells_of(event))
    }

    /// The stats of the event with these cells.
    fn stats_at(&self, cells: EventCells) -> Stats {
        self.buckets.iter().map(|bucket| bucket.stats_at(cells)).sum()
    }

    /// Returns the distribution of a `Histogram` event's values over all buckets:
    /// [percentiles](crate::SlidingWindow#percentiles). Allocates.
    ///
    /// ```
    /// # windrow::events! { enum Http { Rt: Histogram } }
    /// let window = windrow::SlidingWindow::<Http>::builder().build()?;
    /// window.record(Http::Rt, 7_000);
    /// assert_eq!(window.snapshot().distribution(Http::Rt).quantile(0.99), Some(7_000));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn distribution<K: HasDistribution>(&self, event: Event<E, K>) -> Distribution {
        let mut all = Distribution::default();
        for bucket in &self.buckets {
            let _ = all.merge(&bucket.distribution(event)); // not refused: the scale is the same
        }
        all
    }
}

impl<E: Events> Clone for Snapshot<E> {
    fn clone(&self) -> Snapshot<E> {
        Snapshot { buckets: self.buckets.clone(), ..*self }
    }
}

impl<'a, E: Events> IntoIterator for &'a Snapshot<E> {
    type Item = &'a BucketSnapshot<E>;
    type IntoIter = slice::Iter<'a, BucketSnapshot<E>>;

    fn into_iter(self) -> slice::Iter<'a, BucketSnapshot<E>> {
        self.iter()
    }
}
