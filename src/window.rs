//! The sliding window: [`SlidingWindow`] counts events in buckets of time.

use std::marker::PhantomData;
use std::mem::offset_of;
use std::time::Duration;

use crate::address_dependency::Zero;
use crate::clock::{Clock, Coarse};
use crate::error::OutOfRangeError;
use crate::event::cells::EventCells;
use crate::event::kinds::sealed::Number;
use crate::event::kinds::{CanAdd, CanRecord};
use crate::event::{Event, Events, cells_of};
use crate::recorded_value::Recorded;
use crate::ring::{OutOfRing, Ring, RingAndClock};
use crate::stripe::Strategy;
use crate::stripe::live_bucket::HasLive;
use crate::timer::Timer;
use crate::timestamp::Timestamp;
use crate::window::ring_and_clock::Made;

// In the order in which the documentation shows a window's methods.
mod builder;

mod change;
#[cfg(not(any(loom, shuttle)))]
mod static_window;

// Reading.
mod query;
mod snapshot;
mod totals;

mod rate;

mod distribution;
mod exemplars;

mod over;

mod series;

mod moment;
mod ring_and_clock;
mod window_number;

// A log.
mod drain;

#[cfg(not(any(loom, shuttle)))]
mod close;
mod time;

pub use builder::WindowBuilder;
pub use moment::Moment;
pub use over::Over;
pub use snapshot::{BucketSnapshot, Snapshot};
pub use totals::Totals;

/// A sliding window (rolling window, Sentinel's `LeapArray`): counts events in buckets of time,
/// from all cores at once, and returns their sums, rates, extremes and percentiles over the last
/// interval.
///
/// ```
/// use std::time::Duration;
/// use windrow::{SlidingWindow, events};
///
/// events! { pub enum Http { Pass: Count, Block: Count, Rt: Value } }
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
/// # What an add promises
///
/// An add never fails, panics, takes a lock or waits for another thread. It counts in exactly one
/// bucket, the one that its timestamp names; or in [`late`](Self::late), if that bucket has left
/// the ring or lies beyond the [lead](WindowBuilder::max_lead). With no add running,
/// [`lifetime`](Self::lifetime) is all that was ever added. Do not add in a signal handler.
///
/// Nearly every add [costs](crate::guide::design::windows#what-an-add-costs) a clock reading and
/// some twenty plain instructions. The add that opens a bucket takes some microseconds, and on
/// Linux and Windows *a system call*, unless a ticker makes it: [`close_on`](Self::close_on).
///
/// # Buckets
///
/// The interval is cut into equal buckets whose starts are multiples of their length, so all
/// windows on one clock have the same boundaries. At time `t`, with `c` the start of `t`'s bucket,
/// exactly those buckets count whose start lies in `[c - interval + length, c]`. The *current*
/// bucket contains the clock's time. While no thread adds, the window empties as time passes.
///
/// The *ring* holds the newest bucket ever opened (since the last [`clear`](Self::clear)), and
/// those whose start lies less than an interval before it. Adds open buckets; reads do not. When
/// the clock steps back, adds go into older buckets of the ring.
///
/// # What a read promises
///
/// A read writes nothing. It is *not* an atomic snapshot: for the interval at the time that it
/// read, a sum lies between the true count when the call began (see
/// [`Counter::sum`](crate::Counter::sum)) and when it returned. Adds that run at the same time may
/// be included or not, in any combination. Adds are Release, reads Acquire: a thread that counts an
/// add sees what the add's thread did before.
///
/// The oldest bucket drops out as a whole, so a sum covers between `interval - length` and
/// `interval`. The error is at most one bucket's sum; more buckets make it smaller.
///
/// # Memory
///
/// With 60 buckets of five events, a window takes two kilobytes at first, and sixteen once its ring
/// is full. Then opening a bucket allocates nothing, with [few
/// exceptions](crate::guide::design::windows#memory). If memory runs out, the process ends. A
/// stalled thread loses no counts, and keeps the memory of at most two buckets. Read on: [exact
/// numbers](crate::guide::exact_numbers), [sizing](crate::guide::sizing).
#[doc(alias = "LeapArray")]
#[doc(alias = "rolling window")]
pub struct SlidingWindow<E, C = Coarse> {
    ring: Made<C>,
    /// Invariant in `E`: a subtype of `E` may be another set of events, which has more cells.
    events: PhantomData<fn(E) -> E>,
}

impl<E, C> HasLive for SlidingWindow<E, C> {
    const CURRENT: usize = offset_of!(SlidingWindow<E, C>, ring) + Made::<C>::CURRENT;
    const GUESS: usize = offset_of!(SlidingWindow<E, C>, ring) + Made::<C>::GUESS;
}

impl<E, C: Clock> RingAndClock for SlidingWindow<E, C> {
    #[inline(always)]
    #[allow(clippy::inline_always)] // an address within it
    fn ring(&self) -> &Ring {
        &self.ring
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    fn in_line(&self) -> Option<Zero> {
        self.ring.in_line()
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    fn portable(&self) -> Option<Zero> {
        self.ring.portable()
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    unsafe fn made(&self) -> &Ring {
        // SAFETY: the caller vouches for it.
        unsafe { self.ring.made() }
    }

    #[inline]
    fn nanos(&self) -> u64 {
        self.ring.clock().now().as_nanos()
    }

    #[inline]
    fn kept(at: u64) -> u64 {
        C::kept(Timestamp::from_nanos(at)).as_nanos()
    }
}

impl<E: Events, C: Clock> SlidingWindow<E, C> {
    pub(crate) fn made_of(ring: Ring, clock: C, built: Timestamp) -> SlidingWindow<E, C> {
        SlidingWindow { ring: Made::of(ring, clock, built), events: PhantomData }
    }

    /// Adds `n`, wrapping, to a `Count` or `Signed` event in the current bucket.
    ///
    /// Has the [promises of an add](#what-an-add-promises). (Only the first use of a window in a
    /// [static](Self::of) may wait, for the thread that makes it.) A `Signed` event takes an `i64`.
    /// The window keeps its change in each bucket, and so over the interval. The level itself is in
    /// [`lifetime`](Self::lifetime), or in a [`Gauge`](crate::Gauge).
    ///
    /// ```
    /// # windrow::events! { enum Pool { Used: Count, Open: Signed } }
    /// let window = windrow::SlidingWindow::<Pool>::builder().build()?;
    /// window.add(Pool::Used, 3);
    /// assert_eq!(window.lifetime(Pool::Used).count, 3);
    /// window.add(Pool::Open, 1);
    /// window.add(Pool::Open, -2);
    /// assert_eq!(window.sum(Pool::Open), -1);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    ///
    /// Values are not added but [recorded](Self::record):
    ///
    /// ```compile_fail,E0277
    /// # windrow::events! { enum Disk { Latency: Value } }
    /// # let window = windrow::SlidingWindow::<Disk>::builder().build()?;
    /// window.add(Disk::Latency, 250);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    #[doc(alias = "increment")]
    #[doc(alias = "fetch_add")]
    #[inline(always)]
    #[allow(clippy::inline_always)] // it is twenty instructions where the event is known
    pub fn add<K: CanAdd>(&self, event: Event<E, K>, n: K::Number) {
        self.put(cells_of(event), n.bits());
    }

    /// Adds or records a number, by an event's cells.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as `add`
    pub(crate) fn put(&self, cells: EventCells, number: u64) {
        let at = self.ring.clock().quick();
        match cells {
            EventCells::Same(cells) => Ring::add(self, at, cells, number),
            EventCells::ByPlace(places) => {
                Ring::record(self, at, places.of_number(number), number);
            }
        }
    }

    /// Records a value of a `Value`, `Histogram`, `Maximum` or `Minimum` event in the current
    /// bucket: a number, or a duration as its [nanoseconds](Recorded), in which the
    /// [stats](Self::stats) are then. A duration above 2^64 - 1 ns (584 years) is recorded as 2^64
    /// - 1 ns.
    ///
    /// Has the promises of [`add`](Self::add). A `Histogram` takes a few instructions more than a
    /// `Value`. A `Maximum` or `Minimum` writes nothing if this core has already recorded a value
    /// at least as extreme in the bucket. For another unit, record a number: `duration.as_micros()
    /// as u64`.
    ///
    /// ```
    /// # windrow::events! { enum Disk { Bytes: Value, Latency: Value } }
    /// let window = windrow::SlidingWindow::<Disk>::builder().build()?;
    /// window.record(Disk::Bytes, 250);
    /// assert_eq!(window.lifetime(Disk::Bytes).mean(), Some(250.0));
    /// window.record(Disk::Latency, std::time::Duration::from_secs(3_600));
    /// assert_eq!(window.lifetime(Disk::Latency).max, Some(3_600_000_000_000));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    ///
    /// A `Count` event takes no values: numbers are [added](Self::add) to it.
    ///
    /// ```compile_fail,E0277
    /// # windrow::events! { enum Http { Pass: Count } }
    /// # let window = windrow::SlidingWindow::<Http>::builder().build()?;
    /// window.record(Http::Pass, 1250);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    #[doc(alias = "record_duration")]
    #[doc(alias = "observe")]
    #[inline(always)]
    #[allow(clippy::inline_always)] // as `add`
    pub fn record<K: CanRecord>(&self, event: Event<E, K>, value: impl Recorded) {
        self.put(cells_of(event), value.number());
    }

    /// Starts a timer, which records its lifetime when it is dropped, in the then current bucket.
    ///
    /// ```
    /// # windrow::events! { enum Http { Rt: Histogram } }
    /// let window = windrow::SlidingWindow::<Http>::builder().build()?;
    /// {
    ///     let _timer = window.timer(Http::Rt);
    ///     // ... answers a request
    /// }
    /// assert_eq!(window.stats(Http::Rt).count, 1);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    #[doc(alias = "start_timer")]
    #[doc(alias = "observe_closure_duration")]
    pub fn timer<K: CanRecord>(&self, event: Event<E, K>) -> Timer<impl FnMut(Duration)> {
        Timer::new(move |elapsed| self.record(event, elapsed))
    }

    /// Adds `n`, wrapping, to a `Count` or `Signed` event in the bucket of `at`: for events that
    /// happened earlier, or are replayed.
    ///
    /// With `s` the start of a time's bucket, `s(now) - interval < s(at) <= s(now)` must hold. If
    /// the clock has stepped back, the bucket must also be in the [ring](#buckets); if the add
    /// would open it, within the [lead](WindowBuilder::max_lead).
    ///
    /// # Errors
    ///
    /// [`OutOfRangeError`] for any other bucket; then nothing is counted. While the geometry is
    /// being [changed](Self::reconfigure), a geometry that the window has during the call decides.
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
    pub fn add_at<K: CanAdd>(
        &self,
        at: Timestamp,
        event: Event<E, K>,
        n: K::Number,
    ) -> Result<(), OutOfRangeError> {
        self.put_at(at, cells_of(event), n.bits())
    }

    /// Records a value of an event in the bucket of `at`.
    ///
    /// # Errors
    /// Returns the errors of [`add_at`](Self::add_at).
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
    pub fn record_at<K: CanRecord>(
        &self,
        at: Timestamp,
        event: Event<E, K>,
        value: impl Recorded,
    ) -> Result<(), OutOfRangeError> {
        self.put_at(at, cells_of(event), value.number())
    }

    /// Adds or records a number in the bucket of `at`, by an event's cells.
    fn put_at(&self, at: Timestamp, cells: EventCells, number: u64) -> Result<(), OutOfRangeError> {
        let now = self.ring.clock().now();
        let cells = cells.of_number(number);
        let counted = self.ring.add_at(at.as_nanos(), now.as_nanos(), cells, number);
        counted.map_err(|outside| match outside {
            OutOfRing::Future => OutOfRangeError::AfterNow { at, now },
            OutOfRing::Expired { oldest } => {
                OutOfRangeError::BeforeRing { at, oldest: Timestamp::from_nanos(oldest) }
            }
            OutOfRing::Ahead { newest } => OutOfRangeError::BeyondLead {
                at,
                newest: Timestamp::from_nanos(newest),
                max_lead: Duration::from_nanos(self.ring.max_lead()),
            },
        })
    }

    /// Returns the strategy by which this window avoids contention between adds, and learns that a
    /// bucket's adds are over: the [process's](crate::diagnostics::strategy), or another one where
    /// the system lacks [what a window needs](crate::guide::where_it_runs).
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// let window = windrow::SlidingWindow::<Hits>::builder().build()?;
    /// println!("{:?}", window.strategy());
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn strategy(&self) -> Strategy {
        self.ring.strategy()
    }

    /// Returns the span that the window covers.
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

    /// Returns the number of buckets into which the interval is cut.
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
