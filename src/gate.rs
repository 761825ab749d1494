//! Rate limiters: never more than a limit in any interval.

use std::fmt::{self, Debug, Formatter};
use std::time::Duration;

use crate::clock::{Clock, Coarse};
use crate::error::BuildError;
use crate::ring::Geometry;
use crate::timestamp::saturating_nanos;

mod admission;
mod builder;
mod cells;
mod decide;
#[cfg(not(any(loom, shuttle)))]
mod fixed;
mod ledger;
mod next;
mod rationed;
mod rations;
mod refill;
mod retire;
mod sheet;
mod sheets;
mod terms;

pub use crate::error::GateError;
pub use admission::Admission;
pub use builder::GateBuilder;
#[doc(hidden)]
pub use decide::admit_and_tell;
use ledger::Ledger;
use next::Next;
pub use rationed::RationedGate;
use terms::Terms;

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
/// # Ok::<(), windrow::gate::GateError>(())
/// ```
///
/// One in a `static` is made by [`of`](Self::of) or [`strict`](Self::strict).
///
/// # What is promised
///
/// The interval is cut into equal buckets, whose starts are multiples of their length. What is
/// granted counts in one bucket: that of now, or that in which a wait ends. **For each run of as
/// many buckets as the interval has, the sum of what is granted in them is at most the limit**, at
/// every moment, for any threads and any delays. It is decided by one compare-exchange: there is no
/// moment between a check and a count.
///
/// So it is with each span of time that is a bucket shorter than the interval. A span of a whole
/// interval touches one bucket more, and may hold up to twice the limit: what was granted at the
/// very end of one interval's first bucket, and what is granted at the beginning of the first
/// bucket in which that does not count. For a limit that holds in every span, build the gate
/// [`strict`](GateBuilder::strict).
///
/// A refusal is exact too: by the time that the call has read, at one moment of it what was asked
/// for did not fit, neither now nor in any bucket that the wait would reach, behind all who were
/// waiting already. A gate does not hold back a part of its limit, and forgets nothing before its
/// time.
///
/// # Time
///
/// A clock that steps back does not make a gate forget, nor grant twice: the gate's time stands
/// still at the latest bucket that any reading has shown to a call that changes the geometry, or
/// asks for what may fit, and what is granted meanwhile counts there. So for as long as the clock
/// is behind, or stands still, the gate grants what is left in that bucket, and then refuses: it
/// does not overshoot. A reading that leaps ahead by an hour holds the gate there for an hour.
///
/// # Cost and progress
///
/// A call never fails, panics, waits for another thread or takes a lock. (A wait is the caller's:
/// the gate says how long.)
///
/// | a call | costs |
/// |---|---|
/// | that is granted | the clock's reading, a few loads and one compare-exchange of a word that all threads share |
/// | that is refused, by [`try_admit`](Self::try_admit) | the clock's reading and a few loads: it writes nothing |
/// | that is refused, by [`admit`](Self::admit) | besides, a load for each bucket that is forgotten until it fits |
/// | that opens a bucket: the first in it, and the first that waits for it | three or four read-modify-writes, and up to nine loads and stores for each bucket of the interval |
///
/// One word decides, so grants of all threads go through one cache line: that is the price of an
/// exact limit, here as elsewhere. (A
/// [`RationedGate`] pays with exact refusals instead.)
///
/// With 64-bit addresses a gate takes 0.7 kilobytes, and 64 bytes for each bucket of its interval:
/// four sheets, each of 128 bytes, 24 more and 16 for each bucket. Opening a bucket allocates
/// nothing, unless more than three threads do so at the same moment. For each thread above three
/// that ever did, the gate keeps one sheet more, until it is dropped. So the memory of a gate that
/// `T` threads use is at most `T + 1` times 16 bytes for each bucket, and 0.3 kilobytes for each of
/// the `T`: with 600 buckets and 64 threads 0.65 megabytes, with 10 buckets 30 kilobytes. Take few
/// buckets where there are many gates. One in a static takes 128 bytes until its first use, and the
/// rest of its memory with the first buckets that it opens.
///
/// A thread that stands still in a call holds up no other.
///
/// A grant orders no other memory: two threads that were let through know nothing of each other. A
/// gate is not for signal handlers.
#[doc(alias = "rate limiter")]
#[doc(alias = "rate limit")]
#[doc(alias = "RateLimiter")]
#[doc(alias = "token bucket")]
#[doc(alias = "leaky bucket")]
#[doc(alias = "throttle")]
#[doc(alias = "governor")]
pub struct Gate<C = Coarse> {
    ledger: Ledger,
    clock: C,
}

impl Gate {
    /// A builder for a gate that grants so much in an interval. By default, that is one second in
    /// two buckets, on the
    /// [`Coarse`] clock.
    ///
    /// ```
    /// let gate = windrow::Gate::builder(2).build()?;
    /// assert_eq!((gate.limit(), gate.interval().as_secs(), gate.buckets()), (2, 1, 2));
    /// # Ok::<(), windrow::gate::GateError>(())
    /// ```
    pub fn builder(limit: u64) -> GateBuilder {
        GateBuilder::new(limit)
    }
}

impl<C: Clock> Gate<C> {
    fn made_of(ledger: Ledger, clock: C) -> Gate<C> {
        Gate { ledger, clock }
    }

    /// Grants `n` in the bucket of now, if that is within the limit; else refuses, and counts
    /// nothing.
    ///
    /// A weight of more than the limit never fits, and a weight of zero always does. While others
    /// [wait](Self::admit) for a later bucket, nothing is granted before their turn.
    ///
    /// ```
    /// let gate = windrow::Gate::builder(3).clock(windrow::clock::Manual::default()).build()?;
    /// assert!(gate.try_admit(2));
    /// assert!(!gate.try_admit(2));
    /// assert!(gate.try_admit(1));
    /// # Ok::<(), windrow::gate::GateError>(())
    /// ```
    #[doc(alias = "try_acquire")]
    #[doc(alias = "check")]
    #[inline]
    #[must_use = "only the caller can turn a refused request away: an ignored answer limits nothing"]
    pub fn try_admit(&self, n: u64) -> bool {
        self.quick(n).map_or_else(|_| self.decide(n, 0).0.is_granted(), |granted| granted.is_some())
    }

    /// Grants `n`, now or after a wait of at most `max_wait`; or refuses, counts nothing, and says
    /// when to come back.
    ///
    /// It decides at once. Who is told [`Admission::After`] has it, whoever comes later, and is to
    /// wait by itself: it counts in the bucket in which the wait ends, also if the caller goes on
    /// later, or not at all. Who comes later waits behind: while anybody waits for a later bucket,
    /// nothing is granted in those before it, however small.
    ///
    /// No wait is longer than the interval: what would have to wait longer is refused. So is a
    /// weight of more than the limit, and it is told never to come back.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Gate, clock::Manual, gate::Admission};
    ///
    /// let gate = Gate::builder(2).clock(Manual::default()).build()?; // two a second, in two buckets
    /// assert_eq!(gate.admit(2, Duration::ZERO), Admission::Now);
    /// let second = Duration::from_secs(1);
    /// assert_eq!(gate.admit(1, Duration::ZERO), Admission::Refused { retry_after: Some(second) });
    /// assert_eq!(gate.admit(1, second), Admission::After(second));
    /// assert_eq!(gate.waiting(), 1);
    /// # Ok::<(), windrow::gate::GateError>(())
    /// ```
    #[doc(alias = "acquire")]
    #[doc(alias = "until_ready")]
    #[inline]
    pub fn admit(&self, n: u64, max_wait: Duration) -> Admission {
        match self.quick(n) {
            Ok(Some(_)) => Admission::Now,
            _ => self.decide(n, saturating_nanos(max_wait)).0,
        }
    }

    /// What was granted in the interval that ends with the bucket of now. Never more than the
    /// limit, unless that was [lowered](Self::set_limit) since, or the
    /// [geometry](Self::reconfigure) has changed: a longer interval holds what was granted in
    /// several shorter ones.
    ///
    /// It walks the buckets, and writes nothing (but as the first use of a gate in a
    /// [static](Self::of)). It is what one moment of the call had granted.
    ///
    /// ```
    /// let gate = windrow::Gate::builder(3).build()?;
    /// assert!(gate.try_admit(2));
    /// assert_eq!(gate.granted(), 2);
    /// # Ok::<(), windrow::gate::GateError>(())
    /// ```
    pub fn granted(&self) -> u64 {
        self.count().granted
    }

    /// What was granted in buckets that have not begun yet.
    ///
    /// As [`granted`](Self::granted).
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
    /// # Ok::<(), windrow::gate::GateError>(())
    /// ```
    pub fn waiting(&self) -> u64 {
        self.count().waiting
    }

    /// How much would be granted now, without a wait: zero while others wait.
    ///
    /// As [`granted`](Self::granted). It is *not* kept for the caller: others may come first.
    ///
    /// ```
    /// let gate = windrow::Gate::builder(3).build()?;
    /// assert!(gate.try_admit(2));
    /// assert_eq!(gate.left(), 1);
    /// # Ok::<(), windrow::gate::GateError>(())
    /// ```
    pub fn left(&self) -> u64 {
        self.count().left
    }

    /// Changes the limit, while others ask.
    ///
    /// What is granted after this returns is within the new limit, together with all that was
    /// granted in its interval before. What was granted stays granted: after the limit was lowered,
    /// the gate refuses until enough of it has left the interval.
    ///
    /// It costs what opening a bucket does.
    ///
    /// # Errors
    ///
    /// [`GateError`] if the limit is zero or more than 2^40, or the gate is
    /// [retired](Self::retire); then it stays as it was.
    ///
    /// ```
    /// let gate = windrow::Gate::builder(2).clock(windrow::clock::Manual::default()).build()?;
    /// assert!(gate.try_admit(2));
    /// gate.set_limit(5)?;
    /// assert_eq!(gate.left(), 3);
    /// gate.set_limit(1)?;
    /// assert_eq!((gate.granted(), gate.left()), (2, 0));
    /// # Ok::<(), windrow::gate::GateError>(())
    /// ```
    pub fn set_limit(&self, limit: u64) -> Result<(), GateError> {
        loop {
            let head = self.ledger.look();
            let terms = head.seen.terms.unless_retired()?.with_limit(limit)?;
            let start = head.seen.start;
            if self.ledger.turn(&head, Next::at(start, terms)) {
                return Ok(());
            }
        }
    }

    /// Changes the interval and the number of buckets, while others ask.
    ///
    /// A gate that was built [`strict`](GateBuilder::strict) stays strict: it has one bucket of
    /// that length more.
    ///
    /// Each grant that the gate knows of counts on, as late as it can have been made:
    ///
    /// - A grant counts at the end of its bucket, or now. If others still wait since before the
    ///   previous change, it counts at the end of its bucket, or when the last of them goes on.
    /// - A wait counts where it ends. If that is within a bucket that the previous change made, it
    ///   counts at the end of that bucket, or when the last wait from before that change ends.
    /// - A gate knows two intervals before the end of the last wait. If the new interval is much
    ///   shorter than a wait, an older grant that still counts does so in the first bucket of
    ///   these.
    ///
    /// So a change forgets nothing too early. Where only the number of buckets changes, and no wait
    /// is longer than the new interval, it moves nothing; where the length changes, each grant may
    /// be forgotten up to one bucket later. (A clock that has stepped back within the current
    /// bucket is believed.)
    ///
    /// A gate whose interval becomes longer does not know what it has forgotten before: what is
    /// granted in the new interval is within the limit together with all that the gate still knew.
    ///
    /// It costs what opening a bucket does. Where more buckets are asked for than ever, each sheet
    /// that the gate keeps is given more memory when it is used next; what it had is kept until the
    /// gate is dropped.
    ///
    /// # Errors
    ///
    /// As [`GateBuilder::build`], or [`GateError::Retired`]; then the gate stays as it was. A clock
    /// that is too coarse for the new buckets is refused even if the builder
    /// [allowed](GateBuilder::allow_coarse_clock) it for the first ones.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Gate, clock::Manual};
    ///
    /// let clock = Manual::default();
    /// let gate = Gate::builder(2).clock(clock.clone()).build()?;
    /// assert!(gate.try_admit(2));
    /// gate.reconfigure(Duration::from_secs(60), 60)?;
    /// clock.advance(Duration::from_secs(59));
    /// assert_eq!((gate.buckets(), gate.granted()), (60, 2));
    /// # Ok::<(), windrow::gate::GateError>(())
    /// ```
    pub fn reconfigure(&self, interval: Duration, buckets: usize) -> Result<(), GateError> {
        let mut geometry = Geometry::new(interval, buckets)?;
        geometry.check_clock(&self.clock)?;
        if self.ledger.is_strict() {
            geometry = geometry.with_spare()?;
        }
        loop {
            let head = self.ledger.look();
            let terms = Terms::new(geometry, head.seen.terms.unless_retired()?.limit)?;
            if !self.ledger.has_room(terms.history()) {
                return Err(BuildError::TooManyBuckets { buckets }.into());
            }
            let now = self.ledger.time(self.clock.now().as_nanos());
            self.ledger.note(terms.start_of(now));
            let change = self.ledger.change(now, &head);
            let start = terms.start_of(change.used_by.max(head.seen.latest()));
            let next = Next { change: Some(change), ..Next::at(start, terms) };
            if self.ledger.turn(&head, next) {
                return Ok(());
            }
        }
    }

    /// How much is granted in an interval at most: zero if the gate is [retired](Self::retire).
    ///
    /// ```
    /// let gate = windrow::Gate::builder(2).build()?;
    /// assert_eq!(gate.limit(), 2);
    /// # Ok::<(), windrow::gate::GateError>(())
    /// ```
    pub fn limit(&self) -> u64 {
        self.ledger.look().seen.terms.limit
    }

    /// The span for which the limit holds, of whole buckets.
    ///
    /// ```
    /// let gate = windrow::Gate::builder(2).build()?;
    /// assert_eq!(gate.interval(), std::time::Duration::from_secs(1));
    /// # Ok::<(), windrow::gate::GateError>(())
    /// ```
    pub fn interval(&self) -> Duration {
        let Terms { length, buckets, .. } = self.ledger.look().seen.terms;
        Duration::from_nanos(length * buckets as u64)
    }

    /// How many buckets the interval is cut into.
    ///
    /// ```
    /// let gate = windrow::Gate::builder(2).build()?;
    /// assert_eq!(gate.buckets(), 2);
    /// # Ok::<(), windrow::gate::GateError>(())
    /// ```
    pub fn buckets(&self) -> usize {
        self.ledger.look().seen.terms.buckets
    }

    /// The length of a bucket.
    ///
    /// ```
    /// let gate = windrow::Gate::builder(2).build()?;
    /// assert_eq!(gate.bucket_length(), std::time::Duration::from_millis(500));
    /// # Ok::<(), windrow::gate::GateError>(())
    /// ```
    pub fn bucket_length(&self) -> Duration {
        Duration::from_nanos(self.ledger.look().seen.terms.length)
    }

    /// The gate's clock.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Gate, clock::Manual};
    ///
    /// let gate = Gate::builder(1).clock(Manual::default()).build()?;
    /// assert!(gate.try_admit(1) && !gate.try_admit(1));
    /// gate.clock().advance(Duration::from_secs(1));
    /// assert!(gate.try_admit(1));
    /// # Ok::<(), windrow::gate::GateError>(())
    /// ```
    pub fn clock(&self) -> &C {
        &self.clock
    }
}

impl<C> Debug for Gate<C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let seen = self.ledger.look().seen;
        let Terms { length, buckets, limit } = seen.terms;
        let interval = Duration::from_nanos(length * buckets as u64);
        f.debug_struct("Gate")
            .field("limit", &limit)
            .field("interval", &interval)
            .field("buckets", &buckets)
            .finish_non_exhaustive()
    }
}
