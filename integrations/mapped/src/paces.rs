//! Several limits for all processes that have a file mapped, decided at once.
//!
//! [`ends`](crate::limit::ends) has the protocol, and why it is right.

use std::time::Duration;

use portable_atomic::AtomicU128;
use windrow::gate::Admission;
use windrow::pace::RefusedError;

use crate::limit::answer::Answer;
use crate::limit::ends::Ends;
use crate::limit::moment::{allowed, now, wait};
use crate::reservation::{Part, Reservation};

/// Several rate limits for the processes of one machine, decided at once: ten a second, and 200 a
/// minute.
///
/// Returned by [`File::paces`](crate::File::paces). Either all limits admit a call, or nothing is
/// taken of any, over all processes. Each limit is a [`Pace`](crate::Pace) of a period and a burst.
/// A copy is of the same limits, and valid for as long as the process lives.
///
/// ```
/// use std::time::Duration;
/// use windrow_mapped::File;
///
/// # let directory = tempfile::tempdir_in("/dev/shm")?;
/// # let path = directory.path().join("app.windrow");
/// // In each worker: 10 at once and one in 100 ms; 200 at once and one in 300 ms.
/// let (second, minute) = (Duration::from_millis(100), Duration::from_millis(300));
/// let paces = File::open(path)?.paces("partner", &[], &[(second, 10), (minute, 200)])?;
/// assert!(paces.try_admit(10));
/// assert!(!paces.try_admit(10)); // refused by the first: nothing is taken of the second
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Promise
///
/// Let `T` be a limit's period and `b` its burst. In each span of `d` nanoseconds, the calls of all
/// processes whose moments lie in it weigh at most `b + d / T`, for each limit. The wait is that of
/// the limit that admits the call last. A refusal takes nothing of any limit. (Of a period that is
/// no whole number of nanoseconds, such as a minute for 7 calls, take the next greater one.)
///
/// # Time
///
/// Time is that of a [`Pace`](crate::Pace#time).
///
/// # Processes that die
///
/// A process that is killed in a call has taken that call from all limits or from none, wherever it
/// was; and it holds up no other, nor does one that is stopped. What it was admitted stays
/// admitted.
///
/// A process of the same user can write any value. Values that no call writes let the limits refuse
/// all calls, or admit a burst. No call waits for such a process.
///
/// # Cost
///
/// A call costs the clock's reading, and for each limit an exchange of 16 bytes, and one more; a
/// refusal that follows one no exchange. It never fails, panics, waits for another thread, or takes
/// a lock: only an exchange that another call has won is repeated. Weights are less than 2^32:
/// heavier calls never fit.
#[derive(Clone, Copy)]
#[doc(alias = "multiple limits")]
#[doc(alias = "rate limiter")]
#[doc(alias = "GCRA")]
pub struct Paces {
    pub(crate) ends: Ends<'static, AtomicU128>,
}

impl Paces {
    /// Admits a call of weight `n` now if that is within all limits; otherwise takes nothing of
    /// any.
    ///
    /// A weight above the burst of a limit never fits, and a weight of zero always does.
    #[must_use = "only the caller can turn a refused request away: an ignored answer limits nothing"]
    pub fn try_admit(&self, n: u64) -> bool {
        matches!(self.ends.take(now(), n, 0), Answer::Taken(_))
    }

    /// Admits a call of weight `n`, now or after a wait of at most `max_wait`; or refuses, takes
    /// nothing, and says when to come back.
    pub fn admit(&self, n: u64, max_wait: Duration) -> Admission {
        self.ends.take(now(), n, allowed(max_wait)).admission()
    }

    /// Reserves a turn for a call of weight `n`, after a wait of at most `max_wait`. If the
    /// reservation is dropped before its turn, it is given back, to all limits at once.
    ///
    /// # Errors
    ///
    /// [`RefusedError`] if the wait would be longer, or the weight never fits. Nothing is taken
    /// then.
    pub fn reserve(&self, n: u64, max_wait: Duration) -> Result<Reservation, RefusedError> {
        let taken = self.ends.take(now(), n, allowed(max_wait)).reserved()?;
        Ok(Reservation::new(&taken, Part::Paces(self.ends, taken)))
    }

    /// Returns the largest weight that would be admitted now, without a wait: what the limit that
    /// has least of it permits. It is *not* a reservation: other calls may come first.
    pub fn left(&self) -> u64 {
        let Some(ends) = self.ends.now() else { return 0 };
        let now = now();
        let left = ends.zip(self.ends.terms()).map(|(end, terms)| terms.left(end, now));
        left.min().unwrap_or(0)
    }

    /// Returns the time after which each limit has its whole burst again, if no call comes until
    /// then; zero if it is so now.
    pub fn idle_after(&self) -> Duration {
        let last = self.ends.now().map_or(Some(u64::MAX), Iterator::max);
        wait(last.unwrap_or(0).saturating_sub(now()))
    }

    /// Returns the period and the burst of each limit, in their order.
    pub fn limits(&self) -> impl Iterator<Item = (Duration, u64)> {
        self.ends.terms().map(|terms| (Duration::from_nanos(terms.period()), terms.burst()))
    }
}

shown! {
    /// Shows the limits, and what is left.
    Paces(paces) { limits: paces.limits().collect::<Vec<_>>(), left: paces.left() }
}
