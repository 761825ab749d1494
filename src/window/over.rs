//! Reading the newest part of a window's interval.

use std::fmt::{self, Debug, Formatter};
use std::time::Duration;

use super::SlidingWindow;
use crate::clock::{Clock, Coarse};
use crate::error::{OutOfRangeError, SpanError};
use crate::event::cells::Addends;
use crate::event::kinds::sealed::Number;
use crate::event::kinds::{EventKind, HasDistribution, HasSum};
use crate::event::{Event, Events, Stats, cells_of, number_of};
use crate::histogram::Distribution;
use crate::ring::{RingAndClock, Span, View};
use crate::timestamp::Timestamp;
use crate::window::query::within;
use crate::window::rate::per_second;
use crate::window::totals::Totals;

/// # Reading a part of the interval
impl<E: Events, C: Clock> SlidingWindow<E, C> {
    /// Returns a handle that reads the newest part of the interval: as many whole buckets as cover
    /// `span`. The current bucket is one of them.
    ///
    /// Costs nothing but this check: the window is read by the handle's methods.
    ///
    /// # Errors
    ///
    /// [`SpanError`] if the span is zero or longer than the interval.
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
    pub fn over(&self, span: Duration) -> Result<Over<'_, E, C>, SpanError> {
        let span = within(span, self.ring.longest())?;
        Ok(Over { window: self, span })
    }
}

/// The newest part of a window's interval: from [`SlidingWindow::over`].
///
/// Each call reads the window anew, at the clock's time. What [`SlidingWindow::sum`] promises holds
/// here too, for the buckets of the span. No call allocates but
/// [`distribution`](Self::distribution), and a thread's [first](SlidingWindow#reading).
///
/// Each call resolves the span by the geometry that the window has then. If that was
/// [changed](SlidingWindow::reconfigure) since this handle was made, other buckets may cover it;
/// and if the span is longer than the interval has become, the call reads the whole interval.
/// [`covers`](Self::covers) says what it comes to.
///
/// A [tier](crate::WindowBuilder::tier) has no note of a boundary if a bucket behind it was
/// replaced before all older ones could be closed, because a thread stood still in an add. A span
/// of a tier that would begin at such a boundary begins at the one before, or if that has left the
/// tier, at the next one; and a span that would end at one ends at the next one.
/// [`covers`](Self::covers), [`Totals::interval`] and [`Totals::end`] say where it lies, and its
/// numbers are exact for that.
///
/// All numbers of a tier belong to that span, however short buckets are. If the ninth reading finds
/// that the tier has moved on under it, it is not returned: the same time is read again, until what
/// its span holds stands still or has left the tier. The span begins later then, or is empty.
///
/// A call reads the buckets of the span, and no others: an epoch pin, and some twenty instructions
/// for each bucket and number. If the span is the whole interval, it costs what
/// `SlidingWindow::sum` does.
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
    fn read<R>(&self, read: impl Fn(&View<'_>, Span) -> R) -> R {
        self.window.ring.view(|| self.window.nanos(), |view| read(view, view.recent(self.span)))
    }

    /// Returns the length of the buckets that the span is read from: the window's own, or those of
    /// the finest [tier](crate::WindowBuilder::tier) that reaches back so far. The sum is exact
    /// from its oldest boundary on; only where that lies is a question of this length.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// use std::time::Duration;
    ///
    /// let window = windrow::SlidingWindow::<Hits>::builder()
    ///     .tier(Duration::from_secs(1), 60)
    ///     .build()?; // 1 s in 2 buckets, and a minute
    /// assert_eq!(window.over(Duration::from_secs(1))?.resolution(), Duration::from_millis(500));
    /// assert_eq!(window.over(Duration::from_secs(9))?.resolution(), Duration::from_secs(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn resolution(&self) -> Duration {
        Duration::from_nanos(self.read(|_, span| span.length()))
    }

    /// What the span covers: its length rounded up to whole buckets, and at most the interval.
    ///
    /// Of the newest bucket, only a part has passed. So a sum covers between this less one bucket,
    /// and this.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// use std::time::Duration;
    ///
    /// let window = windrow::SlidingWindow::<Hits>::builder().build()?; // 1 s, 2 buckets
    /// let recent = window.over(Duration::from_millis(600))?;
    /// assert_eq!(recent.covers(), Duration::from_secs(1));
    /// window.reconfigure(Duration::from_millis(400), 4)?;
    /// assert_eq!(recent.covers(), Duration::from_millis(400));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn covers(&self) -> Duration {
        Duration::from_nanos(self.read(|_, span| span.covers()))
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
        let cells = cells_of(event).sum();
        let sum = |cells| self.read(|view, span| view.sum_in(span, cells));
        K::Number::of(cells.map_or(0, sum))
    }

    /// Count, sum, minimum and maximum of an event over the span. They agree as in
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

    /// How the values of a `Histogram` event are distributed over the span:
    /// [percentiles](SlidingWindow#percentiles).
    ///
    /// Costs an epoch pin, and for each cell of the scale what [`sum`](Self::sum) does; and an
    /// allocation or two.
    ///
    /// ```
    /// # windrow::events! { enum Http { Rt: Histogram } }
    /// let window = windrow::SlidingWindow::<Http>::builder().build()?;
    /// window.record(Http::Rt, 7_000);
    /// let recent = window.over(std::time::Duration::from_millis(500))?.distribution(Http::Rt);
    /// assert_eq!(recent.quantile(0.99), Some(7_000));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn distribution<K: HasDistribution>(&self, event: Event<E, K>) -> Distribution {
        let places = cells_of(event).places();
        places.map_or_else(Distribution::default, |places| {
            self.read(|view, span| view.distribution_in(span, places))
        })
    }

    /// What was added to a `Count` event per second of what the span [covers](Self::covers); of a
    /// `Value` event, the records per second.
    ///
    /// It is low, because the newest bucket has only begun: by at most one bucket's share of what
    /// is covered, if events come at a constant rate. [`complete`](Self::complete) and
    /// [`weighted_rate`](Self::weighted_rate) are not.
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
        let (count, covers) = self.read(|view, span| (view.sum_in(span, cells), span.covers()));
        per_second(number_of(event, count), Duration::from_nanos(covers))
    }

    /// Returns all events over the span, by one reading of the clock.
    ///
    /// ```
    /// # windrow::events! { enum Disk { Read: Count, Latency: Value } }
    /// let window = windrow::SlidingWindow::<Disk>::builder().build()?;
    /// window.record(Disk::Latency, 30);
    /// let totals = window.over(window.interval())?.totals();
    /// assert_eq!((totals.sum(Disk::Read), totals.mean(Disk::Latency)), (0, Some(30.0)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn totals(&self) -> Totals<E> {
        self.read(|view, span| Totals::of(view, span, Timestamp::from_nanos(view.now())))
    }

    /// Returns all events over the same span as it ended with the bucket of `at`, as long as all
    /// its buckets are in the ring, and count at the clock's time.
    ///
    /// So of a window of a minute, a span of ten seconds can be read as it was up to fifty seconds
    /// ago. What was back-dated since is in it. [`Totals::end`] says where it ends.
    ///
    /// # Errors
    ///
    /// [`OutOfRangeError::AfterNow`] if `at` lies after the current bucket;
    /// [`OutOfRangeError::SpanBeforeRing`] if a bucket of the span does not count any more.
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

    /// Returns all events over complete buckets: as many as cover the span of those before the
    /// current bucket, or all of these.
    ///
    /// For rates: all their time has passed. At a constant rate, [`Totals::rate`] is right,
    /// whatever part of the newest bucket has passed. It changes only when a bucket ends, and it is
    /// as old as the newest bucket: up to one bucket's length.
    ///
    /// [`Totals::interval`] says what they cover: at most the interval less one bucket, unless a
    /// tier has no note of where they [end](Totals::end). Then the newest bucket may be one of
    /// them. In a window of one bucket that is nothing: all its numbers are 0.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// # let clock = windrow::clock::Manual::default();
    /// use std::time::Duration;
    ///
    /// let window = windrow::SlidingWindow::<Hits>::builder().clock(clock.clone()).build()?; // 1 s, 2 buckets
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

    /// Returns an estimate of the sum over the span that ends at the clock's time, to the
    /// nanosecond: the *weighted* or *sliding* count of rate limiters.
    ///
    /// It takes the buckets that lie in the span, and of the bucket in which the span begins, the
    /// share that it covers: as if what that bucket holds had come evenly spread. With `w` that
    /// share, the error is at most the greater of `w` and `1 - w` of what that one bucket holds. At
    /// a constant rate it is right.
    ///
    /// The span is rounded up to whole buckets; and, as it begins within one bucket more, it is at
    /// most the interval less one bucket.
    /// [`covers_at_least`](crate::WindowBuilder::covers_at_least) builds a window with that bucket
    /// more. In a window of one bucket the result is 0.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// # let clock = windrow::clock::Manual::default();
    /// use std::time::Duration;
    ///
    /// let window = windrow::SlidingWindow::<Hits>::builder().clock(clock.clone()).build()?; // 1 s, 2 buckets
    /// window.add(Hits::Hit, 100);
    /// clock.advance(Duration::from_millis(600));
    /// window.add(Hits::Hit, 7);
    /// // Of the last 500 ms, 100 ms lie in the newest bucket, and 400 ms in the one before.
    /// let sum = window.over(Duration::from_millis(500))?.weighted_sum(Hits::Hit);
    /// assert!((sum - (7.0 + 0.8 * 100.0)).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn weighted_sum<K: HasSum>(&self, event: Event<E, K>) -> f64 {
        cells_of(event).sum().map_or(0.0, |cells| self.weighted(event, cells).0)
    }

    /// Returns the estimate of [`weighted_sum`](Self::weighted_sum) per second of the span that it
    /// is of; of a `Value` event, of the records. With the error of that estimate.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// # let clock = windrow::clock::Manual::default();
    /// use std::time::Duration;
    ///
    /// let window = windrow::SlidingWindow::<Hits>::builder().clock(clock.clone()).build()?; // 1 s, 2 buckets
    /// window.add(Hits::Hit, 100);
    /// clock.advance(Duration::from_millis(750));
    /// let recent = window.over(Duration::from_millis(500))?;
    /// assert_eq!((recent.rate(Hits::Hit), recent.weighted_rate(Hits::Hit)), (0.0, 100.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn weighted_rate<K: HasSum>(&self, event: Event<E, K>) -> f64 {
        let Some(cells) = cells_of(event).count() else { return 0.0 };
        let (count, covers) = self.weighted(event, cells);
        per_second(count, Duration::from_nanos(covers))
    }

    /// The estimate at a position of an event, and the nanoseconds that it covers.
    fn weighted<K: HasSum>(&self, event: Event<E, K>, cells: Addends) -> (f64, u64) {
        let window = self.window;
        let number = |sum| number_of(event, sum);
        window.ring.view(|| window.nanos(), |view| view.weighted(self.span, cells, number))
    }
}

/// Shows the span as it was asked for.
impl<E, C> Debug for Over<'_, E, C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Over")
            .field("span", &Duration::from_nanos(self.span))
            .finish_non_exhaustive()
    }
}
