//! Reading the newest part of a window's interval.

use std::fmt::{self, Debug, Formatter};
use std::time::Duration;

use super::SlidingWindow;
use crate::clock::{Clock, Coarse};
use crate::error::OutOfRangeError;
use crate::event::cells::Addends;
use crate::event::kinds::sealed::Number;
use crate::event::kinds::{EventKind, HasSum};
use crate::event::{Event, Events, Stats, cells_of, number_of};
use crate::ring::{RingAndClock, Span, View};
use crate::timestamp::Timestamp;
use crate::window::query::within;
use crate::window::rate::per_second;
use crate::window::totals::Totals;

/// # Reading a part of the interval
impl<E: Events, C: Clock> SlidingWindow<E, C> {
    /// Returns a handle that reads the newest part of the interval: the newest buckets that
    /// together cover `span`, the current one included.
    ///
    /// Costs only the check of `span`: the handle's methods read the window.
    ///
    /// # Errors
    ///
    /// [`OutOfRangeError`] if the span is zero, or longer than the interval and than those of all
    /// [tiers](crate::WindowBuilder::tier).
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// # let clock = windrow::clock::Manual::default();
    /// use std::time::Duration;
    ///
    /// let window = windrow::SlidingWindow::<Hits>::builder()
    ///     .interval(Duration::from_secs(60))
    ///     .buckets(60)
    ///     .clock(clock.clone())
    ///     .build()?;
    /// let recent = window.over(Duration::from_secs(5))?;
    /// window.add(Hits::Hit, 7);
    /// clock.advance(Duration::from_secs(4));
    /// assert_eq!(recent.sum(Hits::Hit), 7);
    /// clock.advance(Duration::from_secs(1));
    /// assert_eq!(recent.sum(Hits::Hit), 0);
    /// assert_eq!(window.sum(Hits::Hit), 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn over(&self, span: Duration) -> Result<Over<'_, E, C>, OutOfRangeError> {
        let span = within(span, self.ring.longest())?;
        Ok(Over { window: self, span })
    }
}

/// The newest part of a window's interval: from [`SlidingWindow::over`].
///
/// Each call reads the window anew, at the clock's time. The promises of [`SlidingWindow::sum`]
/// hold here too, for the buckets of the span. No call allocates but a thread's
/// [first](SlidingWindow#reading).
///
/// Each call resolves the span by the geometry that the window has then. If the geometry was
/// [changed](SlidingWindow::reconfigure) since this handle was made, other buckets may cover the
/// span; and if the span is now longer than the interval, the call reads the whole interval.
/// [`Totals::interval`] is the span that was read.
///
/// A [tier](crate::WindowBuilder::tier) does not know the totals at a boundary if a bucket after it
/// was replaced before all older ones could be closed, because a thread stood still in an add. A
/// span of a tier that would begin at such a boundary begins at the boundary before, or if that has
/// left the tier, at the next one; a span that would end at such a boundary ends at the next one.
/// [`Totals::interval`] and [`Totals::end`] say where the span lies, and its numbers are exact for
/// that.
///
/// All numbers of a tier belong to that span, however short buckets are. If the tier has moved on
/// even during the ninth reading, that reading is not returned: the same time is read again, until
/// the contents of its span stand still or have left the tier. The span then begins later, or is
/// empty.
///
/// A call reads the buckets of the span, and no others: an epoch pin, and some twenty instructions
/// for each bucket and number. If the span is the whole interval, it costs the same as
/// `SlidingWindow::sum`. The [complete](Self::complete) buckets of the whole interval cost little
/// more. A sum over a span of a tier is a difference of the totals at two boundaries, however many
/// buckets lie between them. Adds to older buckets, and extremes, are not in that difference: they
/// are read from buckets of several lengths, of which some 20 make up an hour of seconds.
///
/// ```
/// use std::time::Duration;
/// use windrow::{SlidingWindow, events};
///
/// events! { enum Http { Success: Count, Failure: Count } }
///
/// let window = SlidingWindow::<Http>::builder()
///     .interval(Duration::from_secs(60))
///     .buckets(60)
///     .build()?;
/// window.add(Http::Failure, 1);
/// let recent = window.over(Duration::from_secs(10))?.totals();
/// assert_eq!((recent.sum(Http::Failure), recent.sum(Http::Success)), (1, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub struct Over<'w, E, C = Coarse> {
    window: &'w SlidingWindow<E, C>,
    /// In nanoseconds.
    span: u64,
}

impl<E: Events, C: Clock> Over<'_, E, C> {
    /// Lets `read` look at the span's newest buckets.
    fn read<R>(&self, read: impl for<'g> Fn(&View<'g>, Span<'g>) -> R) -> R {
        self.window.ring.view(|| self.window.nanos(), |view| read(view, view.recent(self.span)))
    }

    /// Returns the sum of these cells over the span, and the time that it covers.
    fn sum_and_span(&self, cells: Addends) -> (u64, u64) {
        let at_once = self.window.of_interval_at_once(cells, Some(self.span));
        let read = || self.read(|view, span| (view.sum_in(span, cells), span.covers()));
        at_once.unwrap_or_else(read)
    }

    /// Returns the sum of an event over the span, wrapping.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// let window = windrow::SlidingWindow::<Hits>::builder().build()?;
    /// window.add(Hits::Hit, 5);
    /// assert_eq!(window.over(window.interval())?.sum(Hits::Hit), 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sum<K: HasSum>(&self, event: Event<E, K>) -> K::Number {
        K::Number::of(cells_of(event).sum().map_or(0, |cells| self.sum_and_span(cells).0))
    }

    /// Returns count, sum, minimum and maximum of an event over the span. They agree as in
    /// [`SlidingWindow::stats`].
    ///
    /// ```
    /// # windrow::events! { enum Disk { Latency: Value } }
    /// let window = windrow::SlidingWindow::<Disk>::builder().build()?;
    /// window.record(Disk::Latency, 30);
    /// assert_eq!(window.over(window.interval())?.stats(Disk::Latency).min, Some(30));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stats<K: EventKind>(&self, event: Event<E, K>) -> Stats {
        self.read(|view, span| view.stats_in(span, cells_of(event)))
    }

    /// Returns the adds to a `Count` event per second of the time that the span covers: its length
    /// rounded up to whole buckets, and at most the interval. Returns the records per second of a
    /// `Value` event.
    ///
    /// The rate is low, because the newest bucket has only begun: by at most one bucket's share of
    /// the time covered, if events come at a constant rate. [`complete`](Self::complete) and
    /// [`weighted_rate`](Self::weighted_rate) do not have this error.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// # use std::time::Duration;
    /// let window = windrow::SlidingWindow::<Hits>::builder()
    ///     .interval(Duration::from_secs(10))
    ///     .buckets(10)
    ///     .clock(windrow::clock::Manual::default())
    ///     .build()?;
    /// window.add(Hits::Hit, 5);
    /// assert_eq!(window.over(Duration::from_secs(2))?.rate(Hits::Hit), 2.5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rate<K: HasSum>(&self, event: Event<E, K>) -> f64 {
        let Some(cells) = cells_of(event).count() else { return 0.0 };
        let (count, covers) = self.sum_and_span(cells);
        per_second(number_of(event, count), covers)
    }

    /// Returns the totals of all events over the span, at one time: with
    /// [percentiles](SlidingWindow#percentiles) of `Histogram` events.
    ///
    /// Costs an epoch pin, and a [`sum`](Self::sum) for each number of the events.
    ///
    /// ```
    /// # windrow::events! { enum Disk { Read: Count, Latency: Value } }
    /// let window = windrow::SlidingWindow::<Disk>::builder().build()?;
    /// window.record(Disk::Latency, 30);
    /// let totals = window.over(window.interval())?.totals();
    /// assert_eq!((totals.sum(Disk::Read), totals.stats(Disk::Latency).max), (0, Some(30)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "distribution")]
    #[doc(alias = "covers")]
    pub fn totals(&self) -> Totals<E> {
        self.read(|view, span| Totals::of(view, span, Timestamp::from_nanos(view.now())))
    }

    /// Returns all events over the span of this length that ended with the bucket of `at`. All its
    /// buckets must still be in the interval.
    ///
    /// So with a window of a minute, a span of ten seconds can be read as it was up to fifty
    /// seconds ago. Adds back-dated since are included. [`Totals::end`] returns the span's end.
    ///
    /// # Errors
    ///
    /// [`OutOfRangeError::AfterNow`] if `at` lies after the current bucket;
    /// [`OutOfRangeError::SpanBeforeRing`] if a bucket of the span has left the interval.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// # let clock = windrow::clock::Manual::default();
    /// use std::time::Duration;
    ///
    /// clock.set(windrow::Timestamp::from_millis(600_000));
    /// let window = windrow::SlidingWindow::<Hits>::builder()
    ///     .interval(Duration::from_secs(60))
    ///     .buckets(60)
    ///     .clock(clock.clone())
    ///     .build()?;
    /// let recent = window.over(Duration::from_secs(10))?;
    /// window.add(Hits::Hit, 7);
    /// clock.advance(Duration::from_secs(30));
    /// let then = recent.totals().at() - Duration::from_secs(30);
    /// assert_eq!(recent.totals_at(then)?.sum(Hits::Hit), 7);
    /// assert!(recent.totals_at(then - Duration::from_secs(21)).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn totals_at(&self, at: Timestamp) -> Result<Totals<E>, OutOfRangeError> {
        let window = self.window;
        window.ring.view(
            || window.nanos(),
            |view| {
                let span = view.ending_at(self.span, at.as_nanos())?;
                Ok(Totals::of(view, span, at))
            },
        )
    }

    /// Returns all events over complete buckets: of those before the current bucket, the newest
    /// that together cover the span, or all of them.
    ///
    /// For rates: all the time of these buckets has passed, so at a constant rate [`Totals::rate`]
    /// is right at any time. It changes only when a bucket ends, so it lags by up to one bucket's
    /// length.
    ///
    /// [`Totals::interval`] returns the time they cover: at most the interval less one bucket,
    /// unless a tier does not know the totals at their [end](Totals::end). Then the newest bucket
    /// may be one of them. In a window of one bucket there are none: all numbers are 0. Buckets
    /// that would begin before time zero count as empty ones, also if all do.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// # let clock = windrow::clock::Manual::default();
    /// use std::time::Duration;
    ///
    /// // 1 s, 2 buckets
    /// let window = windrow::SlidingWindow::<Hits>::builder().clock(clock.clone()).build()?;
    /// window.add(Hits::Hit, 50);
    /// clock.advance(Duration::from_millis(510));
    /// window.add(Hits::Hit, 1);
    /// let complete = window.over(window.interval())?.complete();
    /// assert_eq!((complete.sum(Hits::Hit), complete.rate(Hits::Hit)), (50, 100.0));
    /// assert_eq!(complete.interval(), Duration::from_millis(500));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn complete(&self) -> Totals<E> {
        let window = self.window;
        window.ring.view(
            || window.nanos(),
            |view| {
                let span = view.complete(self.span);
                Totals::of(view, span, Timestamp::from_nanos(view.now()))
            },
        )
    }

    /// Returns an estimate of the adds to a `Count` event per second of the span that ends at the
    /// clock's time, to the nanosecond; for a `Value` event, of the records per second. Times the
    /// span, it is the *weighted* or *sliding* count of rate limiters.
    ///
    /// The call adds the buckets that lie in the span, and a share of the bucket in which the span
    /// begins, as if that bucket's adds were spread evenly. If `w` is that share, the error of the
    /// count is at most the greater of `w` and `1 - w` of that one bucket's sum. At a constant rate
    /// the estimate is right.
    ///
    /// The span is rounded up to whole buckets, and may be at most one bucket shorter than the
    /// interval, because it begins within a further bucket. In a window of one bucket the result is
    /// 0.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// # let clock = windrow::clock::Manual::default();
    /// use std::time::Duration;
    ///
    /// // 1 s, 2 buckets
    /// let window = windrow::SlidingWindow::<Hits>::builder().clock(clock.clone()).build()?;
    /// window.add(Hits::Hit, 100);
    /// clock.advance(Duration::from_millis(600));
    /// window.add(Hits::Hit, 7);
    /// // Of the last 500 ms, 100 ms lie in the newest bucket, and 400 ms in the one before.
    /// let rate = window.over(Duration::from_millis(500))?.weighted_rate(Hits::Hit);
    /// assert!((0.5 * rate - (7.0 + 0.8 * 100.0)).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "weighted_sum")]
    pub fn weighted_rate<K: HasSum>(&self, event: Event<E, K>) -> f64 {
        let Some(cells) = cells_of(event).count() else { return 0.0 };
        let (count, covers) = self.weighted(event, cells);
        per_second(count, covers)
    }

    /// Returns the estimate for the cells of an event, and the nanoseconds that it covers.
    fn weighted<K: HasSum>(&self, event: Event<E, K>, cells: Addends) -> (f64, u64) {
        let window = self.window;
        let number = |sum| number_of(event, sum);
        window.ring.view(|| window.nanos(), |view| view.weighted(self.span, cells, number))
    }
}

/// Shows the span as requested.
impl<E, C> Debug for Over<'_, E, C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Over")
            .field("span", &Duration::from_nanos(self.span))
            .finish_non_exhaustive()
    }
}
