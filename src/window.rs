//! A window: events are counted into it and read from it.

use std::marker::PhantomData;
use std::time::Duration;

use crate::clock::{Clock, Coarse};
use crate::error::OutOfRangeError;
use crate::event::cells::EventCells;
use crate::event::kinds::sealed::Number;
use crate::event::kinds::{CanAdd, CanRecord};
use crate::event::{Event, Events, cells_of};
use crate::recorded::Recorded;
use crate::ring::{OutOfRing, Ring, RingAndClock};
use crate::stripe::Strategy;
use crate::timer::Timer;
use crate::timestamp::Timestamp;
use crate::window::made::Made;

// In the order in which the documentation shows what a window offers.
mod builder;

mod change;
#[cfg(not(any(loom, shuttle)))]
mod fixed;

// Reading.
mod query;
mod snapshot;
mod totals;

mod rate;

mod distribution;

mod over;

mod series;

mod identity;
mod made;
mod moment;

// A log.
mod drain;

#[cfg(not(any(loom, shuttle)))]
mod close;
mod time;

pub use builder::WindowBuilder;
pub use moment::{Moment, Since};
pub use over::Over;
pub use snapshot::{BucketSnapshot, Snapshot};
pub use totals::Totals;

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
/// The interval is cut into equal buckets whose starts are multiples of their length: so windows on
/// one clock agree, whenever each was built. At time `t`, with `c` the start of `t`'s bucket,
/// exactly those buckets count whose start lies in `[c - interval + length, c]`.
///
/// The ring holds the newest bucket that was ever opened (since the last [`clear`](Self::clear)),
/// and those whose start lies less than an interval before it. Adds open buckets, and
/// reads do not: while no thread adds, time alone empties the window.
///
/// # Nothing is lost, nothing is counted twice
///
/// Every add is in exactly one bucket, the one that its timestamp names; or, if that bucket has
/// left the ring (or lies beyond the [lead](WindowBuilder::max_lead)), in [`late`](Self::late).
/// With no add running, [`lifetime`](Self::lifetime) is all that was ever added. When the clock
/// steps back, adds go into the older buckets as long as those are in the ring, and count in their
/// sums like any other add.
///
/// # Cost and progress
///
/// An add never fails, panics, waits for another thread or takes a lock. Its cost, with restartable
/// sequences (see [`strategy`](crate::diagnostics::strategy)) and without:
///
/// | an add | with sequences | without |
/// |---|---|---|
/// | to the live bucket: nearly every one | the clock's reading and some twenty plain instructions, which write a cache line of this core's own | the clock's reading and some twenty-five plain instructions, which write two cache lines of the thread's own |
/// | of a `Value` beyond all that its core has recorded in the bucket: the first one, then ever fewer | two sequences more, out of line | as any other |
/// | whose bucket is no longer the live one, or has no columns; or whose sequence was interrupted 32 times | some atomic read-modify-writes to lines that all cores share | the same |
/// | that opens a bucket: once a bucket | some microseconds, and *a system call* (`membarrier`) that closes the bucket before | the same, and a look at a word of each thread that has added |
///
/// This is where the system has such a call: Linux and Windows. Elsewhere, without sequences, each
/// add has a fence of its own, and none makes a call ([`Strategy::Fenced`]).
///
/// The system call takes microseconds by itself. But the kernel has one lock for the barriers of
/// all processes: others that ask for barriers all the time can make the call last as long as they
/// take turns. Beside 16 processes of idle priority that did nothing else, on two cores, one call
/// took 0.8 s. (The bench `barriers` measures this on your machine. In 12 s of it the slowest add
/// took 12 ms, whether adds or a ticker closed the buckets: the scheduler caused that.) So one
/// thread of a window at a time makes the call. It is not pinned and holds nothing that other
/// threads need. They do not wait for it: they add, open buckets and read as always. While the
/// blocks of four buckets are taken, new buckets count in cells that all cores share. If no add is
/// to make the call, have a [`Ticker`](crate::clock::Ticker) close the buckets:
/// [`close_on`](Self::close_on).
///
/// A window's memory grows as it is used: with 60 buckets of five events it takes two kilobytes
/// until the second bucket is opened, and sixteen when all of its ring was used. Buckets that have
/// left the ring are used again, so one that is added to now and then keeps as few as its ring
/// holds. Once the ring has been filled, opening a bucket allocates nothing, with five exceptions:
/// buckets without columns, and columns, if more are needed than ever before; values of new sizes,
/// of a [`Histogram`](crate::Kind::Histogram) event; the epochs' own lists, by
/// [`Strategy::Epochs`]; and a thread's first add without sequences, and its first pin (see
/// [Reading](#reading)).
///
/// A value is of a *new size* for a bucket's memory if that has never held one of the same sixteen
/// neighbouring cells of the scale. The memory then takes 256 bytes for these cells, when the
/// bucket is closed, and keeps them for all buckets that it is used for. So there is at most one
/// such allocation for each bucket that there is memory for, and each sixteen cells; and one more,
/// by an add, if adds came there other than through columns: back-dated ones, say.
///
/// (A window that needs more when the process has no memory left ends that, as any allocation
/// does.) The epochs are the library's own: what other crates of the process do with
/// `crossbeam-epoch` neither runs in its calls nor keeps its memory. A stalled thread costs others
/// speed, never counts. It keeps the memory of two buckets at most.
///
/// Adds are Release and reads are Acquire: a thread that counts an add sees what the add's thread
/// did before.
///
/// A window keeps two sets of cells for each bucket in the ring, and one to four sets of columns:
/// see the
/// [formula](crate::guide::design#memory). Do not add to a window in a signal handler.
pub struct SlidingWindow<E, C = Coarse> {
    ring: Made<C>,
    /// Of this set alone: a subtype of it may be another set, which has more cells.
    events: PhantomData<fn(E) -> E>,
}

impl<E, C: Clock> RingAndClock for SlidingWindow<E, C> {
    #[inline(always)]
    #[allow(clippy::inline_always)] // an address within it
    fn ring(&self) -> &Ring {
        &self.ring
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    fn by_id(&self) -> Option<&Ring> {
        self.ring.by_id()
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    fn portable(&self) -> Option<&Ring> {
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
}

impl<E: Events, C: Clock> SlidingWindow<E, C> {
    pub(crate) fn made_of(ring: Ring, clock: C, built: Timestamp) -> SlidingWindow<E, C> {
        SlidingWindow { ring: Made::of(ring, clock, built), events: PhantomData }
    }

    /// Adds `n`, wrapping, to a `Count` or `Signed` event in the bucket of the clock's now.
    ///
    /// Never fails, panics or waits. (Only the first use of a window in a [static](Self::of) may
    /// wait, for the thread that makes it.) If the clock has stepped back, that is an older bucket.
    /// If that bucket has left the ring, or is further ahead than a [lead](WindowBuilder::max_lead)
    /// that the builder was given, the add is counted as [`late`](Self::late).
    ///
    /// To a `Signed` event an `i64` is added, which may be less than zero. A window keeps by how
    /// much it has gone up or down in each bucket, and so in the interval. It does not say how high
    /// it stands: a [`Gauge`](crate::Gauge) does, and the [`lifetime`](Self::lifetime).
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
        Ring::add(self, self.ring.clock().quick(), cells.of_number(number), number);
    }

    /// Records a value of a `Value`, `Histogram`, `Maximum` or `Minimum` event in the bucket of the
    /// clock's now: a number, or a duration as its [nanoseconds](Recorded).
    ///
    /// As [`add`](Self::add). A `Histogram`'s takes a few instructions more than a `Value`'s, to
    /// find its cell. A value of a `Maximum` or `Minimum` event that does not lie beyond those that
    /// this core has recorded in the bucket writes nothing.
    ///
    /// A duration of more than 2^64 - 1 ns (584 years) is recorded as that many. The
    /// [stats](Self::stats) are in nanoseconds too. To record another unit, record a number:
    /// `window.record(event, duration.as_micros() as u64)`.
    ///
    /// ```
    /// # windrow::events! { enum Disk { Bytes: Value, Latency: Value } }
    /// use std::time::{Duration, Instant};
    ///
    /// let window = windrow::SlidingWindow::<Disk>::builder().build()?;
    /// let begun = Instant::now();
    /// // ... reads a block
    /// window.record(Disk::Bytes, 250);
    /// assert_eq!(window.lifetime(Disk::Bytes).mean(), Some(250.0));
    /// window.record(Disk::Latency, begun.elapsed());
    /// window.record(Disk::Latency, Duration::from_secs(3_600));
    /// assert_eq!(window.lifetime(Disk::Latency).max, Some(3_600_000_000_000));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    ///
    /// Nothing is recorded of a `Count`: numbers are [added](Self::add) to it.
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

    /// Starts a timer, which records how long it was there when it is dropped, in the bucket of
    /// that moment.
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
    pub fn timer<K: CanRecord>(&self, event: Event<E, K>) -> Timer<impl FnMut(Duration)> {
        Timer::new(move |elapsed| self.record(event, elapsed))
    }

    /// Adds `n`, wrapping, to a `Count` or `Signed` event in the bucket of `at`.
    ///
    /// For what happened earlier, or is replayed.
    ///
    /// The bucket of `at` must be the bucket of the clock's now, or count with it: with `s` the
    /// start of a time's bucket, `s(now) - interval < s(at) <= s(now)`. If the clock has stepped
    /// back, the bucket must also be in the [ring](#buckets). If it would be opened, it must lie
    /// within the [lead](WindowBuilder::max_lead).
    ///
    /// # Errors
    ///
    /// [`OutOfRangeError`] if it is not; then nothing is counted. While the geometry is being
    /// [changed](Self::reconfigure), a geometry that the window has during the call decides.
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
    ///
    /// As [`add_at`](Self::add_at).
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

    /// How this window's adds are kept from meeting, and how it knows that the adds to a bucket are
    /// over.
    ///
    /// [That of the process](crate::diagnostics::strategy), or another where the system does not
    /// offer all that a window needs: a window without restartable sequences may stand beside
    /// counters with them.
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

    /// Returns whether each core adds to cells of its own in the newest bucket. False before the
    /// first add; and as long as a bucket is the newest that has found no room for columns
    /// ([`columns`](crate::diagnostics::columns)), or all blocks of columns held up by threads that
    /// stand still: then all threads add to the bucket's shared cells, as exactly, and contend.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// let window = windrow::SlidingWindow::<Hits>::builder().build()?;
    /// window.add(Hits::Hit, 1);
    /// assert!(window.is_striped());
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn is_striped(&self) -> bool {
        self.ring.is_striped()
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

    /// Returns the length of a bucket: the interval divided by the number of buckets, in whole
    /// nanoseconds.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// let window = windrow::SlidingWindow::<Hits>::builder().build()?;
    /// assert_eq!(window.bucket_length(), std::time::Duration::from_millis(500));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn bucket_length(&self) -> Duration {
        Duration::from_nanos(self.ring.geometry().length())
    }
}
