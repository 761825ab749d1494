//! A gate for more than one shared word can count.

use std::fmt::{self, Debug, Formatter};
use std::time::Duration;

use crate::clock::{Clock, Coarse};
use crate::gate::Gate;
use crate::gate::admission::Admission;
use crate::gate::rations::Rations;
use crate::stripe::ration::{Ration, Untaken};
use crate::stripe::strategy;
use crate::sync::const_fn;

/// A rate limiter for millions of requests: a [`Gate`] that gives each core a *ration* in advance,
/// where the one word that all threads share is too hot.
///
/// ```
/// use std::time::Duration;
/// use windrow::Gate;
///
/// let gate = Gate::builder(5_000_000)
///     .interval(Duration::from_secs(1))
///     .buckets(10)
///     .build_rationed(1_000)?;
/// if gate.try_admit(1) {
///     // ... answer the request
/// }
/// # Ok::<(), windrow::gate::GateError>(())
/// ```
///
/// A ration is granted by the gate, in the current bucket, up to so much at a time. What is asked
/// for is taken out of this core's ration (portably: out of that of the row that the thread has
/// leased), by one plain store. When that is used up, or its bucket has ended, the gate grants the
/// next.
///
/// # What is promised
///
/// *Never over*: all that is taken was granted before by the gate, and counts there in the bucket
/// of its ration. So what the gate [promises](Gate#what-is-promised) of what is granted, it
/// promises of what is let through here; for each run of buckets, and, if it is
/// [strict](crate::gate::GateBuilder::strict), in every span of time.
///
/// *Seldom short*: a refusal is not exact. The gate refuses what does not fit beside all that was
/// granted, and other rows may have something left of that: in each of the other open rows at most
/// [`max_ration`](Self::max_ration), and as much for each thread that is refilling one at that
/// moment. So with `R` open rows up to `most * (R - 1)` of the limit may not be used in an
/// interval. (There are as many open rows as threads have ever run at once;
/// [`strategy`](crate::diagnostics::strategy) says more.) Near the limit rations are smaller: never
/// more than `1 / (2 R)` of what is left. What still lies in a row when its bucket has ended goes
/// back to the gate at the next call on that row, and can be granted again. In a row on which no
/// thread calls any more it stays counted until the bucket leaves. So does what lies in rows while
/// the [geometry changes](Gate::reconfigure), if it is not used.
///
/// While others [wait](Gate::admit), what is left in rations is still let through.
///
/// # Time
///
/// A ration is used until its bucket ends, by the clock of who asks; so, if that steps back, until
/// it is used up, and then the gate [decides](Gate#time).
///
/// # Cost and progress
///
/// As of a [`Gate`], and besides:
///
/// | a call | costs |
/// |---|---|
/// | that finds enough in the ration | the clock's reading and a plain add to a cell of this core: as [`Counter::add`](crate::Counter::add) |
/// | that refills it: at the beginning of a bucket, and once for each `most` | two of these, and what a grant of the gate costs |
/// | that finds something of an ended bucket | and what opening a bucket does |
/// | by a thread without a row of its own | as at the gate |
/// | of more than `most` | as at the gate; if that has not so much alone, also as a refill, with what is in this row |
///
/// It takes 16 bytes in each row that its threads have used, besides the gate.
///
/// Two threads that were let through know nothing of each other. It is not for signal handlers.
#[doc(alias = "rate limiter")]
#[doc(alias = "rate limit")]
#[doc(alias = "RateLimiter")]
#[doc(alias = "token bucket")]
pub struct RationedGate<C = Coarse> {
    gate: Gate<C>,
    rations: Rations,
    most: u64,
}

impl<C> RationedGate<C> {
    const_fn! {
        /// Of a gate that knows of its rations.
        pub(super) const fn at_first_use(gate: Gate<C>, most: u64) -> RationedGate<C> {
            RationedGate { gate, rations: Rations::new(), most }
        }
    }
}

impl<C: Clock> RationedGate<C> {
    pub(super) fn new(gate: Gate<C>, most: u64) -> RationedGate<C> {
        strategy(); // is decided, so that it has columns, or none, from the beginning
        let rationed = RationedGate::at_first_use(gate, most);
        rationed.rations.claim();
        rationed
    }

    /// Lets `n` through now, if that is within the limit; else refuses, and counts nothing.
    ///
    /// As [`Gate::try_admit`], but that a refusal is [not exact](Self#what-is-promised).
    ///
    /// ```
    /// let gate = windrow::Gate::builder(3).build_rationed(2)?;
    /// assert!(gate.try_admit(2));
    /// assert!(!gate.try_admit(2));
    /// # Ok::<(), windrow::gate::GateError>(())
    /// ```
    #[doc(alias = "try_acquire")]
    #[doc(alias = "check")]
    #[inline]
    #[must_use = "only the caller can turn a refused request away: an ignored answer limits nothing"]
    pub fn try_admit(&self, n: u64) -> bool {
        match self.quick(n) {
            Ok(()) => true,
            Err(why) => self.try_slowly(n, why),
        }
    }

    /// Lets `n` through, now or after a wait of at most `max_wait`; or refuses, counts nothing, and
    /// says when to come back.
    ///
    /// It looks at the ration first. What is waited for the gate grants by itself: see
    /// [`Gate::admit`].
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Gate, clock::Manual, gate::Admission};
    ///
    /// let gate = Gate::builder(100).clock(Manual::default()).build_rationed(10)?; // a hundred a second
    /// assert_eq!(gate.admit(1, Duration::ZERO), Admission::Now);
    /// let second = Duration::from_secs(1);
    /// assert_eq!(gate.admit(100, second), Admission::After(second));
    /// # Ok::<(), windrow::gate::GateError>(())
    /// ```
    #[doc(alias = "acquire")]
    #[doc(alias = "until_ready")]
    #[inline]
    pub fn admit(&self, n: u64, max_wait: Duration) -> Admission {
        match self.quick(n) {
            Ok(()) => Admission::Now,
            Err(why) => self.admit_slowly(n, max_wait, why),
        }
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // no call on the path of a grant
    fn quick(&self, n: u64) -> Result<(), Untaken> {
        self.rations.take(self.gate.clock.quick().as_nanos(), n)
    }

    // (A call away, all of it: else registers are saved by each grant.)
    #[cold]
    #[inline(never)]
    fn try_slowly(&self, n: u64, why: Untaken) -> bool {
        match self.take_by_processor(n, why) {
            Ok(()) => true,
            Err(why) if self.refuses(n, why) => false,
            Err(_) => self.refill(n) || self.gate.try_admit(n),
        }
    }

    #[cold]
    #[inline(never)]
    fn admit_slowly(&self, n: u64, max_wait: Duration, why: Untaken) -> Admission {
        match self.take_by_processor(n, why) {
            Ok(()) => Admission::Now,
            Err(why) if !self.refuses(n, why) && self.refill(n) => Admission::Now,
            Err(_) => self.gate.admit(n, max_wait),
        }
    }

    /// As [`quick`](Self::quick), where rows are told apart by the processor's number; else it says
    /// why that took nothing.
    fn take_by_processor(&self, n: u64, why: Untaken) -> Result<(), Untaken> {
        if why == Untaken::Short {
            return Err(why);
        }
        self.rations.take_by_processor(self.gate.clock.quick().as_nanos(), n)
    }

    /// Whether the row has nothing, and the gate has nothing for it. So a refusal costs no more
    /// than two looks.
    fn refuses(&self, n: u64, why: Untaken) -> bool {
        n == 1 && why == Untaken::Short && self.gate.refuses(n)
    }

    /// Grants `n` and a new ration, if the gate has so much for this row. If not, the gate is to be
    /// asked for `n` alone.
    fn refill(&self, n: u64) -> bool {
        // More than a ration: of the row's own only where the gate has not so much.
        if n > self.most && self.gate.try_admit(n) {
            return true;
        }
        let Some(ration) = self.rations.swap(Ration::NONE) else { return false };
        let (is_granted, rest) = self.gate.refill(n, self.most, ration);
        if !rest.is_none() {
            self.gate.give_back(self.rations.swap(rest).unwrap_or(rest));
        }
        is_granted
    }

    /// The gate that grants rations. It is asked for how much was granted; and its limit, interval
    /// and buckets are changed there.
    ///
    /// What it grants when it is asked itself is beside all rations, and exact.
    ///
    /// - [`granted`](Gate::granted) is what was granted to rations, used or not; [`left`](Gate::left) is what may still be.
    /// - After [`set_limit`](Gate::set_limit), rations are used until they are over: they were granted before. Nothing more is granted beyond the new limit.
    /// - After [`reconfigure`](Gate::reconfigure) they are, too. So it is as if the change came at
    ///   the end of the last bucket that was opened: to buckets of another length, until then only
    ///   what is in rations is let through. What was in rations is not given back.
    ///
    /// ```
    /// let clock = windrow::clock::Manual::default();
    /// let gate = windrow::Gate::builder(100).clock(clock).build_rationed(10)?;
    /// assert!(gate.try_admit(1));
    /// assert_eq!(gate.gate().granted(), 1 + gate.unused());
    /// gate.gate().set_limit(200)?;
    /// # Ok::<(), windrow::gate::GateError>(())
    /// ```
    pub fn gate(&self) -> &Gate<C> {
        &self.gate
    }

    /// How much is granted to one ration at most.
    ///
    /// ```
    /// let gate = windrow::Gate::builder(100).build_rationed(10)?;
    /// assert_eq!(gate.max_ration(), 10);
    /// # Ok::<(), windrow::gate::GateError>(())
    /// ```
    pub fn max_ration(&self) -> u64 {
        self.most
    }
}

impl<C> RationedGate<C> {
    /// What lies unused in rations, also in those whose bucket has ended.
    ///
    /// It reads each open row, and writes nothing. While others ask it is a number of no one
    /// moment. Of no use but to know how short the gate is.
    ///
    /// ```
    /// let gate = windrow::Gate::builder(100).build_rationed(10)?;
    /// assert!(gate.try_admit(1));
    /// assert!(gate.unused() <= 9);
    /// # Ok::<(), windrow::gate::GateError>(())
    /// ```
    pub fn unused(&self) -> u64 {
        self.rations.left()
    }

    /// Returns whether each core has a ration. False if there was no room for columns
    /// ([`columns`](crate::diagnostics::columns)) when the gate was made: then each call asks the
    /// [gate](Self::gate). False before the first call on one in a [static](Self::of).
    ///
    /// ```
    /// let gate = windrow::Gate::builder(100).build_rationed(10)?;
    /// assert!(gate.is_striped());
    /// # Ok::<(), windrow::gate::GateError>(())
    /// ```
    pub fn is_striped(&self) -> bool {
        self.rations.are_there()
    }
}

impl<C> Debug for RationedGate<C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("RationedGate")
            .field("gate", &self.gate)
            .field("most", &self.most)
            .field("unused", &self.unused())
            .finish_non_exhaustive()
    }
}
