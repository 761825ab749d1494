//! A window without the type of its events.

use std::time::{Duration, SystemTime};

use super::span::{AnySnapshot, AnySpan, histogram};
use crate::arena::by_row::ByRow;
use crate::clock::Clock;
use crate::event::{Event, Events, Kind, Stats, cells_of};
use crate::exemplar::Exemplar;
use crate::histogram::Distribution;
use crate::ring::RingAndClock;
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
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// use std::time::Duration;
    /// use windrow::export::AnyWindow;
    ///
    /// let window = windrow::SlidingWindow::<Hits>::builder().build()?;
    /// assert_eq!(window.bucket_length(), Duration::from_millis(500));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    fn bucket_length(&self) -> Duration;

    /// Returns the wall-clock time of a moment on the window's clock, past or future; for the
    /// buckets of a [drain](SlidingWindow::drain_closed), for example.
    ///
    /// It is as far from the wall clock's reading as `at` is from that of the window's clock. Its
    /// error, by which two calls may differ, is the resolution of both clocks, the time between the
    /// two readings, and any step of the wall clock between `at` and the call. A clock that does
    /// not run with real time ([`Manual`](crate::clock::Manual)) is taken to do so from now on.
    ///
    /// [`SystemTime::UNIX_EPOCH`] if the system cannot represent the time: on Windows before 1601,
    /// elsewhere none within 584 years of today.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// use std::time::{Duration, SystemTime};
    /// use windrow::{Clock, export::AnyWindow};
    ///
    /// let window = windrow::SlidingWindow::<Hits>::builder().build()?;
    /// let started = window.system_time(window.clock().now() - Duration::from_secs(60));
    /// let ago = SystemTime::now().duration_since(started).unwrap_or_default();
    /// println!("a minute ago, so about {} s", ago.as_secs());
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    fn system_time(&self, at: Timestamp) -> SystemTime;

    /// Returns the all-time totals, from the time at which the window was built until now. They are
    /// read when they are asked for.
    #[doc(alias = "built")]
    #[doc(alias = "lifetime_count")]
    #[doc(alias = "now")]
    fn lifetime(&self) -> AnySpan<'_>;

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
    /// are zero. Costs less than a [`snapshot`](Self::snapshot) of all. For `windrow-console`,
    /// which draws one event.
    #[doc(hidden)]
    fn snapshot_of(&self, event: usize) -> AnySnapshot;

    /// Returns the part of an event's all-time count that is in each core's row: how its adds, or
    /// records, are spread over the cores. A `Maximum` or `Minimum` event has no rows.
    ///
    /// Each row is as consistent as [`lifetime`](Self::lifetime), and never goes back. The rows are
    /// read one after the other. Costs a load for each [open
    /// row](crate::diagnostics::strategy#rows) and block, and an allocation.
    ///
    /// The adds of each row over some time are the difference of two readings:
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// use windrow::export::AnyWindow;
    ///
    /// let window = windrow::SlidingWindow::<Hits>::builder().build()?;
    /// let before = window.by_row(Hits::Hit.index());
    /// window.add(Hits::Hit, 4);
    /// let now = window.by_row(Hits::Hit.index());
    /// let added = now.rows.iter().zip(&before.rows).map(|(now, before)| now - before);
    /// assert_eq!(added.sum::<u64>() + now.shared - before.shared, 4);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
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
        Duration::from_nanos(self.ring().geometry().length())
    }

    fn system_time(&self, at: Timestamp) -> SystemTime {
        let (now, wall) = (self.clock().now(), SystemTime::now());
        let time = if at < now { wall.checked_sub(now - at) } else { wall.checked_add(at - now) };
        time.unwrap_or(SystemTime::UNIX_EPOCH)
    }

    fn lifetime(&self) -> AnySpan<'_> {
        self.into()
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
        let cells = cells_of(Event::<E>::at(event)).count();
        cells.map_or_else(ByRow::default, |cells| self.ring().by_row(cells))
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
