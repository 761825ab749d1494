//! Totals and snapshots of a window, without the type of its events.

use std::rc::Rc;
use std::time::Duration;

use crate::clock::Clock;
use crate::event::{Event, Events, Stats, kinds};
use crate::histogram::Distribution;
use crate::timestamp::Timestamp;
use crate::window::{BucketSnapshot, SlidingWindow, Snapshot, Totals};

/// The numbers of a window over a span of time, event by event.
///
/// Events are given by their position in [`AnyWindow::events`](super::AnyWindow::events).
#[derive(Clone)]
#[non_exhaustive]
pub struct AnySpan<'w> {
    /// The beginning of the span.
    pub start: Timestamp,
    /// The end of the span, exclusive.
    pub end: Timestamp,
    /// The length of the span.
    pub interval: Duration,
    numbers: Rc<dyn Numbers + 'w>,
    /// The bucket of the numbers, if they are those of several.
    bucket: usize,
}

impl AnySpan<'_> {
    /// Returns count, sum, minimum and maximum of an event.
    ///
    /// # Panics
    ///
    /// Panics if the window has no event at this position.
    #[inline]
    pub fn stats(&self, event: usize) -> Stats {
        self.numbers.stats(self.bucket, event)
    }

    /// Returns the distribution of a `Histogram` event, and `None` for an event of another kind.
    ///
    /// # Panics
    ///
    /// Panics if the window has no event at this position.
    #[inline]
    pub fn distribution(&self, event: usize) -> Option<Distribution> {
        self.numbers.distribution(self.bucket, event)
    }
}

/// The buckets of a window at one moment.
#[derive(Clone)]
#[non_exhaustive]
pub struct AnySnapshot {
    /// The time at which the snapshot was taken.
    pub at: Timestamp,
    /// The span that the buckets cover.
    pub interval: Duration,
    /// The buckets, the oldest first. The last one has not ended yet.
    pub buckets: Vec<AnySpan<'static>>,
}

/// The numbers of one span, or of several buckets.
trait Numbers {
    fn stats(&self, bucket: usize, event: usize) -> Stats;
    fn distribution(&self, bucket: usize, event: usize) -> Option<Distribution>;
}

/// Returns the event of a set at a position, if it is a histogram.
pub(super) fn histogram<E: Events>(event: usize) -> Option<Event<E, kinds::Histogram>> {
    Event::<E>::at(event).histogram()
}

/// The all-time totals of a window.
struct Lifetime<'w, E: Events, C>(&'w SlidingWindow<E, C>);

impl<E: Events, C: Clock> Numbers for Lifetime<'_, E, C> {
    fn stats(&self, _: usize, event: usize) -> Stats {
        self.0.lifetime(Event::<E>::at(event))
    }

    fn distribution(&self, _: usize, event: usize) -> Option<Distribution> {
        histogram(event).map(|event| self.0.lifetime_distribution(event))
    }
}

impl<'w, E: Events, C: Clock> From<&'w SlidingWindow<E, C>> for AnySpan<'w> {
    fn from(window: &'w SlidingWindow<E, C>) -> AnySpan<'w> {
        let (start, end) = (window.built(), window.clock().now());
        AnySpan { start, end, interval: end - start, numbers: Rc::new(Lifetime(window)), bucket: 0 }
    }
}

impl<E: Events> Numbers for Totals<E> {
    fn stats(&self, _: usize, event: usize) -> Stats {
        Totals::stats(self, Event::<E>::at(event))
    }

    fn distribution(&self, _: usize, event: usize) -> Option<Distribution> {
        histogram(event).map(|event| Totals::distribution(self, event))
    }
}

impl<E: Events> From<Totals<E>> for AnySpan<'static> {
    fn from(totals: Totals<E>) -> AnySpan<'static> {
        let (end, interval) = (totals.end(), totals.interval());
        AnySpan { start: end - interval, end, interval, numbers: Rc::new(totals), bucket: 0 }
    }
}

impl<E: Events> Numbers for &BucketSnapshot<E> {
    fn stats(&self, _: usize, event: usize) -> Stats {
        BucketSnapshot::stats(self, Event::<E>::at(event))
    }

    fn distribution(&self, _: usize, event: usize) -> Option<Distribution> {
        histogram(event).map(|event| BucketSnapshot::distribution(self, event))
    }
}

impl<'b, E: Events> From<&'b BucketSnapshot<E>> for AnySpan<'b> {
    fn from(bucket: &'b BucketSnapshot<E>) -> AnySpan<'b> {
        let (start, end) = (bucket.start(), bucket.end());
        AnySpan { start, end, interval: end - start, numbers: Rc::new(bucket), bucket: 0 }
    }
}

impl<E: Events> Numbers for Snapshot<E> {
    fn stats(&self, bucket: usize, event: usize) -> Stats {
        self.buckets()[bucket].stats(Event::<E>::at(event))
    }

    fn distribution(&self, bucket: usize, event: usize) -> Option<Distribution> {
        histogram(event).map(|event| self.buckets()[bucket].distribution(event))
    }
}

impl<E: Events> From<Snapshot<E>> for AnySnapshot {
    fn from(snapshot: Snapshot<E>) -> AnySnapshot {
        let (at, interval, snapshot) = (snapshot.at, snapshot.interval, Rc::new(snapshot));
        let of_bucket = |(bucket, times): (usize, &BucketSnapshot<E>)| {
            let (start, end) = (times.start(), times.end());
            let numbers = Rc::clone(&snapshot);
            AnySpan { start, end, interval: end - start, numbers, bucket }
        };
        let buckets = snapshot.buckets().iter().enumerate().map(of_bucket).collect();
        AnySnapshot { at, interval, buckets }
    }
}
