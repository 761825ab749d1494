//! What one reads from a window.

use std::fmt::{self, Debug, Formatter};
use std::time::Duration;

use super::SlidingWindow;
use crate::clock::Clock;
use crate::error::SpanError;
use crate::event::layout::CellIndex;
use crate::event::{Event, Positions, Stats, cells_of};
use crate::ring::RingAndClock;
use crate::window::snapshot::{BucketSnapshot, Snapshot};

/// # Reading
///
/// Reads write nothing to the window; none but [`snapshot`](Self::snapshot) and [`last`](Self::last)
/// allocates, once the thread has pinned before: a thread's first read (or add, where there are no
/// restartable sequences) allocates its place among the epochs, which is given back when the thread has
/// ended. In a thread-local's destructor, when that place may be gone already, each call allocates and
/// frees one.
impl<E: Event, C: Clock> SlidingWindow<E, C> {
    /// The sum of an event over the interval that ends with the bucket of the clock's now, wrapping.
    ///
    /// *Not* an atomic snapshot: for the interval at the time that the call has read, it lies between
    /// the true count when the call began (as [`Counter::sum`](crate::Counter::sum) has it) and the true
    /// count when it returned. Adds that run at the same time may be in it or not, in any combination.
    /// Buckets from the future, should the clock have stepped back, are not in it.
    ///
    /// If buckets leave the ring while they are read, the call reads the clock and the ring again: eight
    /// times at most, so that it ends however short buckets are. The ninth reading is the answer whatever
    /// it has missed. Then this is what is true of it: every add that was over when the call began is in
    /// it, but for those whose buckets had left the interval when it returned; and nothing is in it twice.
    ///
    /// And not a sum over the last interval to the nanosecond: the oldest bucket drops out as a
    /// whole when a new one begins, so it covers between `interval - length` and `interval`. Two
    /// bursts one interval apart may both be in it, or the first may just have left: the error is
    /// at most what one bucket holds. More buckets make it smaller.
    ///
    /// Costs an epoch pin, a clock reading and a load or two for each bucket, plus a load for each
    /// row of the buckets that are not closed. Writes nothing; allocates nothing, but for a thread's
    /// [first](#reading).
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
        let quick = || self.clock.quick().as_nanos();
        self.ring.sum(quick, || self.now(), cells_of(event).sum())
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
        let position = cells_of(event).sum();
        let (sum, interval) = self
            .ring
            .view(|| self.now(), |view| (view.total(position), view.geometry().interval()));
        sum as f64 / Duration::from_nanos(interval).as_secs_f64()
    }

    /// What is known of an event over the interval: as [`sum`](Self::sum).
    ///
    /// In closed buckets count, sum, minimum and maximum agree with one another: they are of the same
    /// records. In the live one the sum, the minimum and the maximum may run ahead of the count by the
    /// records that are being made. So they may in a closed bucket, by those back-dated records that are
    /// being made while it is read: records whose bucket was no longer the live one when they came to it.
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
        self.stats_at(cells_of(event))
    }

    /// The stats of the event with these cells.
    fn stats_at(&self, cells: CellIndex) -> Stats {
        self.ring.view(|| self.now(), |view| view.stats(cells))
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
    /// answer begins and ends at zero. As [`sum`](Self::sum), it writes nothing and allocates nothing.
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
        cells_of(event).stats(|position| self.ring.lifetime(position))
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
        cells_of(event).stats(|position| self.ring.late(position))
    }
}

/// Shows the geometry and every event's stats over the interval.
impl<E: Event, C: Clock> Debug for SlidingWindow<E, C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("SlidingWindow");
        shown.field("interval", &self.interval()).field("buckets", &self.buckets());
        for ((name, _), cells) in E::EVENTS.iter().zip(<E::Cells as Positions<E>>::CELLS) {
            shown.field(name, &self.stats_at(*cells));
        }
        shown.finish_non_exhaustive()
    }
}
