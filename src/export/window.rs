//! A window without the type of its events.

use std::time::{Duration, SystemTime};

use super::span::{AnySnapshot, AnySpan, Sealed, histogram};
use crate::arena::by_row::ByRow;
use crate::clock::Clock;
use crate::event::{Event, Events, Kind, Stats};
use crate::exemplar::Exemplar;
use crate::histogram::Distribution;
use crate::timestamp::Timestamp;
use crate::window::{BucketSnapshot, SlidingWindow};

/// A [`SlidingWindow`] whose set of events is known at run time only.
///
/// Each method corresponds to one of the window, with the event given by its position in
/// [`events`](Self::events). The trait is sealed.
///
/// ```
/// use windrow::export::AnyWindow;
/// use windrow::{SlidingWindow, events};
///
/// events! { enum Http { Pass: Count, Rt: Histogram } }
///
/// let window = SlidingWindow::<Http>::builder().build()?;
/// window.add(Http::Pass, 3);
/// let erased: &dyn AnyWindow = &window;
/// let names = erased.events().iter().map(|(name, _)| *name);
/// let shown: Vec<String> = names
///     .enumerate()
///     .map(|(event, name)| format!("{name}: {}", erased.lifetime(event).count))
///     .collect();
/// assert_eq!(shown, ["Pass: 3", "Rt: 0"]);
/// # Ok::<(), windrow::BuildError>(())
/// ```
///
/// # Panics
///
/// All methods that take an event panic if the window has no event at that position.
pub trait AnyWindow: Sealed + Send + Sync {
    /// Returns the names and kinds of the events, in the order of their positions.
    fn events(&self) -> &'static [(&'static str, Kind)];

    /// Returns the units of the events' values: see [`Events::UNITS`].
    fn units(&self) -> &'static [&'static str];

    /// Returns the span that the window covers.
    fn interval(&self) -> Duration;

    /// Returns the number of buckets.
    fn buckets(&self) -> usize;

    /// Returns the length of a bucket.
    fn bucket_length(&self) -> Duration;

    /// Returns the time at which the window was built, by its clock.
    fn built(&self) -> Timestamp;

    /// Returns the clock's time.
    fn now(&self) -> Timestamp;

    /// Converts a time of the window's clock to a time of the system's clock.
    fn system_time(&self, at: Timestamp) -> SystemTime;

    /// Returns the all-time total of an event.
    fn lifetime(&self, event: usize) -> Stats;

    /// Returns the count of that total; of a `Maximum` or `Minimum` event, 0. For a `Histogram`
    /// event it costs less than the total.
    fn lifetime_count(&self, event: usize) -> u64;

    /// Returns the all-time distribution of a `Histogram` event, and `None` for any other.
    fn lifetime_distribution(&self, event: usize) -> Option<Distribution>;

    /// Returns the exemplars of a `Histogram` event; none of any other.
    fn exemplars(&self, event: usize) -> Vec<Exemplar>;

    /// Returns the late adds of an event.
    fn late(&self, event: usize) -> Stats;

    /// Returns the totals of the interval.
    fn totals(&self) -> Box<dyn AnySpan>;

    /// Returns the totals of the closed buckets of the interval.
    ///
    /// Their [interval](AnySpan::interval) is zero if the window has only one bucket. `None` if the
    /// geometry is just being changed.
    fn complete(&self) -> Option<Box<dyn AnySpan>>;

    /// Returns the buckets of the interval, or those of a tier; `None` if there is no such tier.
    fn snapshot(&self, tier: Option<usize>) -> Option<Box<dyn AnySnapshot>>;

    /// Returns the buckets of the interval with the numbers of one event: those of all other events
    /// are zero. Costs less than a [`snapshot`](Self::snapshot) of all.
    fn snapshot_of(&self, event: usize) -> Box<dyn AnySnapshot>;

    /// Returns the sum of an event in each row.
    fn by_row(&self, event: usize) -> ByRow;

    /// Closes the newest bucket if its time is over.
    fn close_past(&self);

    /// Calls `each` with every closed bucket that was not drained yet. Returns their number.
    fn drain_closed(&self, each: &mut dyn FnMut(&dyn AnySpan)) -> usize;
}

impl<E: Events, C: Clock> Sealed for SlidingWindow<E, C> {}

impl<E: Events, C: Clock + Send + Sync + 'static> AnyWindow for SlidingWindow<E, C> {
    fn events(&self) -> &'static [(&'static str, Kind)] {
        E::EVENTS
    }

    fn units(&self) -> &'static [&'static str] {
        E::UNITS
    }

    fn interval(&self) -> Duration {
        SlidingWindow::interval(self)
    }

    fn buckets(&self) -> usize {
        SlidingWindow::buckets(self)
    }

    fn bucket_length(&self) -> Duration {
        SlidingWindow::bucket_length(self)
    }

    fn built(&self) -> Timestamp {
        SlidingWindow::built(self)
    }

    fn now(&self) -> Timestamp {
        self.clock().now()
    }

    fn system_time(&self, at: Timestamp) -> SystemTime {
        SlidingWindow::system_time(self, at)
    }

    fn lifetime(&self, event: usize) -> Stats {
        SlidingWindow::lifetime(self, Event::<E>::at(event))
    }

    fn lifetime_count(&self, event: usize) -> u64 {
        SlidingWindow::lifetime_count(self, Event::<E>::at(event))
    }

    fn lifetime_distribution(&self, event: usize) -> Option<Distribution> {
        histogram(event).map(|event| SlidingWindow::lifetime_distribution(self, event))
    }

    fn exemplars(&self, event: usize) -> Vec<Exemplar> {
        let event = histogram(event);
        event.map_or_else(Vec::new, |event| SlidingWindow::exemplars(self, event))
    }

    fn late(&self, event: usize) -> Stats {
        SlidingWindow::late(self, Event::<E>::at(event))
    }

    fn totals(&self) -> Box<dyn AnySpan> {
        Box::new(SlidingWindow::totals(self))
    }

    fn complete(&self) -> Option<Box<dyn AnySpan>> {
        // An error here means that the geometry has just changed to a shorter interval.
        let window = self.over(SlidingWindow::interval(self)).ok()?;
        Some(Box::new(window.complete()))
    }

    fn snapshot(&self, tier: Option<usize>) -> Option<Box<dyn AnySnapshot>> {
        let snapshot = match tier {
            None => SlidingWindow::snapshot(self),
            Some(tier) => self.series(tier)?,
        };
        Some(Box::new(snapshot))
    }

    fn snapshot_of(&self, event: usize) -> Box<dyn AnySnapshot> {
        Box::new(SlidingWindow::snapshot_of(self, Event::<E>::at(event)))
    }

    fn by_row(&self, event: usize) -> ByRow {
        SlidingWindow::by_row(self, Event::<E>::at(event))
    }

    fn close_past(&self) {
        SlidingWindow::close_past(self);
    }

    fn drain_closed(&self, each: &mut dyn FnMut(&dyn AnySpan)) -> usize {
        let (mut bucket, mut count) = (BucketSnapshot::default(), 0);
        while self.drain_next(&mut bucket) {
            each(&bucket);
            count += 1;
        }
        count
    }
}
