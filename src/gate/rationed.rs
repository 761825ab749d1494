//! A rate limiter for rates at which one shared atomic becomes the bottleneck.

use std::fmt::{self, Debug, Formatter};
use std::time::Duration;

use crate::clock::{Clock, Coarse};
use crate::gate::Gate;
use crate::gate::admission::Admission;
use crate::gate::rations::Rations;
use crate::stripe::ration::{Ration, Untaken};
use crate::stripe::strategy;
use crate::sync::const_fn;
use crate::turn::{RefusedError, Reservation};

/// A rate limiter for millions of requests a second: a [`Gate`] that gives each core a *ration* in
/// advance, for rates at which one shared atomic becomes the bottleneck.
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
/// # Ok::<(), windrow::LimitError>(())
/// ```
///
/// The gate grants a ration in the current bucket, up to `max_ration` at a time: what the gate was
/// [built](crate::gate::GateBuilder::build_rationed) with. A call takes its weight out of this
/// core's ration (in the portable strategy: out of the ration of the row that the thread has
/// leased), by one plain store. When the ration is used up, or its bucket has ended, the gate
/// grants the next one.
///
/// # What is promised
///
/// *Never over*: the gate has granted everything that a call takes, and counts it in the bucket of
/// its ration. So the gate's [promises](Gate#what-is-promised) about grants hold for admissions
/// here: for each run of buckets, and, if the gate is [strict](crate::gate::GateBuilder::strict),
/// in every span of time.
///
/// *Seldom short*: a refusal is not exact. The gate refuses what does not fit beside all grants,
/// and parts of those may lie unused in other rows: at most `max_ration` in
/// each of the other open rows, and the same for each thread that is refilling one at that moment.
/// So with `R` open rows up to `max_ration * (R - 1)` of the limit may stay unused in an interval.
/// (The number of open rows is the largest number of threads that ever ran at once;
/// [`strategy`](crate::diagnostics::strategy) says more.) Near the limit rations are smaller: never
/// more than `1 / (2 R)` of what is left. What still lies in a row when its bucket has ended
/// returns to the gate with the next call on that row, and can be granted again. In a row on which
/// no thread calls any more it counts until the bucket leaves the interval. The unused content of a
/// row during a [change of the geometry](Gate::reconfigure) counts as long, too.
///
/// While other callers [wait](Gate::admit), the content of rations is still admitted.
///
/// # Time
///
/// A ration is used until its bucket ends, according to the caller's clock, and counts in that
/// bucket. If the clock steps back, the ration is used until it is empty: also one of a bucket
/// before the gate's current one, if the clock has stepped back to that. Then the gate
/// [decides](Gate#time), and tells waits.
///
/// # Cost and progress
///
/// Those of a [`Gate`], and:
///
/// | a call | costs |
/// |---|---|
/// | that finds enough in the ration | the clock's reading, and a plain add to this core's cell |
/// | that refills it | two of these, and a grant of the gate |
/// | that finds a rest of an ended bucket | also the opening of a bucket |
/// | by a thread without a row of its own | a call of the gate |
/// | with a weight above `max_ration` | a call of the gate; if that refuses, also a refill |
///
/// The first call of a row in a bucket refills its ration. A call that finds the ration used up
/// refills it, too.
///
/// It takes 16 bytes in each row that its threads have used, besides the gate. If no columns were
/// free ([`columns`](crate::diagnostics::columns)) when it was made, or first used in a
/// [static](Self::of), there are no rations, and each call asks the [gate](Self::gate).
///
/// Admission creates no happens-before edge between callers. It is not for signal handlers.
#[doc(alias = "rate limiter")]
#[doc(alias = "rate limit")]
#[doc(alias = "RateLimiter")]
#[doc(alias = "token bucket")]
pub struct RationedGate<C = Coarse> {
    gate: Gate<C>,
    rations: Rations,
    max_ration: u64,
}

impl<C> RationedGate<C> {
    const_fn! {
        /// Wraps a gate that was made for rations.
        pub(super) const fn at_first_use(gate: Gate<C>, max_ration: u64) -> RationedGate<C> {
            RationedGate { gate, rations: Rations::new(), max_ration }
        }
    }
}

impl<C: Clock> RationedGate<C> {
    pub(super) fn new(gate: Gate<C>, max_ration: u64) -> RationedGate<C> {
        strategy(); // is decided, so that it has columns, or none, from the beginning
        let rationed = RationedGate::at_first_use(gate, max_ration);
        rationed.rations.claim();
        rationed
    }

    /// Admits `n` now if that is within the limit; otherwise refuses, and counts nothing.
    ///
    /// The call works as [`Gate::try_admit`], except that a refusal is [not
    /// exact](Self#what-is-promised).
    ///
    /// ```
    /// let gate = windrow::Gate::builder(3).build_rationed(2)?;
    /// assert!(gate.try_admit(2));
    /// assert!(!gate.try_admit(2));
    /// # Ok::<(), windrow::LimitError>(())
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

    /// Admits `n`, now or after a wait of at most `max_wait`; or refuses, counts nothing, and says
    /// when to come back.
    ///
    /// The call looks at the ration first. A grant with a wait comes from the gate: see
    /// [`Gate::admit`].
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Gate, clock::Manual, gate::Admission};
    ///
    /// let gate = Gate::builder(100).clock(Manual::default()).build_rationed(10)?; // 100/s
    /// assert_eq!(gate.admit(1, Duration::ZERO), Admission::Now);
    /// let second = Duration::from_secs(1);
    /// assert_eq!(gate.admit(100, second), Admission::After(second));
    /// # Ok::<(), windrow::LimitError>(())
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

    /// Reserves a turn for a call of weight `n`, as [`Gate::reserve`]: it can be given back, and
    /// [settled](Reservation::settle).
    ///
    /// The [gate](Self::gate) decides alone, and the call takes nothing from rations. So what lies
    /// unused in them counts as used for it, also in this core's: where most calls reserve, take a
    /// [`Gate`]. While the gate owes what was charged, it grants no ration, and those that it has
    /// granted are used up.
    ///
    /// # Errors
    ///
    /// Those of [`Gate::reserve`].
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Gate, clock::Manual};
    ///
    /// let gate = Gate::builder(100).clock(Manual::default()).build_rationed(10)?; // 100/s
    /// gate.reserve(80, Duration::ZERO)?.settle(30);
    /// assert_eq!(gate.gate().granted(), 30);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reserve(&self, n: u64, max_wait: Duration) -> Result<Reservation<'_, C>, RefusedError> {
        self.gate.reserve(n, max_wait)
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // no call on the path of a grant
    fn quick(&self, n: u64) -> Result<(), Untaken> {
        self.rations.take(self.gate.clock.quick().as_nanos(), n)
    }

    // (Out of line, so that a grant saves no registers.)
    #[cold]
    #[inline(never)]
    fn try_slowly(&self, n: u64, why: Untaken) -> bool {
        match self.take_apart(n, why) {
            Ok(()) => true,
            Err(why) if self.refuses(n, why) => false,
            Err(_) => self.refill(n) || self.gate.try_admit(n),
        }
    }

    #[cold]
    #[inline(never)]
    fn admit_slowly(&self, n: u64, max_wait: Duration, why: Untaken) -> Admission {
        match self.take_apart(n, why) {
            Ok(()) => Admission::Now,
            Err(why) if !self.refuses(n, why) && self.refill(n) => Admission::Now,
            Err(_) => self.gate.admit(n, max_wait),
        }
    }

    /// Takes as [`quick`](Self::quick) where per-core adds are not in line; otherwise returns why
    /// that took nothing.
    fn take_apart(&self, n: u64, why: Untaken) -> Result<(), Untaken> {
        if why == Untaken::Short {
            return Err(why);
        }
        self.rations.take_apart(self.gate.clock.quick().as_nanos(), n)
    }

    /// Returns whether both the row and the gate have nothing left. So a refusal costs no more than
    /// two looks.
    fn refuses(&self, n: u64, why: Untaken) -> bool {
        n == 1 && why == Untaken::Short && self.gate.refuses(n)
    }

    /// Grants `n` and a new ration if the gate has enough for this row. If not, the caller asks the
    /// gate for `n` alone.
    fn refill(&self, n: u64) -> bool {
        // More than a ration: the row's own is used only if the gate has too little.
        if n > self.max_ration && self.gate.try_admit(n) {
            return true;
        }
        let Some(ration) = self.rations.swap(Ration::NONE) else { return false };
        let (is_granted, rest) = self.gate.refill(n, self.max_ration, ration);
        if !rest.is_none() {
            self.gate.give_back(self.rations.swap(rest).unwrap_or(rest));
        }
        is_granted
    }

    /// Returns the underlying gate, for statistics and for changing limit and geometry.
    ///
    /// Calls of the gate itself take nothing from rations, and are exact.
    ///
    /// - [`granted`](Gate::granted) is the sum of all rations, used or not; [`left`](Gate::left) is
    ///   what the gate may still grant.
    /// - After [`set_limit`](Gate::set_limit), existing rations are used up: they were granted
    ///   before. No more is granted beyond the new limit.
    /// - After [`reconfigure`](Gate::reconfigure), they are used up too. So the change takes effect
    ///   at the end of the last bucket that was opened: if the length of buckets changes, only the
    ///   content of rations is admitted until then. It is not given back to the gate.
    ///
    /// ```
    /// let clock = windrow::clock::Manual::default();
    /// let gate = windrow::Gate::builder(100).clock(clock).build_rationed(10)?;
    /// assert!(gate.try_admit(1));
    /// assert_eq!(gate.gate().granted(), 1 + gate.unused());
    /// gate.gate().set_limit(200)?;
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn gate(&self) -> &Gate<C> {
        &self.gate
    }
}

impl<C> RationedGate<C> {
    /// Returns the unused sum of all rations, including those whose bucket has ended.
    ///
    /// The call reads each open row, and writes nothing. Not a snapshot: other threads take and
    /// refill meanwhile. Use it to see the part of the limit that lies idle in rations.
    ///
    /// ```
    /// let gate = windrow::Gate::builder(100).build_rationed(10)?;
    /// assert!(gate.try_admit(1));
    /// assert!(gate.unused() <= 9);
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn unused(&self) -> u64 {
        self.rations.left()
    }
}

impl<C> Debug for RationedGate<C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("RationedGate")
            .field("gate", &self.gate)
            .field("max_ration", &self.max_ration)
            .field("unused", &self.unused())
            .finish_non_exhaustive()
    }
}
