//! A window without the type of its events.

use std::time::{Duration, SystemTime};

use super::span::{AnySnapshot, AnySpan, histogram};
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
///     .map(|(event, name)| format!("{name}: {}", erased.lifetime().stats(event).count))
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

    /// Returns the span that the window covers.
    fn interval(&self) -> Duration;

    /// Returns the length of a bucket.
    fn bucket_length(&self) -> Duration;

    /// Converts a time of the window's clock to a time of the system's clock.
    fn system_time(&self, at: Timestamp) -> SystemTime;

    /// Returns the all-time totals, from the time at which the window was built until now. They are
    /// read when they are asked for.
    #[doc(alias = "built")]
    #[doc(alias = "now")]
    fn lifetime(&self) -> AnySpan<'_>;

    /// Returns the count of an event's all-time total; of a `Maximum` or `Minimum` event, 0. For a
    /// `Histogram` event it costs less than the total.
    fn lifetime_count(&self, event: usize) -> u64;

    /// Returns the exemplars of a `Histogram` event; none of any other.
    fn exemplars(&self, event: usize) -> Vec<Exemplar>;

    /// Returns the late adds of an event.
    fn late(&self, event: usize) -> Stats;

    /// Returns the totals of the interval.
    fn totals(&self) -> AnySpan<'static>;

    /// Returns the totals of the closed buckets of the interval.
    ///
    /// Their [interval](AnySpan::interval) is zero if the window has only one bucket. `None` if the
    /// geometry is just being changed.
    fn complete(&self) -> Option<AnySpan<'static>>;

    /// Returns the buckets of the interval, or those of a tier; `None` if there is no such tier.
    fn snapshot(&self, tier: Option<usize>) -> Option<AnySnapshot>;

    /// Returns the buckets of the interval with the numbers of one event: those of all other events
    /// are zero. Costs less than a [`snapshot`](Self::snapshot) of all.
    fn snapshot_of(&self, event: usize) -> AnySnapshot;

    /// Returns the sum of an event in each row.
    fn by_row(&self, event: usize) -> ByRow;

    /// Closes the newest bucket if its time is over, then calls `each` with every closed bucket
    /// that was not drained yet. Returns their number.
    fn drain_closed(&self, each: &mut dyn FnMut(&AnySpan<'_>)) -> usize;
}

/// Implemented only here.
pub trait Sealed {
    /// Returns the units of the events' values: see [`Events::UNITS`]. For
    /// [`Form`](super::Form), which has them.
    fn units(&self) -> &'static [&'static str];

    /// Returns the all-time stats of an event, without a reading of the clock, which may panic.
    fn lifetime_stats(&self, event: usize) -> Stats;

    /// Returns the all-time distribution of an event that has one, without a reading of the clock.
    fn lifetime_values(&self, event: usize) -> Option<Distribution>;
}

impl<E: Events, C: Clock> Sealed for SlidingWindow<E, C> {
    fn units(&self) -> &'static [&'static str] {
        E::UNITS
    }

    fn lifetime_stats(&self, event: usize) -> Stats {
        self.lifetime(Event::<E>::at(event))
    }

    fn lifetime_values(&self, event: usize) -> Option<Distribution> {
        histogram(event).map(|event| self.lifetime_distribution(event))
    }
}

impl<E: Events, C: Clock + Send + Sync + 'static> AnyWindow for SlidingWindow<E, C> {
    fn events(&self) -> &'static [(&'static str, Kind)] {
        E::EVENTS
    }

    fn interval(&self) -> Duration {
        SlidingWindow::interval(self)
    }

    fn bucket_length(&self) -> Duration {
        SlidingWindow::bucket_length(self)
    }

    fn system_time(&self, at: Timestamp) -> SystemTime {
        SlidingWindow::system_time(self, at)
    }

    fn lifetime(&self) -> AnySpan<'_> {
        self.into()
    }

    fn lifetime_count(&self, event: usize) -> u64 {
        SlidingWindow::lifetime_count(self, Event::<E>::at(event))
    }

    fn exemplars(&self, event: usize) -> Vec<Exemplar> {
        let event = histogram(event);
        event.map_or_else(Vec::new, |event| SlidingWindow::exemplars(self, event))
    }

    fn late(&self, event: usize) -> Stats {
        SlidingWindow::late(self, Event::<E>::at(event))
    }

    fn totals(&self) -> AnySpan<'static> {
        SlidingWindow::totals(self).into()
    }

    fn complete(&self) -> Option<AnySpan<'static>> {
        // An error here means that the geometry has just changed to a shorter interval.
        let window = self.over(SlidingWindow::interval(self)).ok()?;
        Some(window.complete().into())
    }

    fn snapshot(&self, tier: Option<usize>) -> Option<AnySnapshot> {
        let snapshot = match tier {
            None => SlidingWindow::snapshot(self),
            Some(tier) => self.series(tier)?,
        };
        Some(snapshot.into())
    }

    fn snapshot_of(&self, event: usize) -> AnySnapshot {
        SlidingWindow::snapshot_of(self, Event::<E>::at(event)).into()
    }

    fn by_row(&self, event: usize) -> ByRow {
        SlidingWindow::by_row(self, Event::<E>::at(event))
    }

    fn drain_closed(&self, each: &mut dyn FnMut(&AnySpan<'_>)) -> usize {
        self.close_past();
        let (mut bucket, mut count) = (BucketSnapshot::default(), 0);
        while self.drain_next(&mut bucket) {
            each(&(&bucket).into());
            count += 1;
        }
        count
    }
}
