//! Several limits, decided at once in one word.
//!
//! # The protocol
//!
//! The word holds a time and, for each limit, the level of its bucket at that time: the GCRA of
//! [`Pace`](crate::Pace), as leaky buckets. A call drains all levels by the time since, adds its
//! weight to each, and is admitted if the last of their moments is not too late: by one
//! compare-exchange of them all. So either every limit admits the call, or no limit has anything of
//! it.
//!
//! # The theorem
//!
//! *In each span of `d` quanta of the clock the calls whose moments lie in it weigh, for each limit
//! of period `T` and burst `b`, at most `b + (d + 1) / T`.* Let `e(i)` be the end of limit `i`: the
//! time, and its level in time. A call's moment is the latest of the clock's time and the `e(i) -
//! b(i) T(i)`, rounded up to a quantum. Take limit 1, the first call `j` of the span and its last
//! one, `k`, in the order of exchanges. As for one pace, `e(k) - b T <= due(k)`, and `e` rises by
//! `n T` at least in each call; what remains is `due(j) <= e(j) - n(j) T`, or a bound for it.
//!
//! * If `j` does not wait: `due(j)` is the time, which is at most `e(j) - n(j) T`.
//! * If it waits for a limit `m` with `T(m) < T`: limit `m` was last empty when a call came that
//!   began its level, and since then the end of limit 1 has risen by more than that of `m`. So
//!   `due(j) <= e(m) - n(j) T(m) <= e(j) - n(j) T`, up to the rounding.
//! * If it waits for a limit `m` with `T(m) >= T`: all later calls come at least `T(m)` apart for
//!   each unit, so the weight behind `j` is at most `(due(k) - due(j)) / T`, up to the rounding,
//!   and that of `j` is at most `b`.
//!
//! The rounding is of one moment, so it is less than a quantum.
//!
//! A reservation is given back as that of a pace: the word only rises with a call, by its time or
//! by its levels, so it is a call's own word only if that call is the last.

use std::fmt::{self, Debug, Formatter};
use std::time::Duration;

use super::answer::Answer;
use super::{RefusedError, Reservation};
use crate::clock::{Clock, Coarse, quick_now};
use crate::gate::Admission;
use crate::sync::{AtomicU64, Ordering};
use crate::timestamp::saturating_nanos;

mod builder;
mod packed;
mod quota;

pub use builder::PacesBuilder;
use packed::{Packed, Taken};
pub use quota::Quota;

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
/// # Ok::<(), windrow::pace::PaceError>(())
/// ```
///
/// # What is promised
///
/// Each limit is a [`Pace`](crate::Pace) of the period `interval / limit`, exactly, and with a
/// burst of the whole limit unless it is [told](PacesBuilder::limit_with_burst) otherwise. Its
/// promise holds by a clock that shows whole [quanta](Self::quantum): in each span of `d` quanta,
/// the calls whose moments lie in it weigh at most `burst + (d + 1) / period`. The wait is that of
/// the limit that admits the call last. A refusal takes nothing of any limit.
///
/// A level that is full lets the whole burst through at once, and then one in each period: in some
/// seconds up to 19 calls of the 10 above. For a limit that holds in each second, take a smaller
/// burst, or a strict [`Gate`](crate::Gate).
///
/// # Cost and progress
///
/// A call costs what a [`Pace`](crate::Pace)'s does, a division by the quantum, and some operations
/// for each limit. It never fails, panics, waits or takes a lock, and allocates nothing. One word
/// has a time and all levels, so there are four limits at most, and the quantum is as fine as 64
/// bits permit for 30 years from the time at which it was built; after them it refuses.
///
/// Admission creates no happens-before edge between callers.
#[doc(alias = "multiple limits")]
#[doc(alias = "token bucket")]
#[doc(alias = "GCRA")]
pub struct Paces<C = Coarse> {
    packed: Packed,
    /// The time of quantum zero, in nanoseconds.
    origin: u64,
    word: AtomicU64,
    clock: C,
}

impl Paces {
    /// Returns a builder of limits that are decided at once, without limits yet, on the [`Coarse`]
    /// clock.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let paces = windrow::Paces::builder().limit(10, Duration::from_secs(1)).build()?;
    /// assert_eq!(paces.left(), 10);
    /// # Ok::<(), windrow::pace::PaceError>(())
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
    /// # Ok::<(), windrow::pace::PaceError>(())
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
    /// # Ok::<(), windrow::pace::PaceError>(())
    /// ```
    #[inline]
    pub fn admit(&self, n: u64, max_wait: Duration) -> Admission {
        self.take(n, saturating_nanos(max_wait)).admission()
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
        self.take(n, saturating_nanos(max_wait)).reservation(&self.word, &self.clock)
    }

    #[inline]
    fn take(&self, n: u64, max_wait: u64) -> Answer {
        let now = quick_now(&self.clock).as_nanos();
        Answer::take(&self.word, |word| self.decide(word, now, n, max_wait))
    }

    #[inline]
    fn decide(&self, word: u64, now: u64, n: u64, max_wait: u64) -> Answer {
        if n == 0 {
            return Answer::Taken { now, due: now, from: word, to: word };
        }
        let quanta = self.quanta(now);
        let Some(Taken { to, due }) = self.packed.decide(word, quanta, n) else {
            return Answer::Refused { wait: None };
        };
        // A moment that has come is now, whatever part of its quantum is over.
        let due = if due > quanta { self.nanos(due).max(now) } else { now };
        if due - now > max_wait || !self.packed.permits(due - now) {
            return Answer::Refused { wait: Some(due - now) };
        }
        Answer::Taken { now, due, from: word, to }
    }

    #[inline]
    fn quanta(&self, nanos: u64) -> u64 {
        nanos.saturating_sub(self.origin) / self.packed.quantum()
    }

    fn nanos(&self, quanta: u64) -> u64 {
        self.origin.saturating_add(quanta.saturating_mul(self.packed.quantum()))
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
    /// # Ok::<(), windrow::pace::PaceError>(())
    /// ```
    pub fn left(&self) -> u64 {
        let now = self.quanta(self.clock.now().as_nanos());
        self.packed.left(self.word.load(Ordering::Relaxed), now)
    }

    /// Returns the time after which each limit has its whole burst again, if no call comes until
    /// then; zero if it is so now.
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
    /// # Ok::<(), windrow::pace::PaceError>(())
    /// ```
    pub fn idle_after(&self) -> Duration {
        let now = self.clock.now().as_nanos();
        let idle = self.packed.idle_at(self.word.load(Ordering::Relaxed), self.quanta(now));
        Duration::from_nanos(self.nanos(idle).saturating_sub(now))
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
    /// # Ok::<(), windrow::pace::PaceError>(())
    /// ```
    pub fn quotas(&self) -> impl Iterator<Item = Quota> {
        let now = self.quanta(self.clock.now().as_nanos());
        self.packed.quotas(self.word.load(Ordering::Relaxed), now)
    }

    /// Returns the quantum: the time in steps of which the limits count.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let (second, minute) = (Duration::from_secs(1), Duration::from_secs(60));
    /// let paces = windrow::Paces::builder().limit(10, second).limit(200, minute).build()?;
    /// assert_eq!(paces.quantum(), Duration::from_millis(2));
    /// # Ok::<(), windrow::pace::PaceError>(())
    /// ```
    pub fn quantum(&self) -> Duration {
        Duration::from_nanos(self.packed.quantum())
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
    /// # Ok::<(), windrow::pace::PaceError>(())
    /// ```
    pub fn clock(&self) -> &C {
        &self.clock
    }
}

/// Shows the quantum, and what is left.
impl<C: Clock> Debug for Paces<C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Paces");
        shown.field("quantum", &self.quantum()).field("left", &self.left());
        shown.finish_non_exhaustive()
    }
}
