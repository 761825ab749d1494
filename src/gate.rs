//! Rate limiters: [`Gate`] and [`RationedGate`] admit at most a limit in each interval.

use std::fmt::{self, Debug, Formatter};
use std::time::Duration;

use crate::clock::{Clock, Coarse};

// The interface.
mod admission;
mod builder;
mod change;
mod rationed;
mod reserve;
mod retire;
#[cfg(not(any(loom, shuttle)))]
mod static_gate;

// A decision.
mod decide;
mod first_permits;
mod head_sheet;
mod next_sheet;

// A sheet.
mod cells;
mod row;
mod sheet;
mod sheet_memory;
mod terms;

// What comes after a decision.
mod settle;
mod unused;

// Rations.
mod ration_refill;
mod rations;
mod stock;

pub use crate::turn::{RefusedError, Reservation};
pub use admission::Admission;
pub use builder::GateBuilder;
#[doc(hidden)]
pub use decide::admit_and_tell;
use first_permits::Permits;
pub use rationed::RationedGate;
#[doc(hidden)]
pub use stock::Stock;
use terms::Terms;
#[doc(hidden)]
pub use unused::leave_unused;

/// A rate limiter: admits at most `limit` in each interval, exactly, whatever threads ask at once.
///
/// ```
/// use std::time::Duration;
/// use windrow::{Gate, gate::Admission};
///
/// let gate = Gate::builder(100).interval(Duration::from_secs(1)).buckets(10).build()?;
/// if gate.try_admit(1) {
///     // ... answer the request
/// }
/// match gate.admit(1, Duration::from_millis(200)) {
///     Admission::Now => { /* ... */ }
///     Admission::After(wait) => std::thread::sleep(wait), // ... and then
///     Admission::Refused { retry_after } => println!("come back after {retry_after:?}"),
/// }
/// # Ok::<(), windrow::LimitError>(())
/// ```
///
/// One in a `static` is made by [`of`](Self::of) or [`strict`](Self::strict).
///
/// # What is promised
///
/// The interval is cut into equal buckets, whose starts are multiples of their length. Each grant
/// counts in one bucket: the current one, or the one in which its wait ends. **For each run of
/// consecutive buckets as long as the interval, the sum of the grants in them is at most the
/// limit**, at every moment, for any threads and any delays. One compare-exchange decides: there
/// is no moment between a check and a count.
///
/// The same holds for each span of time that is one bucket shorter than the interval. A span of a
/// whole interval touches one more bucket, and may hold up to twice the limit: the grants just
/// before an interval's first bucket ends, and those made as soon as these no longer count. For a
/// limit that holds in every span, build the gate [`strict`](GateBuilder::strict).
///
/// A refusal is exact too: at one moment of the call, by the time that the call has read, the
/// weight did not fit, neither now nor in any bucket that the wait would reach, behind all callers
/// that were already waiting. A gate does not hold back a part of its limit, and forgets no grant
/// too early.
///
/// # Time
///
/// The current bucket of a gate is the latest that the clock has shown to any call that asks for
/// what may fit, or changes the geometry. The *gate's time* is the clock's reading, but never
/// before the start of that bucket. So a clock that steps back makes a gate neither forget nor
/// grant twice: the gate's time stands still until the clock has caught up. All promises hold by
/// the gate's time and by the ends of waits.
///
/// A reading may be behind because the clock has stepped back, or because another thread was
/// faster. One rule holds for both: **the call comes at the start of the current bucket, and its
/// wait is counted from its reading.**
///
/// - The rest of the current bucket is granted at once. Then the gate refuses: it does not
///   overshoot.
/// - A wait, and the time to come back after, end when the clock shows the bucket. So they include
///   the time by which the clock is behind. The longest wait of the caller, and the interval, are
///   compared with the whole wait. ([`Admission`] has the part of a clock that ticks in steps.)
/// - A change of the geometry while the clock is behind moves the gate's time to the end of the
///   current bucket, since the clock may have shown any moment of it.
///
/// By the clock's readings, a grant while the clock is behind comes before the current bucket. In
/// real time it does not: on a clock that only steps back, the gate's time is never faster than
/// real time. A reading that leaps ahead by an hour holds the gate there for an hour.
///
/// # Cost and progress
///
/// A call never fails, panics, waits for another thread or takes a lock. (The caller waits by
/// itself: the gate returns the time.)
///
/// A gate begins with seven *permits*, each a word that says when it was last used. It allocates
/// *sheets* for its buckets when it needs more: for an eighth grant in an interval, a weight above
/// one, a reservation, another limit or geometry. So a gate of which little is asked, as one of
/// many, stays small.
///
/// | a call | costs |
/// |---|---|
/// | granted by a permit | the clock's reading, a load of each permit, one compare-exchange |
/// | refused by permits | the clock's reading and a load of each permit |
/// | refused once more in a bucket, in [`try_admit`](Self::try_admit) | the reading, a few loads |
/// | granted by sheets | the clock's reading, a few loads, one compare-exchange of a shared word |
/// | refused by sheets, in [`try_admit`](Self::try_admit) | the clock's reading and a few loads |
/// | refused by sheets, in [`admit`](Self::admit) | also a load for each bucket to leave first |
/// | that opens a bucket | 3 or 4 read-modify-writes, and up to 9 loads and stores a bucket |
///
/// A bucket is opened by the first call in it, or by the first call that reserves in it. One word
/// decides, so the grants of all threads go through one cache line: that is the price of an exact
/// limit. (A [`RationedGate`] gives up exact refusals instead.)
///
/// With 64-bit addresses a gate with permits takes 64 bytes. With sheets it takes 0.7 kilobytes
/// more, and 64 bytes for each bucket of its interval: 128 bytes, and four sheets, each of 128
/// bytes, 24 more and 16 for each bucket. They are allocated by the call that needs them, or when
/// the gate is [built](GateBuilder::preallocate), and kept until it is dropped; if there is no
/// memory for them then, the process ends, as with any allocation. Opening a bucket allocates
/// nothing, unless more than three threads do so at the same moment. For each further thread that
/// ever did, the gate keeps one more sheet, until it is dropped. So the memory of a gate that `T`
/// threads use is at most `T + 1` times 16 bytes for each bucket, and 0.3 kilobytes for each of the
/// `T`: with 600 buckets and 64 threads 0.65 megabytes, with 10 buckets 30 kilobytes. Take few
/// buckets where there are many gates. A gate whose callers have [given up](Self::reserve) keeps
/// their turns besides, in 1.5 to 23 kilobytes; until the last of these turns is over, a call that
/// does not fit looks at each [place](Reservation#what-is-given-back) as well.
///
/// A thread that is suspended in a call holds up no other.
///
/// Admission creates no happens-before edge between callers. A gate is not for signal handlers.
#[doc(alias = "rate limiter")]
#[doc(alias = "rate limit")]
#[doc(alias = "RateLimiter")]
#[doc(alias = "token bucket")]
#[doc(alias = "leaky bucket")]
#[doc(alias = "throttle")]
#[doc(alias = "governor")]
pub struct Gate<C = Coarse> {
    permits: Permits,
    clock: C,
}

impl Gate {
    /// Returns a builder of a rate limiter that admits at most `limit` per interval. The interval
    /// is one second in two buckets, on the [`Coarse`] clock, unless the builder is told otherwise.
    ///
    /// ```
    /// let gate = windrow::Gate::builder(2).build()?;
    /// assert_eq!((gate.limit(), gate.interval().as_secs(), gate.buckets()), (2, 1, 2));
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn builder(limit: u64) -> GateBuilder {
        GateBuilder::new(limit)
    }
}

impl<C> Gate<C> {
    fn terms(&self) -> Terms {
        self.permits.sheets().map_or_else(|| self.permits.terms(), |it| it.look().seen.terms)
    }
}

impl<C: Clock> Gate<C> {
    fn made_of(permits: Permits, clock: C) -> Gate<C> {
        Gate { permits, clock }
    }

    /// Grants `n` in the current bucket if that is within the limit; otherwise refuses, and counts
    /// nothing.
    ///
    /// A weight above the limit never fits, and a weight of zero always does. While other callers
    /// [wait](Self::admit) for a later bucket, nothing is granted in the buckets before that one,
    /// except what callers that have [given up](Self::reserve) leave to others.
    ///
    /// ```
    /// let gate = windrow::Gate::builder(3).clock(windrow::clock::Manual::default()).build()?;
    /// assert!(gate.try_admit(2));
    /// assert!(!gate.try_admit(2));
    /// assert!(gate.try_admit(1));
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    #[doc(alias = "try_acquire")]
    #[doc(alias = "check")]
    #[inline]
    #[must_use = "only the caller can turn a refused request away: an ignored answer limits nothing"]
    #[doc(alias = "allow")]
    pub fn try_admit(&self, n: u64) -> bool {
        self.quick(n).map_or_else(|_| self.try_out_of_line(n), |granted| granted.is_some())
    }

    /// Grants `n`, now or after a wait of at most `max_wait`; or refuses, counts nothing, and says
    /// when to come back.
    ///
    /// The call decides at once. [`Admission::After`] is a reservation: later callers cannot take
    /// it. The gate does not sleep; the caller does. The grant counts in the bucket in which the
    /// wait ends, even if the caller goes on later, or not at all. Later callers queue behind it:
    /// while any caller waits for a later bucket, nothing is granted in the buckets before that
    /// one, however small; except the turns of callers that have [given up](Self::reserve).
    ///
    /// No bucket is waited for that begins more than an interval after the clock's reading: such a
    /// wait is refused. A weight above the limit is refused too, and gets `retry_after: None`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Gate, clock::Manual, gate::Admission};
    ///
    /// let gate = Gate::builder(2).clock(Manual::default()).build()?; // 2/s, in two buckets
    /// assert_eq!(gate.admit(2, Duration::ZERO), Admission::Now);
    /// let second = Duration::from_secs(1);
    /// assert_eq!(gate.admit(1, Duration::ZERO), Admission::Refused { retry_after: Some(second) });
    /// assert_eq!(gate.admit(1, second), Admission::After(second));
    /// assert_eq!(gate.waiting(), 1);
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    #[doc(alias = "acquire")]
    #[doc(alias = "until_ready")]
    #[inline]
    pub fn admit(&self, n: u64, max_wait: Duration) -> Admission {
        match self.quick(n) {
            Ok(Some(_)) => Admission::Now,
            _ => self.decide_and_tell(n, max_wait).0,
        }
    }

    /// Returns the sum of the grants in the interval that ends with the current bucket. It is never
    /// above the limit, unless the limit was [lowered](Self::set_limit) since, or the
    /// [geometry](Self::reconfigure) has changed: a longer interval holds the grants of several
    /// shorter ones.
    ///
    /// The call walks the buckets, or the permits, and writes nothing. The sum is exact for one
    /// moment of the call.
    ///
    /// ```
    /// let gate = windrow::Gate::builder(3).build()?;
    /// assert!(gate.try_admit(2));
    /// assert_eq!(gate.granted(), 2);
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn granted(&self) -> u64 {
        self.count().granted
    }

    /// Returns the sum of the grants in buckets that have not begun yet: reservations, also of
    /// callers that have given up.
    ///
    /// Cost and consistency are those of [`granted`](Self::granted).
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Gate, clock::Manual};
    ///
    /// let clock = Manual::default();
    /// let gate = Gate::builder(2).clock(clock.clone()).build()?;
    /// assert!(gate.try_admit(2) && gate.admit(1, Duration::MAX).is_granted());
    /// assert_eq!((gate.granted(), gate.waiting()), (2, 1));
    /// clock.advance(Duration::from_secs(1));
    /// assert_eq!((gate.granted(), gate.waiting()), (1, 0));
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn waiting(&self) -> u64 {
        self.count().waiting
    }

    /// Returns the largest weight that would be granted now, without a wait: zero while other
    /// callers wait. It does not tell of turns whose callers have [given up](Self::reserve).
    ///
    /// Cost and consistency are those of [`granted`](Self::granted). It is *not* a reservation:
    /// other callers may come first.
    ///
    /// ```
    /// let gate = windrow::Gate::builder(3).build()?;
    /// assert!(gate.try_admit(2));
    /// assert_eq!(gate.left(), 1);
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn left(&self) -> u64 {
        self.count().left
    }

    /// Returns the limit per interval: zero if the gate is [retired](Self::retire).
    ///
    /// ```
    /// let gate = windrow::Gate::builder(2).build()?;
    /// assert_eq!(gate.limit(), 2);
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn limit(&self) -> u64 {
        self.terms().limit
    }

    /// Returns the interval for which the limit holds: a whole number of buckets.
    ///
    /// ```
    /// let gate = windrow::Gate::builder(2).build()?;
    /// assert_eq!(gate.interval(), std::time::Duration::from_secs(1));
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn interval(&self) -> Duration {
        let Terms { length, buckets, .. } = self.terms();
        Duration::from_nanos(length * buckets as u64)
    }

    /// Returns the number of buckets in the interval.
    ///
    /// ```
    /// let gate = windrow::Gate::builder(2).build()?;
    /// assert_eq!(gate.buckets(), 2);
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn buckets(&self) -> usize {
        self.terms().buckets
    }

    /// Returns whether the gate was built [strict](GateBuilder::strict): in each geometry it has a
    /// bucket more than was asked for. For `windrow-tower`, which changes gates that others built.
    #[doc(hidden)]
    pub fn is_strict(&self) -> bool {
        self.ledger().is_strict()
    }

    /// Returns the gate's clock.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Gate, clock::Manual};
    ///
    /// let gate = Gate::builder(1).clock(Manual::default()).build()?;
    /// assert!(gate.try_admit(1) && !gate.try_admit(1));
    /// gate.clock().advance(Duration::from_secs(1));
    /// assert!(gate.try_admit(1));
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn clock(&self) -> &C {
        &self.clock
    }
}

impl<C> Debug for Gate<C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Terms { length, buckets, limit } = self.terms();
        let interval = Duration::from_nanos(length * buckets as u64);
        f.debug_struct("Gate")
            .field("limit", &limit)
            .field("interval", &interval)
            .field("buckets", &buckets)
            .finish_non_exhaustive()
    }
}
