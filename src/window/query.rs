//! Reading a window.

use std::fmt::{self, Debug, Formatter};
use std::time::Duration;

use super::SlidingWindow;
use crate::clock::Clock;
use crate::error::OutOfRangeError;
use crate::event::cells::{Addends, EventCells, Places};
use crate::event::debug_output::debug_event_fields;
use crate::event::kinds::sealed::Number;
use crate::event::kinds::{EventKind, HasSum};
use crate::event::{Event, Events, Stats, cells_of};
use crate::ring::{RingAndClock, View};
use crate::timestamp::Timestamp;
use crate::window::snapshot::{BucketSnapshot, Snapshot};
use crate::window::totals::Totals;

/// # Reading
///
/// Reads that return several buckets ([`snapshot`](Self::snapshot), [`series`](Self::series)) or
/// the cells of a `Histogram` event ([`distribution`](Self::distribution), percentiles;
/// [`previous`](Self::previous), if the bucket has values) allocate. No other read does.
///
/// There are two exceptions, to that and to "writes nothing". The first use of a window in a
/// [static](Self::of) makes it. A thread's *first pin*, in its first read (or add, by
/// [epochs](crate::diagnostics::Strategy::Epochs)),
/// [registers](crate::guide::design::windows#memory) the thread until it ends.
impl<E: Events, C: Clock> SlidingWindow<E, C> {
    /// Returns the sum of an event over the interval that ends with the current bucket, wrapping:
    /// an `i64` for a `Signed` event, a `u64` for any other kind.
    ///
    /// Has the [promises of a read](#what-a-read-promises). If the clock has stepped back, later
    /// buckets are not included. If buckets leave the ring while they are read, the call reads
    /// again, at most nine times. The last reading includes every add before the call, except those
    /// whose buckets had left the interval when the call returned, and no add twice.
    ///
    /// Costs a clock reading, a load for each [open row](crate::diagnostics::strategy#rows) and
    /// some twenty more, however many buckets there are. After back-dated adds, a pause, a change
    /// of geometry or a [late close](crate::guide::design::windows#sums-at-once), it costs an epoch
    /// pin and up to two loads for each bucket besides.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// use std::time::Duration;
    /// use windrow::{SlidingWindow, clock::Manual};
    ///
    /// let clock = Manual::default();
    /// let window = SlidingWindow::<Hits>::builder().clock(clock.clone()).build()?;
    /// window.add(Hits::Hit, 5);
    /// clock.advance(Duration::from_millis(500));
    /// assert_eq!(window.sum(Hits::Hit), 5);
    /// clock.advance(Duration::from_millis(500));
    /// assert_eq!(window.sum(Hits::Hit), 0);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn sum<K: HasSum>(&self, event: Event<E, K>) -> K::Number {
        K::Number::of(cells_of(event).sum().map_or(0, |cells| self.sum_of(cells)))
    }

    /// Returns the sum of these cells over the interval.
    #[inline]
    fn sum_of(&self, cells: Addends) -> u64 {
        let Addends { first: position, count: 1 } = cells else {
            return self.ring.view(|| self.nanos(), |view| view.sum_in(view.interval(), cells));
        };
        let at_once = self.ring.sum_at_once(|| self.ring.clock().quick().as_nanos(), position);
        at_once.unwrap_or_else(|| self.total(position))
    }

    /// Returns the sum of these cells over the interval, and the interval in nanoseconds; `None` if
    /// that takes more than a sum at once, or if `span` is not the interval's.
    #[inline(always)]
    #[allow(clippy::inline_always)] // a call would pass three words through memory
    pub(super) fn of_interval_at_once(
        &self,
        cells: Addends,
        span: Option<u64>,
    ) -> Option<(u64, u64)> {
        let Addends { first: position, count: 1 } = cells else { return None };
        let now = || self.ring.clock().quick().as_nanos();
        self.ring.sum_of_interval_at_once(now, position, span)
    }

    /// Returns the sum at a position, by the general way.
    #[cold]
    fn total(&self, position: usize) -> u64 {
        self.ring.view(|| self.nanos(), |view| view.total(position))
    }

    /// Returns count, sum, minimum and maximum of an event over the interval, with the promises of
    /// [`sum`](Self::sum).
    ///
    /// In closed buckets the four numbers are of the same records. In the live bucket, sum, minimum
    /// and maximum may be ahead of the count by records that are being made; in a closed bucket, by
    /// those being made that are *back-dated*: their bucket was no longer live when they reached
    /// it.
    ///
    /// ```
    /// # windrow::events! { enum Disk { Latency: Value } }
    /// let window = windrow::SlidingWindow::<Disk>::builder()
    ///     .clock(windrow::clock::Manual::default())
    ///     .build()?;
    /// window.record(Disk::Latency, 30);
    /// window.record(Disk::Latency, 10);
    /// let stats = window.stats(Disk::Latency);
    /// assert_eq!((stats.count, stats.sum, stats.min, stats.max), (2, 40, Some(10), Some(30)));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn stats<K: EventKind>(&self, event: Event<E, K>) -> Stats {
        self.stats_at(cells_of(event))
    }

    /// Returns the stats of the event with these cells.
    fn stats_at(&self, cells: EventCells) -> Stats {
        self.ring.view(|| self.nanos(), |view| view.stats_in(view.interval(), cells))
    }

    /// Returns all events over the interval, by one reading of the clock: for a share of failures,
    /// for example. Each number has the promises of [`sum`](Self::sum).
    ///
    /// Costs a `sum` for each number that adds up; and with events that have extremes, an epoch pin
    /// and two loads for each bucket and event.
    ///
    /// ```
    /// # windrow::events! { enum Http { Success: Count, Failure: Count } }
    /// let window = windrow::SlidingWindow::<Http>::builder().build()?;
    /// window.add(Http::Failure, 2);
    /// let now = window.totals();
    /// assert_eq!((now.sum(Http::Success), now.sum(Http::Failure)), (0, 2));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn totals(&self) -> Totals<E> {
        let at = |view: &View<'_>| Timestamp::from_nanos(view.now());
        self.ring.view(|| self.nanos(), |view| Totals::of(view, view.interval(), at(view)))
    }

    /// Returns all buckets of the interval: exactly [`buckets`](Self::buckets) entries, oldest
    /// first, gaps filled with zeros. Buckets that would begin before time zero are left out.
    ///
    /// Costs one allocation; and with `Histogram` events, a few for each bucket that has values of
    /// them, of which 24 bytes stay for each cell of the scale that the bucket has used.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// # let clock = windrow::clock::Manual::default();
    /// clock.set(windrow::Timestamp::from_millis(5_000));
    /// let window = windrow::SlidingWindow::<Hits>::builder().clock(clock).build()?;
    /// window.add(Hits::Hit, 5);
    /// let sums: Vec<u64> =
    ///     window.snapshot().buckets().iter().map(|bucket| bucket.sum(Hits::Hit)).collect();
    /// assert_eq!(sums, [0, 5]);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    #[doc(alias = "last")]
    pub fn snapshot(&self) -> Snapshot<E> {
        self.ring.view(|| self.nanos(), |view| Snapshot::of(view, view.interval()))
    }

    /// Returns such a snapshot with the numbers of one event; all other numbers are zero.
    pub(crate) fn snapshot_of<K: EventKind>(&self, event: Event<E, K>) -> Snapshot<E> {
        let only = Some(cells_of(event));
        self.ring.view(|| self.nanos(), |view| Snapshot::of_events(view, view.interval(), only))
    }

    /// Returns the bucket before the current one, whether or not there was an add since.
    ///
    /// All its numbers are zero if it had no adds, or has left the ring. (In a window of one
    /// bucket, it leaves with the first add to the next.) Before the bucket that begins at time
    /// zero there is none: then the result begins and ends at zero. Allocates only for `Histogram`
    /// values.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// # let clock = windrow::clock::Manual::default();
    /// let window = windrow::SlidingWindow::<Hits>::builder().clock(clock.clone()).build()?;
    /// window.add(Hits::Hit, 4);
    /// clock.advance(std::time::Duration::from_millis(500));
    /// window.add(Hits::Hit, 1);
    /// assert_eq!(window.previous().sum(Hits::Hit), 4);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn previous(&self) -> BucketSnapshot<E> {
        self.ring.view(|| self.nanos(), BucketSnapshot::previous)
    }

    /// Returns the all-time totals of an event: everything that was ever added, late adds too.
    ///
    /// Exact when no add is running. Includes all adds [before the call](crate::Counter::sum), and
    /// none that began after it returned. Count and sum never go back (except when they wrap, and
    /// for a `Signed` event). Costs a load for each [open row](crate::diagnostics::strategy#rows)
    /// of a block that is in use, and one for each other block.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// # let clock = windrow::clock::Manual::default();
    /// let window = windrow::SlidingWindow::<Hits>::builder().clock(clock.clone()).build()?;
    /// window.add(Hits::Hit, 4);
    /// clock.advance(std::time::Duration::from_secs(3_600));
    /// assert_eq!(window.sum(Hits::Hit), 0);
    /// assert_eq!(window.lifetime(Hits::Hit).sum, 4);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn lifetime<K: EventKind>(&self, event: Event<E, K>) -> Stats {
        let cells = cells_of(event);
        match cells.places() {
            Some(places) => {
                let pairs = self.ring.lifetimes(places.cells());
                places.stats_of_pairs(pairs, || self.lifetime_extremes(places))
            }
            None => cells.stats(|position| self.ring.lifetime(position)),
        }
    }

    /// Returns the all-time maximum of a `Histogram` event, and the complement of its minimum.
    pub(super) fn lifetime_extremes(&self, places: Places) -> [u64; 2] {
        places.extremes().map(|position| self.ring.lifetime(position))
    }

    /// Returns the late adds to an event: those whose bucket had already left the ring, because the
    /// clock had stepped back by an interval, or the thread had stalled for one between reading the
    /// clock and adding; and those further ahead of the newest bucket than
    /// [`max_lead`](crate::WindowBuilder::max_lead).
    ///
    /// They are in [`lifetime`](Self::lifetime), and in no bucket of the window.
    /// [Tiers](crate::WindowBuilder::tier) that reach back to the time of a late add include it,
    /// but no add beyond the lead.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// use windrow::{SlidingWindow, Timestamp, clock::Manual};
    ///
    /// let clock = Manual::default();
    /// clock.set(Timestamp::from_millis(60_000));
    /// let window = SlidingWindow::<Hits>::builder().clock(clock.clone()).build()?;
    /// window.add(Hits::Hit, 1);
    /// clock.set(Timestamp::from_millis(30_000));
    /// window.add(Hits::Hit, 1);
    /// assert_eq!(window.late(Hits::Hit).count, 1);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn late<K: EventKind>(&self, event: Event<E, K>) -> Stats {
        cells_of(event).stats(|position| self.ring.late(position))
    }
}

/// Returns a span in nanoseconds, if the interval covers it.
#[inline]
pub(super) fn within(span: Duration, longest: u64) -> Result<u64, OutOfRangeError> {
    if span.is_zero() {
        return Err(OutOfRangeError::ZeroSpan);
    }
    let interval = Duration::from_nanos(longest);
    let nanos = u64::try_from(span.as_nanos()).ok().filter(|nanos| *nanos <= longest);
    nanos.ok_or(OutOfRangeError::SpanTooLong { span, interval })
}

/// Shows the geometry and every event's stats over the interval.
impl<E: Events, C: Clock> Debug for SlidingWindow<E, C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("SlidingWindow");
        shown.field("interval", &self.interval()).field("buckets", &self.buckets());
        debug_event_fields::<E>(&mut shown, |cells| self.stats_at(cells));
        shown.finish_non_exhaustive()
    }
}
