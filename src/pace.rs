//! Paces: [`Pace`] admits at most one call in each period, as a leaky bucket does; [`Paces`]
//! decides several limits at once.
//!
//! # The protocol
//!
//! This is the generic cell rate algorithm (GCRA). One word holds the **end** `e`: the time at
//! which all that was admitted would be over, if each unit of weight took a period `T`. A call of
//! weight `n` at time `t` moves the end, by one compare-exchange:
//!
//! ```text
//!    e' = max(e, t) + n T                the end behind this call
//!    due = max(t, e' - b T)              the call's moment: b, the burst, may come ahead
//!    admitted if due - t <= longest wait
//! ```
//!
//! # The theorem
//!
//! *In each span of `d` nanoseconds the calls whose moments lie in it weigh at most
//! `b + (d - 1) / T`, rounded down.*
//!
//! Take the calls of weight above zero that were admitted, in the order of their exchanges. For
//! each of them `e' - b T <= due <= e' - n T`: the first by the definition of `due`; the second
//! because `t <= e' - n T`, and `n <= b`. Let `j` be the first call of the span and `k` the last,
//! in that order. The end rises by `n T` at least in each call, so the weight `w` from `j` to `k`
//! has
//!
//! ```text
//!    w T <= e'(k) - (e'(j) - n(j) T) <= due(k) + b T - due(j) <= b T + d - 1
//! ```
//!
//! No step needs the clock to rise, or the calls to go on in the order of their exchanges.
//!
//! # Giving back
//!
//! A reservation knows the end that its call found, `e`, and the one that it made, `e'`. It is
//! given back by a compare-exchange from `e'` to `e`. *Then the word is as if the call had never
//! been.* Each call raises the end, and each giving back takes away what one call has raised. So
//! until a call is given back, the end is at `e'` or above, and it is `e'` only if all calls behind
//! it were given back. The exchange succeeds exactly then, and leaves the end of those before it.
//!
//! If there is a later call, the word stays as it was: the later call was told its moment, and does
//! not know of an earlier one. Then the turn goes to another call as it is
//! (`src/turn/vacancies.rs`). The theorem is of moments and weights, so it holds whichever caller
//! has them.
//!
//! All operations are Relaxed: each decision is one exchange of one word, and nothing else is
//! published by it. (A change of the terms is: `pace/change`, `pace/end`.)

use std::fmt::{self, Debug, Formatter};
use std::time::Duration;

#[cfg(not(any(loom, shuttle)))]
use crate::at_most::AtMost;
use crate::clock::{Clock, Coarse, quick_now};
#[cfg(not(any(loom, shuttle)))]
use crate::error::LimitError;
use crate::gate::Admission;
use crate::sync::Ordering;
use crate::timestamp::saturating_nanos;
#[doc(hidden)] // for `windrow-tower`
pub use crate::turn::Ticket;
pub use crate::turn::{RefusedError, Reservation};
use crate::turn::{Undo, told::until, vacancies::Vacancies};

mod answer;
mod builder;
mod change;
mod changed;
mod end;
mod retire;
mod settle;
mod several;
mod succession;
mod terms;

use answer::Answer;
pub use builder::PaceBuilder;
use end::{End, Meaning};
pub use several::{Paces, PacesBuilder, Quota};
#[doc(hidden)] // for `windrow-mapped`
pub use terms::Terms;

/// A leaky bucket: admits at most one call in each period, with a burst if wanted (GCRA).
///
/// A [`Gate`](crate::Gate) admits its whole limit at once if it is asked to, and then nothing until
/// a bucket leaves. A pace spreads calls evenly: to a database or a partner's interface that
/// permits 50 calls a second, and breaks down under 50 at once. A caller that has time is told the
/// wait for its turn; a [reservation](Self::reserve) that is dropped before its turn gives
/// it back.
///
/// ```
/// use std::time::Duration;
/// use windrow::{Pace, clock::Manual, gate::Admission};
///
/// let clock = Manual::default();
/// let period = Duration::from_millis(20);
/// let pace = Pace::builder(period).clock(clock.clone()).build()?;
/// let longest = Duration::from_millis(50);
/// assert_eq!(pace.admit(1, longest), Admission::Now);
/// assert_eq!(pace.admit(1, longest), Admission::After(period));
/// assert_eq!(pace.admit(1, longest), Admission::After(2 * period));
/// let retry_after = Some(3 * period); // more than the 50 ms that the caller would wait
/// assert_eq!(pace.admit(1, longest), Admission::Refused { retry_after });
/// # Ok::<(), windrow::LimitError>(())
/// ```
///
/// One in a `static` is made by [`of`](Self::of).
///
/// # What is promised
///
/// Let `T` be the period and `b` the burst, 1 by default. A call's *moment* is the time at which it
/// was admitted, or the end of its wait. **In each span of `d` nanoseconds, the calls whose moments
/// lie in it weigh at most `b + (d - 1) / T`**, rounded down, wherever it begins, for any threads
/// and any delays. With a burst of 1, no two moments are closer than `T`. A caller that goes on
/// later than at its moment comes closer to the next one: that is its own doing.
///
/// A refusal is exact too: the call's moment, behind all calls that were admitted, would be later
/// than its longest wait; and no turn that it may wait for, and that has its weight, is
/// [vacant](Reservation#what-is-given-back). Nothing is taken then.
///
/// # Time
///
/// The promise holds by the clock's readings, however they come: a clock that steps back, stands
/// still or leaps makes calls wait, and admits none too early. After a reading that leaps ahead by
/// an hour, and back again, calls wait for an hour. Time ends 2^63 nanoseconds after the clock's
/// origin, some 292 years: no call's periods go beyond.
///
/// # Cost and progress
///
/// A call costs the clock's reading, a load, and one compare-exchange; a refusal no exchange. (A
/// pace that was [changed](Self::set_rate) costs two compare-exchanges, and some loads.) It never
/// fails, panics, waits for another thread or takes a lock; only an exchange that another
/// call has won is repeated. (The caller waits by itself: the pace returns the time.) A pace is one
/// word, two numbers and a pointer, and allocates nothing, unless a caller gives up. Then it keeps
/// [vacant turns](Reservation#what-is-given-back), at which a call looks that would have to wait.
/// All threads write its word: that is the price of one order for all calls.
///
/// Admission creates no happens-before edge between callers.
#[doc(alias = "leaky bucket")]
#[doc(alias = "token bucket")]
#[doc(alias = "GCRA")]
#[doc(alias = "rate limiter")]
#[doc(alias = "RateLimiter")]
#[doc(alias = "throttle")]
#[doc(alias = "governor")]
pub struct Pace<C = Coarse> {
    /// Those with which it was built.
    end: End,
    clock: C,
    vacancies: Vacancies,
}

impl Pace {
    /// Returns a builder of a pace that admits one call in each `period`. The burst is 1, and the
    /// clock [`Coarse`], unless the builder is told otherwise.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let pace = windrow::Pace::builder(Duration::from_millis(200)).build()?;
    /// assert_eq!((pace.quota().refill, pace.quota().burst), (Duration::from_millis(200), 1));
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn builder(period: Duration) -> PaceBuilder {
        PaceBuilder::new(period)
    }

    /// Makes a pace that can stand in a `static`, on the [`Coarse`] clock.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{AtMost, Pace};
    ///
    /// static PARTNER: Pace = Pace::of(Duration::from_millis(50), AtMost(4));
    ///
    /// assert!(PARTNER.try_admit(1));
    /// ```
    ///
    /// # Panics
    ///
    /// The call panics where a [builder](Self::builder) would return an error, and if the burst's
    /// periods are shorter than 100 ms together. In a `static`, each of these is an error of the
    /// compiler:
    ///
    /// ```compile_fail,E0080
    /// use std::time::Duration;
    /// use windrow::{AtMost, Pace};
    ///
    /// static PARTNER: Pace = Pace::of(Duration::ZERO, AtMost(4));
    /// # assert!(PARTNER.try_admit(1));
    /// ```
    #[cfg(not(any(loom, shuttle)))]
    #[must_use]
    #[inline]
    pub const fn of(period: Duration, AtMost(burst): AtMost) -> Pace {
        let terms = match Terms::new(period, burst) {
            Ok(terms) => terms,
            Err(LimitError::ZeroPeriod) => panic!("the period is zero"),
            Err(LimitError::ZeroBurst) => panic!("the burst is zero"),
            Err(_) => panic!("the burst's periods are longer than 2^62 ns together"),
        };
        // As for a gate's buckets: ten ticks of a clock with a resolution of 10 ms.
        assert!(terms.is_for(10_000_000), "the burst's periods are shorter than 100 ms together");
        Pace { end: End::new(terms), clock: Coarse::NEW, vacancies: Vacancies::new() }
    }
}

impl<C: Clock> Pace<C> {
    fn made_of(terms: Terms, clock: C) -> Pace<C> {
        Pace { end: End::new(terms), clock, vacancies: Vacancies::new() }
    }

    /// Admits a call of weight `n` now if that is within the pace; otherwise takes nothing.
    ///
    /// A weight of `n` takes `n` periods. A weight above the burst never fits, and a weight of zero
    /// always does.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Pace, clock::Manual};
    ///
    /// let clock = Manual::default();
    /// let pace = Pace::builder(Duration::from_secs(1)).clock(clock.clone()).build()?;
    /// assert!(pace.try_admit(1));
    /// assert!(!pace.try_admit(1));
    /// clock.advance(Duration::from_secs(1));
    /// assert!(pace.try_admit(1));
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    #[inline]
    #[doc(alias = "try_acquire")]
    #[doc(alias = "check")]
    #[must_use = "only the caller can turn a refused request away: an ignored answer limits nothing"]
    pub fn try_admit(&self, n: u64) -> bool {
        self.take(n, 0).is_taken()
    }

    /// Admits a call of weight `n`, now or after a wait of at most `max_wait`; or refuses, takes
    /// nothing, and says when to come back.
    ///
    /// The call decides at once. [`Admission::After`] cannot be taken back: see
    /// [`reserve`](Self::reserve). No later call has an earlier moment, unless its reading of the
    /// clock is an earlier one, or it gets the turn of a caller that has given up.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Pace, clock::Manual, gate::Admission};
    ///
    /// let second = Duration::from_secs(1);
    /// let pace = Pace::builder(second).burst(3).clock(Manual::default()).build()?;
    /// assert_eq!(pace.admit(3, Duration::ZERO), Admission::Now);
    /// assert_eq!(pace.admit(2, Duration::MAX), Admission::After(2 * second));
    /// assert_eq!(pace.admit(4, Duration::MAX), Admission::Refused { retry_after: None });
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    #[inline]
    #[doc(alias = "acquire")]
    #[doc(alias = "until_ready")]
    pub fn admit(&self, n: u64, max_wait: Duration) -> Admission {
        self.take(n, saturating_nanos(max_wait)).admission(&self.clock)
    }

    /// Reserves a turn for a call of weight `n`, after a wait of at most `max_wait`. If the
    /// reservation is dropped before its turn, it is given back.
    ///
    /// The call is an [`admit`](Self::admit) for callers that may give up: a future that is dropped
    /// while it waits, a request that is cancelled. [`Reservation`] says what giving back can do.
    ///
    /// # Errors
    ///
    /// [`RefusedError`] if the wait would be longer, or the weight never fits. Nothing is taken
    /// then.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Pace, clock::Manual};
    ///
    /// let second = Duration::from_secs(1);
    /// let pace = Pace::builder(second).clock(Manual::default()).build()?;
    /// pace.reserve(1, Duration::ZERO)?.keep();
    /// let turn = pace.reserve(1, Duration::MAX)?;
    /// assert_eq!(turn.wait(), second); // sleep, and then `turn.keep()`
    /// drop(turn); // the caller has given up: the turn is free
    /// assert_eq!(pace.reserve(1, Duration::MAX)?.wait(), second);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn reserve(&self, n: u64, max_wait: Duration) -> Result<Reservation<'_, C>, RefusedError> {
        let answer = self.take(n, saturating_nanos(max_wait));
        answer.reservation(n, &self.clock, &self.end, &self.vacancies)
    }

    /// Decides about a call by what the end is, until no other call comes between.
    #[inline]
    fn take(&self, n: u64, max_wait: u64) -> Answer<'_> {
        let now = quick_now(&self.clock).as_nanos();
        if n == 0 {
            return Answer::Taken { now, due: now, undo: Undo::Nothing };
        }
        // Relaxed, as all below: see the top of this file. An older value can only refuse, as of
        // before something was given back. What was given back before this call is seen, by
        // coherence.
        let mut from = self.end.word().load(Ordering::Relaxed);
        loop {
            let Some((to, due)) = self.end.first.take(from, now, n) else {
                return self.take_changed(from, now, n, max_wait);
            };
            let (vacancies, clock) = (&self.vacancies, &self.clock);
            if let Some(other) = Answer::instead(vacancies, clock, (now, due), n, max_wait) {
                return other;
            }
            let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
            match self.end.word().compare_exchange_weak(from, to, order, failed) {
                Ok(_) => {
                    let undo = Undo::Word { word: self.end.word(), from, to };
                    return Answer::Taken { now, due, undo };
                }
                Err(newer) => from = newer,
            }
        }
    }

    /// Decides about a call that the first terms refuse for ever: by those to which they were
    /// changed, if they were.
    #[cold]
    fn take_changed(&self, word: u64, now: u64, n: u64, max_wait: u64) -> Answer<'_> {
        let Meaning::Changed(changed) = self.end.meaning(word) else {
            return Answer::Refused { wait: None };
        };
        loop {
            let found = changed.glance();
            let behind = found.state.terms.take(found.state.end, now, n);
            if behind.is_none_or(|(_, due)| due > now) && !changed.is_at(&found) {
                continue; // the words may be those of two calls
            }
            let Some((to, due)) = behind else { return Answer::Refused { wait: None } };
            let (vacancies, clock) = (&self.vacancies, &self.clock);
            if let Some(other) = Answer::instead(vacancies, clock, (now, due), n, max_wait) {
                return other;
            }
            if let Some(undo) = changed.take(&found, to) {
                return Answer::Taken { now, due, undo };
            }
        }
    }

    /// Returns the terms, and the end under them.
    fn state(&self) -> (Terms, u64) {
        match self.end.now() {
            Meaning::End(end) => (self.end.first, end),
            Meaning::Changed(changed) => {
                let state = changed.load().state;
                (state.terms, state.end)
            }
        }
    }

    /// Returns the largest weight that would be admitted now, without a wait. It is *not* a
    /// reservation: other callers may come first.
    ///
    /// Costs the clock's reading and a load.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Pace, clock::Manual};
    ///
    /// let pace = Pace::builder(Duration::from_secs(1)).burst(3).clock(Manual::default()).build()?;
    /// assert!(pace.try_admit(1));
    /// assert_eq!(pace.left(), 2);
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    #[inline]
    pub fn left(&self) -> u64 {
        let (now, (terms, end)) = (self.clock.now().as_nanos(), self.state());
        terms.left(end, now)
    }

    /// Returns the time after which the whole burst can be admitted at once, if no call comes until
    /// then; zero if it can be now. It has the clock's resolution more than the reading tells, as
    /// [`retry_after`](RefusedError::retry_after).
    ///
    /// Costs the clock's reading and a load.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Pace, clock::Manual};
    ///
    /// let pace = Pace::builder(Duration::from_secs(1)).burst(3).clock(Manual::default()).build()?;
    /// assert!(pace.try_admit(2));
    /// assert_eq!(pace.idle_after(), Duration::from_secs(2));
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn idle_after(&self) -> Duration {
        let (now, (_, end)) = (self.clock.now().as_nanos(), self.state());
        until(end, now, &self.clock)
    }

    /// Returns the burst, the time in which all of it comes back, and what is left of it, at one
    /// moment. The time is the burst's periods together.
    ///
    /// Costs the clock's reading and a load.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Pace, clock::Manual};
    ///
    /// let period = Duration::from_millis(200);
    /// let pace = Pace::builder(period).burst(3).clock(Manual::default()).build()?;
    /// assert!(pace.try_admit(2));
    /// let quota = pace.quota();
    /// assert_eq!((quota.burst, quota.refill, quota.left), (3, 3 * period, 1));
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    #[doc(alias = "period")]
    #[doc(alias = "burst")]
    pub fn quota(&self) -> Quota {
        let (now, (terms, end)) = (self.clock.now().as_nanos(), self.state());
        let (period, burst) = (terms.period(), terms.burst());
        let refill = Duration::from_nanos(period * burst); // at most 2^62
        Quota { burst, refill, left: terms.left(end, now) }
    }

    /// Returns the clock.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Pace, clock::Manual};
    ///
    /// let second = Duration::from_secs(1);
    /// let pace = Pace::builder(second).clock(Manual::default()).build()?;
    /// assert!(pace.try_admit(1) && !pace.try_admit(1));
    /// pace.clock().advance(second);
    /// assert!(pace.try_admit(1));
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn clock(&self) -> &C {
        &self.clock
    }
}

/// Shows the period, the burst, and what is left of it.
impl<C: Clock> Debug for Pace<C> {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let terms = self.state().0;
        let mut shown = f.debug_struct("Pace");
        shown.field("period", &Duration::from_nanos(terms.period()));
        shown.field("burst", &terms.burst()).field("left", &self.left()).finish()
    }
}
