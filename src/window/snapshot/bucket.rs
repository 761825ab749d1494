//! A copy of one bucket, as a snapshot has it.

use crate::event::cells::{EventCells, Places};
use crate::event::kinds::sealed::Number;
use crate::event::kinds::{EventKind, HasDistribution, HasSum};
use crate::event::snapshot_numbers::Kept;
use crate::event::{Event, Events, Positions, Stats, cells_of};
use crate::histogram::Distribution;
use crate::ring::{BucketData, View};
use crate::timestamp::Timestamp;

/// A copy of one bucket.
///
/// Two are equal if their starts, their ends, their [`is_closed`](Self::is_closed) and the stats
/// and distributions of each event are equal.
pub struct BucketSnapshot<E: Events> {
    pub(super) start: Timestamp,
    pub(super) end: Timestamp,
    pub(super) is_closed: bool,
    pub(super) numbers: Kept<E>,
}

impl<E: Events> BucketSnapshot<E> {
    /// Returns the bucket at `start`, without data.
    pub(super) fn empty(view: &View<'_>, start: u64) -> BucketSnapshot<E> {
        BucketSnapshot {
            start: Timestamp::from_nanos(start),
            end: Timestamp::from_nanos(start.saturating_add(view.geometry().length())),
            is_closed: view.is_past(start),
            numbers: Kept::ZERO,
        }
    }

    /// Returns a closed bucket with its numbers.
    pub(crate) fn final_at(
        start: u64,
        length: u64,
        number: impl FnMut(usize) -> u64,
    ) -> BucketSnapshot<E> {
        let numbers = Kept::of(number);
        let end = Timestamp::from_nanos(start.saturating_add(length));
        BucketSnapshot { start: Timestamp::from_nanos(start), end, is_closed: true, numbers }
    }

    /// Merges the data of a bucket into this copy, of one event or of all; `found` is scratch
    /// memory for wide cells.
    pub(super) fn merge(
        &mut self,
        view: &View<'_>,
        source: BucketData<'_>,
        only: Option<EventCells>,
        found: &mut Vec<(usize, u64)>,
    ) {
        let before = self.numbers.in_place();
        // First, because everything that is read of a bucket after it was closed is final.
        let is_closed = source.is_closed();
        found.clear();
        let wide = Kept::<E>::wide();
        let wide = match only.map(EventCells::places) {
            Some(places) if !wide.is_empty() => places.map_or(0..0, Places::cells),
            _ => wide,
        };
        view.each_number(source, wide, |at, number| found.push((at, number)));
        for (position, total) in self.numbers.others() {
            if only.is_none_or(|cells| cells.has(position)) {
                view.merge(source, position, total);
            }
        }
        // All of the data is merged, or none.
        if view.is_valid(source) {
            self.is_closed &= is_closed;
            self.numbers.add(found);
        } else {
            self.numbers.put_back(before);
        }
    }

    /// Returns the bucket before that of the view's time.
    pub(crate) fn previous(view: &View<'_>) -> BucketSnapshot<E> {
        let current = view.newest();
        match current.checked_sub(view.geometry().length()) {
            Some(start) => {
                let mut bucket = BucketSnapshot::empty(view, start);
                let mut found = Vec::new();
                view.each(start, start, |_, source| bucket.merge(view, source, None, &mut found));
                bucket
            }
            None => BucketSnapshot::default(),
        }
    }

    /// Returns the bucket's start, inclusive.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// # let clock = windrow::clock::Manual::default();
    /// clock.set(windrow::Timestamp::from_millis(1_700));
    /// # let window = windrow::SlidingWindow::<Hits>::builder().clock(clock).build()?;
    /// assert_eq!(window.previous().start(), windrow::Timestamp::from_millis(1_000));
    /// assert_eq!(window.previous().end(), windrow::Timestamp::from_millis(1_500));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn start(&self) -> Timestamp {
        self.start
    }

    /// Returns the next bucket's start; for the bucket that contains the end of time, 2^64 - 1 ns.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// let window = windrow::SlidingWindow::<Hits>::builder().build()?;
    /// let bucket = window.previous();
    /// assert!(bucket.end() >= bucket.start());
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn end(&self) -> Timestamp {
        self.end
    }

    /// Returns the sum of an event.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// let window = windrow::SlidingWindow::<Hits>::builder().build()?;
    /// assert_eq!(window.previous().sum(Hits::Hit), 0);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn sum<K: HasSum>(&self, event: Event<E, K>) -> K::Number {
        K::Number::of(self.stats(event).sum)
    }

    /// Returns count, sum, minimum and maximum of an event.
    ///
    /// ```
    /// # windrow::events! { enum Disk { Latency: Value } }
    /// let window = windrow::SlidingWindow::<Disk>::builder().build()?;
    /// window.record(Disk::Latency, 40);
    /// let snapshot = window.snapshot();
    /// let newest = snapshot.buckets().last().unwrap();
    /// assert_eq!(newest.stats(Disk::Latency).min, Some(40));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn stats<K: EventKind>(&self, event: Event<E, K>) -> Stats {
        self.stats_at(cells_of(event))
    }

    /// The stats of the event with these cells.
    pub(super) fn stats_at(&self, cells: EventCells) -> Stats {
        self.numbers.stats(cells)
    }

    /// Returns the distribution of a `Histogram` event's values:
    /// [percentiles](crate::SlidingWindow#percentiles). Allocates once.
    ///
    /// ```
    /// # windrow::events! { enum Http { Rt: Histogram } }
    /// let window = windrow::SlidingWindow::<Http>::builder().build()?;
    /// window.record(Http::Rt, 7_000);
    /// let snapshot = window.snapshot();
    /// let newest = snapshot.buckets().last().unwrap();
    /// assert_eq!(newest.distribution(Http::Rt).quantile(0.99), Some(7_000));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn distribution<K: HasDistribution>(&self, event: Event<E, K>) -> Distribution {
        self.distribution_at(cells_of(event))
    }

    /// The distribution of the event with these cells.
    pub(super) fn distribution_at(&self, cells: EventCells) -> Distribution {
        let mut distribution = Distribution::default();
        self.refill_distribution(cells, &mut distribution);
        distribution
    }

    pub(super) fn all_distributions(&self) -> impl Iterator<Item = Distribution> {
        let events = <E::Cells as Positions<E>>::CELLS.iter();
        events.filter_map(|cells| cells.places().map(|_| self.distribution_at(*cells)))
    }

    /// Each event's stats, in the order of their indexes.
    pub(super) fn all_stats(&self) -> impl Iterator<Item = Stats> {
        <E::Cells as Positions<E>>::CELLS.iter().map(|cells| self.stats_at(*cells))
    }

    /// Returns whether the bucket was final: only a back-dated add, whose timestamp is older than
    /// the newest bucket, can still change it. The live bucket never is.
    ///
    /// The thread that opens the next bucket closes this one. Without restartable sequences, if
    /// that thread finds another one in the middle of an add, the bucket is closed later: when
    /// every thread that was in an add (by [epochs](crate::diagnostics::Strategy::Epochs): or
    /// pinned) has finished it, and a thread opens another bucket.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// let window = windrow::SlidingWindow::<Hits>::builder().build()?;
    /// window.add(Hits::Hit, 1);
    /// let snapshot = window.snapshot();
    /// assert!(!snapshot.buckets().last().unwrap().is_closed());
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }
}

impl<E: Events> Clone for BucketSnapshot<E> {
    fn clone(&self) -> BucketSnapshot<E> {
        BucketSnapshot { numbers: self.numbers.clone(), ..*self }
    }
}
