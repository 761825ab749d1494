//! A window: what one counts into and reads from.

use std::fmt::{self, Debug, Formatter};
use std::marker::PhantomData;
use std::time::Duration;

use crate::builder::{self, Builder};
use crate::clock::{Clock, Coarse};
use crate::error::{BuildError, OutOfRange, SpanError};
use crate::event::Event;
use crate::ring::{Gone, Ring, Update};
use crate::snapshot::{BucketSnapshot, Snapshot};
use crate::stats::Stats;
use crate::timestamp::Timestamp;

/// Counts events into buckets of time, from every core at once, and answers at any moment how many
/// there were in the last interval.
///
/// ```
/// use std::time::Duration;
/// use windrow::{SlidingWindow, events};
///
/// events! {
///     /// What one endpoint counts.
///     pub enum Http { Pass: Count, Block: Count, Rt: Value }
/// }
///
/// let window = SlidingWindow::<Http>::builder()
///     .interval(Duration::from_secs(60))
///     .buckets(60)
///     .build()?;
/// window.add(Http::Pass, 1);
/// window.record(Http::Rt, 1_250);
/// assert_eq!(window.sum(Http::Pass), 1);
/// assert_eq!(window.stats(Http::Rt).max, Some(1_250));
/// # Ok::<(), windrow::BuildError>(())
/// ```
///
/// # Buckets
///
/// The interval is cut into equal buckets whose starts are multiples of their length, so that
/// windows on one clock agree, whoever began when. At time `t`, with `c` the start of `t`'s bucket,
/// exactly those count whose start lies in `[c - interval + length, c]`.
///
/// The ring holds the newest bucket that was ever opened, and those whose start lies less than an
/// interval before it. Buckets are opened by adds. Reads never write: with nobody adding, time alone
/// empties the window.
///
/// # Nothing is lost, nothing is counted twice
///
/// Every add is in exactly one bucket, the one that its timestamp names; or, if that bucket has
/// left the ring, in [`late`](Self::late). With no add running, [`lifetime`](Self::lifetime) is what
/// was ever added. When the clock steps back, adds go into the older buckets for as long as those
/// are in the ring, and count in their sums like any other.
///
/// # Cost and progress
///
/// An add never fails, panics, waits for another thread or takes a lock. It pins the epoch, reads
/// the clock, and adds to a cache line of its own thread's. The add that opens a bucket pays for
/// that: some microseconds. A stalled thread costs others speed, never counts: while it delays
/// reclamation, new buckets count in cells that all threads share.
///
/// Adds are Release and reads are Acquire: whoever counts an add sees what its thread did before.
///
/// A window holds its header's and cells' memory for each bucket in the ring, and four sets of
/// columns: see `docs/design.md`.
pub struct SlidingWindow<E, C = Coarse> {
    ring: Ring,
    clock: C,
    events: PhantomData<fn(E)>,
}

impl<E: Event> SlidingWindow<E, Coarse> {
    /// A builder for a window of one second in two buckets, unless told otherwise.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// let window = windrow::SlidingWindow::<Hits>::builder().build()?;
    /// assert_eq!((window.interval().as_secs(), window.buckets()), (1, 2));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn builder() -> Builder<E, Coarse> {
        Builder::new()
    }
}

impl<E: Event, C: Clock> SlidingWindow<E, C> {
    pub(crate) fn new(ring: Ring, clock: C) -> SlidingWindow<E, C> {
        SlidingWindow { ring, clock, events: PhantomData }
    }

    #[inline]
    fn now(&self) -> u64 {
        self.clock.now().as_nanos()
    }

    /// Adds `n`, wrapping, to a `Count` event in the bucket of the clock's now.
    ///
    /// Never fails, panics or waits. If the clock has stepped back, that is an older bucket; if that
    /// has left the ring, it is counted as [`late`](Self::late). Of a `Value` event, it records `n`
    /// as a value.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// let window = windrow::SlidingWindow::<Hits>::builder().build()?;
    /// window.add(Hits::Hit, 3);
    /// assert_eq!(window.lifetime(Hits::Hit).count, 3);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    #[inline]
    pub fn add(&self, event: E, n: u64) {
        self.ring.add(self.now(), update(event, n));
    }

    /// Records a value of a `Value` event in the bucket of the clock's now.
    ///
    /// As [`add`](Self::add). Of a `Count` event, it adds `value`.
    ///
    /// ```
    /// # windrow::events! { enum Disk { Latency: Value } }
    /// let window = windrow::SlidingWindow::<Disk>::builder().build()?;
    /// window.record(Disk::Latency, 250);
    /// assert_eq!(window.lifetime(Disk::Latency).mean(), Some(250.0));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    #[inline]
    pub fn record(&self, event: E, value: u64) {
        self.add(event, value);
    }

    /// Adds `n`, wrapping, to a `Count` event in the bucket of `at`.
    ///
    /// For what happened earlier, or is replayed. Of a `Value` event, it records `n` as a value.
    ///
    /// # Errors
    ///
    /// [`OutOfRange`] if `at` lies after the bucket of the clock's now, or before the ring. Then
    /// nothing is counted.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// use windrow::{SlidingWindow, Timestamp, clock::Manual};
    ///
    /// let clock = Manual::default();
    /// clock.set(Timestamp::from_millis(60_700));
    /// let window = SlidingWindow::<Hits>::builder().clock(clock).build()?;
    /// window.add_at(Timestamp::from_millis(60_400), Hits::Hit, 2)?;
    /// assert_eq!(window.previous().sum(Hits::Hit), 2);
    /// assert!(window.add_at(Timestamp::from_millis(50_000), Hits::Hit, 2).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_at(&self, at: Timestamp, event: E, n: u64) -> Result<(), OutOfRange> {
        let now = self.clock.now();
        let geometry = self.ring.geometry();
        if at > now && at.as_nanos() - geometry.start_of(now.as_nanos()) >= geometry.length() {
            return Err(OutOfRange::AfterNow { at, now });
        }
        self.ring.add_in_ring(at.as_nanos(), update(event, n)).map_err(|Gone { oldest }| {
            OutOfRange::BeforeRing { at, oldest: Timestamp::from_nanos(oldest) }
        })
    }

    /// Records a value of a `Value` event in the bucket of `at`.
    ///
    /// # Errors
    ///
    /// As [`add_at`](Self::add_at). Of a `Count` event, it adds `value`.
    ///
    /// ```
    /// # windrow::events! { enum Disk { Latency: Value } }
    /// use windrow::{SlidingWindow, Timestamp, clock::Manual};
    ///
    /// let window = SlidingWindow::<Disk>::builder().clock(Manual::default()).build()?;
    /// window.record_at(Timestamp::from_millis(100), Disk::Latency, 7)?;
    /// assert_eq!(window.stats(Disk::Latency).min, Some(7));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn record_at(&self, at: Timestamp, event: E, value: u64) -> Result<(), OutOfRange> {
        self.add_at(at, event, value)
    }

    /// The sum of an event over the interval that ends with the bucket of the clock's now, wrapping.
    ///
    /// *Not* an atomic snapshot: it is the true count at some instant during the call, of the
    /// interval at the time that the call has read. Adds that run at the same time may be in it or
    /// not. Buckets from the future, should the clock have stepped back, are not in it.
    ///
    /// And not a sum over the last interval to the nanosecond: the oldest bucket drops out as a
    /// whole when a new one begins, so it covers between `interval - length` and `interval`. Two
    /// bursts one interval apart may both be in it, or the first may just have left: the error is
    /// at most what one bucket holds. More buckets make it smaller.
    ///
    /// Costs an epoch pin, a clock reading and a load or two for each bucket, plus a load for each
    /// row of the buckets that are not closed. Writes nothing, allocates nothing.
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
    pub fn sum(&self, event: E) -> u64 {
        let position = E::PLACES[event.index()].sum();
        self.ring.view(|| self.now(), |view| view.total(position))
    }

    /// The [`sum`](Self::sum) divided by the interval: per second.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// # let clock = windrow::clock::Manual::default();
    /// let window = windrow::SlidingWindow::<Hits>::builder()
    ///     .interval(std::time::Duration::from_secs(10))
    ///     .clock(clock)
    ///     .build()?;
    /// window.add(Hits::Hit, 5);
    /// assert_eq!(window.rate(Hits::Hit), 0.5);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn rate(&self, event: E) -> f64 {
        let position = E::PLACES[event.index()].sum();
        let (sum, interval) = self
            .ring
            .view(|| self.now(), |view| (view.total(position), view.geometry().interval()));
        sum as f64 / Duration::from_nanos(interval).as_secs_f64()
    }

    /// What is known of an event over the interval: as [`sum`](Self::sum).
    ///
    /// In closed buckets count, sum, minimum and maximum agree with one another. In the live one
    /// the sum, the minimum and the maximum may run ahead of the count by the records that are being
    /// made.
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
    pub fn stats(&self, event: E) -> Stats {
        let place = E::PLACES[event.index()];
        self.ring.view(|| self.now(), |view| place.stats(|position| view.total(position)))
    }

    /// All buckets of the interval: exactly [`buckets`](Self::buckets) entries, oldest first, gaps
    /// filled with zeros; fewer only where one would begin before time zero.
    ///
    /// Costs one allocation.
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
    pub fn snapshot(&self) -> Snapshot<E> {
        self.ring.view(|| self.now(), |view| Snapshot::of(view, view.geometry().buckets()))
    }

    /// The newest buckets: as many as it takes to cover `span`, the one of the clock's now among
    /// them.
    ///
    /// Costs one allocation.
    ///
    /// # Errors
    ///
    /// [`SpanError`] if the span is zero or longer than the interval.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// # use std::time::Duration;
    /// # let clock = windrow::clock::Manual::default();
    /// clock.set(windrow::Timestamp::from_millis(60_000));
    /// let window = windrow::SlidingWindow::<Hits>::builder()
    ///     .interval(Duration::from_secs(10))
    ///     .buckets(20)
    ///     .clock(clock)
    ///     .build()?;
    /// assert_eq!(window.last(Duration::from_millis(2_000))?.buckets().len(), 4);
    /// assert_eq!(window.last(Duration::from_millis(2_002))?.buckets().len(), 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn last(&self, span: Duration) -> Result<Snapshot<E>, SpanError> {
        if span.is_zero() {
            return Err(SpanError::Zero);
        }
        self.ring.view(
            || self.now(),
            |view| {
                let interval = Duration::from_nanos(view.geometry().interval());
                if span > interval {
                    return Err(SpanError::TooLong { span, interval });
                }
                let length = u128::from(view.geometry().length());
                // At most `buckets`, by the comparison above.
                Ok(Snapshot::of(view, span.as_nanos().div_ceil(length) as usize))
            },
        )
    }

    /// The bucket just before the one of the clock's now, whether or not anybody has added since.
    ///
    /// Zeros if nobody has added to it, or if it has left the ring: with one bucket, that is as soon
    /// as somebody adds to the next. In the first bucket of all time there is none before, and the
    /// answer begins and ends at zero. Writes nothing, allocates nothing.
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
        self.ring.view(|| self.now(), BucketSnapshot::previous)
    }

    /// Everything that was ever added, late adds too.
    ///
    /// With no add running it is exact. Count and sum never go back (but where they wrap), and lie
    /// between what was added before the call and what was begun before its return. Costs a load for
    /// each row and block.
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
    pub fn lifetime(&self, event: E) -> Stats {
        E::PLACES[event.index()].stats(|position| self.ring.lifetime(position))
    }

    /// What was added when the bucket of its time had already left the ring: the clock had stepped
    /// back by an interval, or the thread had stood still for as long between reading the clock and
    /// adding.
    ///
    /// It is in [`lifetime`](Self::lifetime), and in no bucket.
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
    pub fn late(&self, event: E) -> Stats {
        E::PLACES[event.index()].stats(|position| self.ring.late(position))
    }

    /// Changes the interval and the number of buckets while everybody goes on.
    ///
    /// Each bucket of the old ring goes, with all its counts, into the new bucket that contains its
    /// start; where that is outside the new ring, it is in [`lifetime`](Self::lifetime) alone.
    /// Nothing is lost, adds under way included. The newest bucket becomes the one that contains the
    /// start of the newest one before.
    ///
    /// The old ring's memory is kept until the next change but one.
    ///
    /// # Errors
    ///
    /// As [`Builder::build`]; then the window stays as it was.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// # use std::time::Duration;
    /// # let clock = windrow::clock::Manual::default();
    /// let window = windrow::SlidingWindow::<Hits>::builder().clock(clock.clone()).build()?;
    /// window.add(Hits::Hit, 4);
    /// window.reconfigure(Duration::from_secs(60), 60)?;
    /// assert_eq!(window.buckets(), 60);
    /// clock.advance(Duration::from_secs(59));
    /// assert_eq!(window.sum(Hits::Hit), 4);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn reconfigure(&self, interval: Duration, buckets: usize) -> Result<(), BuildError> {
        self.ring.reconfigure(builder::geometry(interval, buckets, &self.clock)?)
    }

    /// The span that the window covers.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// let window = windrow::SlidingWindow::<Hits>::builder().build()?;
    /// assert_eq!(window.interval(), std::time::Duration::from_secs(1));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn interval(&self) -> Duration {
        Duration::from_nanos(self.ring.geometry().interval())
    }

    /// How many buckets the interval is cut into.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// let window = windrow::SlidingWindow::<Hits>::builder().build()?;
    /// assert_eq!(window.buckets(), 2);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn buckets(&self) -> usize {
        self.ring.geometry().buckets()
    }
}

#[inline]
fn update<E: Event>(event: E, number: u64) -> Update {
    Update::new(E::PLACES[event.index()], number)
}

/// Shows the geometry and every event's stats over the interval.
impl<E: Event, C: Clock> Debug for SlidingWindow<E, C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("SlidingWindow");
        shown.field("interval", &self.interval()).field("buckets", &self.buckets());
        for ((name, _), place) in E::EVENTS.iter().zip(E::PLACES) {
            let stats =
                self.ring.view(|| self.now(), |view| place.stats(|position| view.total(position)));
            shown.field(name, &stats);
        }
        shown.finish_non_exhaustive()
    }
}
