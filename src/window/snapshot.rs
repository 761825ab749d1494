//! Snapshots: copies of a window's buckets.

use std::time::Duration;

use crate::event::cells::EventCells;
use crate::event::{Events, Positions, Stats};
use crate::ring::{Span, View};
use crate::timestamp::Timestamp;
use crate::window::totals::Totals;

mod bucket;
mod buffer;
mod compare;
mod merge;
#[cfg(feature = "serde")]
mod serde;
mod show;
mod tier;

pub use bucket::BucketSnapshot;

/// A copy of a window's buckets: from [`SlidingWindow::snapshot`] and [`SlidingWindow::series`].
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
/// [`SlidingWindow::series`]: crate::SlidingWindow::series
pub struct Snapshot<E: Events> {
    pub(crate) at: Timestamp,
    pub(crate) interval: Duration,
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

    /// Returns the totals of all buckets, with the time at which the snapshot was taken and the
    /// span that its buckets cover.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// let window = windrow::SlidingWindow::<Hits>::builder().build()?;
    /// window.add(Hits::Hit, 5);
    /// let all = window.snapshot().totals();
    /// assert_eq!((all.sum(Hits::Hit), all.interval()), (5, window.interval()));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn totals(&self) -> Totals<E> {
        let mut cells = <E::Cells as Positions<E>>::ZERO;
        for bucket in &self.buckets {
            bucket.numbers.join_into(cells.as_mut());
        }
        let end = self.buckets.last().map_or(self.at, |newest| newest.end);
        Totals::over(self.at, end, self.interval, cells)
    }

    /// The stats of the event with these cells.
    pub(crate) fn stats_at(&self, cells: EventCells) -> Stats {
        self.buckets.iter().map(|bucket| bucket.stats_at(cells)).sum()
    }
}

impl<E: Events> Clone for Snapshot<E> {
    fn clone(&self) -> Snapshot<E> {
        Snapshot { buckets: self.buckets.clone(), ..*self }
    }
}
