//! Totals and snapshots of a window, without the type of its events.

use std::time::Duration;

use crate::event::{Event, Events, Stats, cells_of, kinds};
use crate::histogram::Distribution;
use crate::timestamp::Timestamp;
use crate::window::{BucketSnapshot, Snapshot, Totals};

/// The totals of a window over a span of time, event by event.
///
/// Events are given by their position in [`AnyWindow::events`](super::AnyWindow::events). Only the
/// library's types implement it.
pub trait AnySpan: Sealed {
    /// Returns the beginning of the span.
    fn start(&self) -> Timestamp;

    /// Returns the end of the span, exclusive.
    fn end(&self) -> Timestamp;

    /// Returns the length of the span.
    fn interval(&self) -> Duration;

    /// Returns count, sum, minimum and maximum of an event.
    ///
    /// # Panics
    ///
    /// Panics if the window has no event at this position.
    fn stats(&self, event: usize) -> Stats;

    /// Returns the distribution of a `Histogram` event, and `None` for an event of another kind.
    ///
    /// # Panics
    ///
    /// Panics if the window has no event at this position.
    fn distribution(&self, event: usize) -> Option<Distribution>;
}

/// Implemented only here.
pub trait Sealed {}

impl<E: Events> Sealed for Totals<E> {}
impl<E: Events> Sealed for BucketSnapshot<E> {}
impl<E: Events> Sealed for Snapshot<E> {}

/// Returns the event of a set at a position, if it is a histogram.
pub(super) fn histogram<E: Events>(event: usize) -> Option<Event<E, kinds::Histogram>> {
    Event::<E>::at(event).downcast()
}

impl<E: Events> AnySpan for Totals<E> {
    fn start(&self) -> Timestamp {
        Totals::end(self) - Totals::interval(self)
    }

    fn end(&self) -> Timestamp {
        Totals::end(self)
    }

    fn interval(&self) -> Duration {
        Totals::interval(self)
    }

    fn stats(&self, event: usize) -> Stats {
        Totals::stats(self, Event::<E>::at(event))
    }

    fn distribution(&self, event: usize) -> Option<Distribution> {
        histogram(event).map(|event| Totals::distribution(self, event))
    }
}

impl<E: Events> AnySpan for BucketSnapshot<E> {
    fn start(&self) -> Timestamp {
        BucketSnapshot::start(self)
    }

    fn end(&self) -> Timestamp {
        BucketSnapshot::end(self)
    }

    fn interval(&self) -> Duration {
        BucketSnapshot::end(self) - BucketSnapshot::start(self)
    }

    fn stats(&self, event: usize) -> Stats {
        BucketSnapshot::stats(self, Event::<E>::at(event))
    }

    fn distribution(&self, event: usize) -> Option<Distribution> {
        histogram(event).map(|event| BucketSnapshot::distribution(self, event))
    }
}

/// The buckets of a window at one moment, the oldest first. Only the library's types implement it.
pub trait AnySnapshot: Sealed {
    /// Returns the time at which the snapshot was taken.
    fn at(&self) -> Timestamp;

    /// Returns the span that the buckets cover.
    fn interval(&self) -> Duration;

    /// Returns the number of buckets.
    fn len(&self) -> usize;

    /// Returns whether there is no bucket.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a bucket by its position. The last one has not ended yet.
    ///
    /// # Panics
    ///
    /// Panics if `bucket` is not less than [`len`](Self::len).
    fn bucket(&self, bucket: usize) -> &dyn AnySpan;

    /// Returns count, sum, minimum and maximum of an event over all buckets.
    ///
    /// # Panics
    ///
    /// Panics if the window has no event at this position.
    fn stats(&self, event: usize) -> Stats;
}

impl<E: Events> AnySnapshot for Snapshot<E> {
    fn at(&self) -> Timestamp {
        self.at
    }

    fn interval(&self) -> Duration {
        self.interval
    }

    fn len(&self) -> usize {
        self.buckets().len()
    }

    fn bucket(&self, bucket: usize) -> &dyn AnySpan {
        &self.buckets()[bucket]
    }

    fn stats(&self, event: usize) -> Stats {
        self.stats_at(cells_of(Event::<E>::at(event)))
    }
}
