//! Several limits, decided at once.
//!
//! # The protocol
//!
//! Each limit is a [`Pace`](crate::Pace) with an end of its own, and all ends are one
//! [value](crate::wide) of several words. A call computes the end behind it for each limit, and is
//! admitted if the last of their moments is not too late: by one exchange of all ends. So either
//! every limit admits the call, or no limit has anything of it. A period need not be a whole number
//! of nanoseconds: an end has parts of one, so nothing is rounded but the moment, up.
//!
//! # The theorem
//!
//! *In each span of `d` nanoseconds the calls whose moments lie in it weigh, for each limit of
//! period `T` and burst `b`, at most `b + d / T`.* Let `e(i)` be the end of limit `i` behind a
//! call. A call's moment is the latest of the clock's time and the `e(i) - b(i) T(i)`. Take limit
//! 1, the first call `j` of the span and its last one, `k`, in the order of exchanges. As for one
//! pace, `e(k) - b T <= due(k)`, and `e` rises by `n T` at least in each call; what remains is
//! `due(j) <= e(j) - n(j) T`, or a bound for it.
//!
//! * If `j` does not wait: `due(j)` is the time, which is at most `e(j) - n(j) T`.
//! * If it waits for a limit `m` with `T(m) < T`: the end of limit `m` was last behind the time
//!   when a call came at `t`, and since then it has risen by `W T(m)`, where `W` is the weight from
//!   that call to `j`. The end of limit 1 has risen from `t`, or a later time, by `W T` at least.
//!   So `due(j) <= e(m) - n(j) T(m) = t + (W - n(j)) T(m) <= t + (W - n(j)) T <= e(j) - n(j) T`.
//! * If it waits for a limit `m` with `T(m) >= T`: all later calls come at least `T(m)` apart for
//!   each unit, so the weight behind `j` is at most `(due(k) - due(j)) / T`, and that of `j` is at
//!   most `b`.
//!
//! A moment is rounded up to a nanosecond. So `due(j)` may be later by less than one, and the bound
//! is that of a span one nanosecond longer than for a [`Pace`](crate::Pace).
//!
//! A reservation is given back as that of a pace: by an exchange of the ends, if the first limit's
//! is the one that its own call has made. It rises with each call, so it is there only if that call
//! is the last.

use std::fmt::{self, Debug, Formatter};
use std::time::Duration;

use super::answer::Answer;
use crate::clock::{Clock, Coarse, quick_now};
use crate::gate::Admission;
use crate::timestamp::saturating_nanos;
use crate::turn::told::until;
use crate::turn::vacancies::Vacancies;
use crate::turn::{RefusedError, Reservation, Undo};
use crate::wide::Wide;

mod builder;
mod change;
mod quota;
mod rate;
mod rates;
mod retire;
mod settle;
mod succession;

pub use builder::PacesBuilder;
pub use quota::Quota;
use rate::{MOST_LIMITS, Rate, Time};
use rates::{BUILT, Rates};

/// The words of all ends: the nanoseconds of each, and the parts of one. The first word names the
/// rates, and the last one is the last moment that a caller was told, or one that is over.
const WORDS: usize = 2 + 2 * MOST_LIMITS;
/// The index of the last word.
const TOLD: usize = WORDS - 1;

/// Several rate limits that are decided at once: 10 a second and 200 a minute.
///
/// A call that asks one limiter after the other has taken from the first when the second refuses
/// it. Here one compare-exchange decides: either all limits admit the call, or nothing is taken.
///
/// ```
/// use std::time::Duration;
/// use windrow::{Paces, clock::Manual, gate::Admission};
///
/// let (second, minute) = (Duration::from_secs(1), Duration::from_secs(60));
/// let clock = Manual::default();
/// let paces = Paces::builder()
///     .limit(10, second)
///     .limit(200, minute)
///     .clock(clock.clone())
///     .build()?;
/// let mut admitted = 0;
/// for _ in 0..30 {
///     admitted += (0..30).filter(|_| paces.try_admit(1)).count();
///     clock.advance(second);
/// }
/// assert_eq!(admitted, 296); // 10 a second, until 200 and those of 29 s more are reached
/// # Ok::<(), windrow::LimitError>(())
/// ```
///
/// # What is promised
///
/// Each limit is a [`Pace`](crate::Pace) of the period `interval / limit`, exactly, and with a
/// burst of the whole limit unless it is [told](PacesBuilder::limit_with_burst) otherwise. Its
/// promise holds: in each span of `d` nanoseconds, the calls whose moments lie in it weigh at most
/// `burst + d / period`. The wait is that of the limit that admits the call last. A refusal takes
/// nothing of any limit.
///
/// A level that is full lets the whole burst through at once, and then one in each period: in some
/// seconds up to 19 calls of the 10 above. For a limit that holds in each second, take a smaller
/// burst, or a strict [`Gate`](crate::Gate).
///
/// # Time
///
/// The promise holds by the clock's readings, [as a pace's does](crate::Pace#time). They may be
/// earlier than the time at which the limits were built.
///
/// # Cost and progress
///
/// A call costs the clock's reading, a load of two words for each limit, and two compare-exchanges;
/// a refusal no exchange. It never fails, panics, waits for another thread or takes a lock.
/// The limits take 0.6 kilobytes, however many they are. They allocate nothing, unless more than
/// three threads exchange at the same moment; or a caller gives up, as
/// [`Reservation`](Reservation#what-is-given-back) says. Then a call that would have to wait looks
/// at the vacant turns, too.
///
/// Admission creates no happens-before edge between callers.
#[doc(alias = "multiple limits")]
#[doc(alias = "token bucket")]
#[doc(alias = "GCRA")]
pub struct Paces<C = Coarse> {
    all: Limits,
    /// In nanoseconds.
    max_wait: u64,
    vacancies: Vacancies,
    clock: C,
}

/// All limits, and their ends.
#[derive(Debug)]
struct Limits {
    rates: Rates,
    count: usize,
    ends: Wide<WORDS>,
}

impl Paces {
    /// Returns a builder, which has no limits yet, on the [`Coarse`] clock. One decision will be
    /// made by all limits that are added to it.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let paces = windrow::Paces::builder().limit(10, Duration::from_secs(1)).build()?;
    /// assert_eq!(paces.left(), 10);
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn builder() -> PacesBuilder {
        PacesBuilder::new()
    }
}

impl<C: Clock> Paces<C> {
    /// Admits a call of weight `n` now if that is within all limits; otherwise takes nothing of
    /// any.
    ///
    /// A weight above the burst of a limit never fits, and a weight of zero always does.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Paces, clock::Manual};
    ///
    /// let second = Duration::from_secs(1);
    /// let builder = Paces::builder().limit(10, second).limit(15, 60 * second);
    /// let paces = builder.clock(Manual::default()).build()?;
    /// assert!(paces.try_admit(10));
    /// assert!(!paces.try_admit(6));
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    #[inline]
    #[doc(alias = "try_acquire")]
    #[must_use = "only the caller can turn a refused request away: an ignored answer limits nothing"]
    pub fn try_admit(&self, n: u64) -> bool {
        self.take(n, 0).is_taken()
    }

    /// Admits a call of weight `n`, now or after a wait of at most `max_wait`, and at most the
    /// [builder's](PacesBuilder::max_wait); or refuses, takes nothing, and says when to come back.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Paces, clock::Manual, gate::Admission};
    ///
    /// let second = Duration::from_secs(1);
    /// let builder = Paces::builder().limit(10, second).limit(15, 15 * second);
    /// let paces = builder.clock(Manual::default()).build()?;
    /// assert_eq!(paces.admit(10, Duration::ZERO), Admission::Now);
    /// assert_eq!(paces.admit(5, second), Admission::After(second / 2));
    /// let retry_after = Some(second); // by the second limit
    /// assert_eq!(paces.admit(1, Duration::ZERO), Admission::Refused { retry_after });
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    #[inline]
    pub fn admit(&self, n: u64, max_wait: Duration) -> Admission {
        self.take(n, saturating_nanos(max_wait)).admission(&self.clock)
    }

    /// Reserves a turn for a call of weight `n`, as [`Pace::reserve`](crate::Pace::reserve): if it
    /// is dropped before its turn, it is given back, to all limits at once.
    ///
    /// # Errors
    ///
    /// [`RefusedError`] if the wait would be longer, or the weight never fits. Nothing is taken
    /// then.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Paces, clock::Manual};
    ///
    /// let second = Duration::from_secs(1);
    /// let builder = Paces::builder().limit(1, second).limit(15, 15 * second);
    /// let paces = builder.clock(Manual::default()).build()?;
    /// assert!(paces.try_admit(1));
    /// drop(paces.reserve(1, second)?);
    /// assert_eq!(paces.reserve(1, second)?.wait(), second);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn reserve(&self, n: u64, max_wait: Duration) -> Result<Reservation<'_, C>, RefusedError> {
        let answer = self.take(n, saturating_nanos(max_wait));
        answer.reservation(n, &self.clock, &self.all, &self.vacancies)
    }

    /// Decides about a call by what the ends are, until no other call comes between.
    #[inline]
    fn take(&self, n: u64, max_wait: u64) -> Answer<'_> {
        let now = quick_now(&self.clock).as_nanos();
        if n == 0 {
            return Answer::Taken { now, due: now, undo: Undo::Nothing };
        }
        let max_wait = max_wait.min(self.max_wait);
        loop {
            let (version, from) = self.all.ends.glance();
            let changed;
            let rates = if from[0] == BUILT {
                &self.all.rates.built
            } else {
                changed = self.all.rates.of(from[0]);
                if !self.all.ends.is_at(version) {
                    continue; // the rates may be those of two changes
                }
                &changed
            };
            let behind = behind(&rates[..self.all.count], &from, now, n);
            if behind.is_none_or(|(_, due)| due > now) && !self.all.ends.is_at(version) {
                continue; // the ends may be those of two calls
            }
            let Some((mut to, due)) = behind else { return Answer::Refused { wait: None } };
            let (vacancies, clock) = (&self.vacancies, &self.clock);
            if let Some(other) = Answer::instead(vacancies, clock, (now, due), n, max_wait) {
                return other;
            }
            if due > now {
                to[TOLD] = due;
            }
            if self.all.ends.exchange(version, to) {
                let undo = Undo::Words { words: &self.all.ends, from, to: [to[0], to[1], to[2]] };
                return Answer::Taken { now, due, undo };
            }
        }
    }

    /// Returns the rates and the ends at one moment.
    fn state(&self) -> ([Rate; MOST_LIMITS], [u64; WORDS]) {
        let (_, rates, ends) = self.all.load();
        (rates, ends)
    }

    /// Returns the largest weight that would be admitted now, without a wait: what the limit that
    /// has least of it permits. It is *not* a reservation: other callers may come first.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Paces, clock::Manual};
    ///
    /// let second = Duration::from_secs(1);
    /// let builder = Paces::builder().limit(10, second).limit(12, 60 * second);
    /// let paces = builder.clock(Manual::default()).build()?;
    /// assert!(paces.try_admit(4));
    /// assert_eq!(paces.left(), 6);
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn left(&self) -> u64 {
        self.quotas().map(|quota| quota.left).min().unwrap_or(0)
    }

    /// Returns the time after which each limit has its whole burst again, if no call comes until
    /// then; zero if it is so now. It has the clock's resolution more than the reading tells, as
    /// [`retry_after`](RefusedError::retry_after).
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Paces, clock::Manual};
    ///
    /// let second = Duration::from_secs(1);
    /// let builder = Paces::builder().limit(10, second).limit(12, 60 * second);
    /// let paces = builder.clock(Manual::default()).build()?;
    /// assert!(paces.try_admit(4));
    /// assert_eq!(paces.idle_after(), 20 * second);
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn idle_after(&self) -> Duration {
        let (now, ends) = (self.clock.now().as_nanos(), self.all.ends.load());
        let last = (0..self.all.count).map(|at| end(&ends, at).rounded_up()).max();
        until(last.unwrap_or(now), now, &self.clock)
    }

    /// Returns the state of each limit, in the order in which they were added, at one moment.
    ///
    /// Costs the clock's reading and a load.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Paces, clock::Manual};
    ///
    /// let second = Duration::from_secs(1);
    /// let builder = Paces::builder().limit(10, second).limit(200, 60 * second);
    /// let paces = builder.clock(Manual::default()).build()?;
    /// assert!(paces.try_admit(4));
    /// let left: Vec<u64> = paces.quotas().map(|quota| quota.left).collect();
    /// assert_eq!(left, [6, 196]);
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn quotas(&self) -> impl Iterator<Item = Quota> {
        let (now, (rates, ends)) = (self.clock.now().as_nanos(), self.state());
        let rates = rates.into_iter().take(self.all.count).enumerate();
        rates.map(move |(at, rate)| rate.quota(end(&ends, at), now))
    }

    /// Returns the clock.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Paces, clock::Manual};
    ///
    /// let second = Duration::from_secs(1);
    /// let paces = Paces::builder().limit(1, second).clock(Manual::default()).build()?;
    /// assert!(paces.try_admit(1) && !paces.try_admit(1));
    /// paces.clock().advance(second);
    /// assert!(paces.try_admit(1));
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn clock(&self) -> &C {
        &self.clock
    }
}

/// Returns the ends behind a call at `now`, and its moment. `None` if a limit never fits it, or
/// time ends before.
#[inline]
fn behind(rates: &[Rate], from: &[u64; WORDS], now: u64, n: u64) -> Option<([u64; WORDS], u64)> {
    let (mut to, mut latest) = (*from, now);
    for (at, rate) in rates.iter().enumerate() {
        let (behind, due) = rate.take(end(from, at), now, n)?;
        put(&mut to, at, behind);
        latest = latest.max(due);
    }
    Some((to, latest))
}

/// Returns the end of a limit.
#[inline]
fn end(ends: &[u64; WORDS], at: usize) -> Time {
    Time { nanos: ends[1 + 2 * at], parts: ends[2 + 2 * at] }
}

/// Stores the end of a limit.
#[inline]
fn put(ends: &mut [u64; WORDS], at: usize, end: Time) {
    (ends[1 + 2 * at], ends[2 + 2 * at]) = (end.nanos, end.parts);
}

/// Shows the state of each limit.
impl<C: Clock> Debug for Paces<C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let quotas: Vec<Quota> = self.quotas().collect();
        f.debug_struct("Paces").field("quotas", &quotas).finish_non_exhaustive()
    }
}
