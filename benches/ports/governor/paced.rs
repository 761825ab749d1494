//! The decisions of governor's direct limiters, by a pace of windrow's: a new file, `src/paced.rs`,
//! in the place of the limiter's `Gcra`, which decides for keys as before.
//!
//! Both are GCRA: the decisions and the waits are the same to the nanosecond. An `InMemoryState`
//! that is handed to a direct limiter is not used. A snapshot of a call that was let through is
//! taken right behind the decision: it may have other threads' calls in it.

use core::cell::Cell;
use core::cmp;
use core::num::NonZeroU32;
use core::ops::Deref;
use core::time::Duration;

use windrow::gate::Admission;
use windrow::{Clock, Pace, Timestamp};

use crate::gcra::Gcra;
use crate::middleware::{RateLimitingMiddleware, StateSnapshot};
use crate::nanos::Nanos;
use crate::state::StateStore;
use crate::{InsufficientCapacity, Quota, clock};

std::thread_local! {
    /// The time by the limiter's clock, for the decision that this thread is making.
    static NOW: Cell<u64> = const { Cell::new(0) };
}

/// The clock of the limiter, which may be of any type: it is read before the pace is asked.
struct Given;

impl Clock for Given {
    #[inline]
    fn now(&self) -> Timestamp {
        Timestamp::from_nanos(NOW.with(Cell::get))
    }

    fn resolution(&self) -> Duration {
        Duration::from_nanos(1)
    }
}

/// The decisions of a limiter.
#[derive(Debug)]
pub(crate) struct Paced {
    gcra: Gcra,
    pace: Pace<Given>,
    quota: Quota,
    /// The time of the burst without its first call.
    tolerance: Nanos,
}

impl Paced {
    pub(crate) fn new(quota: Quota) -> Paced {
        let (gcra, burst) = (Gcra::new(quota), u64::from(quota.max_burst.get()));
        let period = cmp::max(quota.replenish_1_per, Duration::from_nanos(1));
        let pace = Pace::builder(period).burst(burst).clock(Given).allow_coarse_clock();
        let pace = pace.build().expect("a burst of less than 146 years");
        let tolerance = gcra.t() * (burst - 1);
        Paced { gcra, pace, quota, tolerance }
    }

    #[inline]
    pub(crate) fn test_and_update<K, P, S, MW>(
        &self,
        start: P,
        key: &K,
        state: &S,
        t0: P,
    ) -> Result<MW::PositiveOutcome, MW::NegativeOutcome>
    where
        P: clock::Reference,
        S: StateStore<Key = K>,
        MW: RateLimitingMiddleware<P>,
    {
        if S::BY_PACE {
            self.decide::<K, P, MW>(start, key, 1, t0)
        } else {
            self.gcra.test_and_update::<K, P, S, MW>(start, key, state, t0)
        }
    }

    pub(crate) fn test_n_all_and_update<K, P, S, MW>(
        &self,
        start: P,
        key: &K,
        n: NonZeroU32,
        state: &S,
        t0: P,
    ) -> Result<Result<MW::PositiveOutcome, MW::NegativeOutcome>, InsufficientCapacity>
    where
        P: clock::Reference,
        S: StateStore<Key = K>,
        MW: RateLimitingMiddleware<P>,
    {
        if !S::BY_PACE {
            return self.gcra.test_n_all_and_update::<K, P, S, MW>(start, key, n, state, t0);
        }
        if n > self.quota.max_burst {
            return Err(InsufficientCapacity(self.quota.max_burst.get()));
        }
        Ok(self.decide::<K, P, MW>(start, key, n.get().into(), t0))
    }

    #[inline]
    fn decide<K, P: clock::Reference, MW: RateLimitingMiddleware<P>>(
        &self,
        start: P,
        key: &K,
        n: u64,
        t0: P,
    ) -> Result<MW::PositiveOutcome, MW::NegativeOutcome> {
        let now = t0.duration_since(start);
        NOW.with(|given| given.set(now.as_u64()));
        match self.pace.admit(n, Duration::ZERO) {
            Admission::Now | Admission::After(_) => Ok(MW::allow(key, Behind { paced: self, now })),
            Admission::Refused { retry_after: Some(wait) } => {
                let until = now + Nanos::from(nanos(wait));
                Err(MW::disallow(key, self.snapshot(until, until), start))
            }
            Admission::Refused { retry_after: None } => {
                let never = Nanos::from(u64::MAX); // not before the end of the clock
                Err(MW::disallow(key, self.snapshot(never, never), start))
            }
        }
    }

    fn snapshot(&self, measured: Nanos, next: Nanos) -> StateSnapshot {
        StateSnapshot::new(self.gcra.t(), self.tolerance, measured, next)
    }
}

impl Deref for Paced {
    type Target = Gcra;

    fn deref(&self) -> &Gcra {
        &self.gcra
    }
}

/// Returns the nanoseconds of a wait, which the pace has from 64 bits of them. It cannot panic: so
/// what a caller does not look at is not computed.
fn nanos(wait: Duration) -> u64 {
    wait.as_secs().wrapping_mul(1_000_000_000).wrapping_add(wait.subsec_nanos().into())
}

/// The state behind a call that was let through, which is not looked at unless the middleware asks.
struct Behind<'a> {
    paced: &'a Paced,
    now: Nanos,
}

impl From<Behind<'_>> for StateSnapshot {
    fn from(Behind { paced, now }: Behind<'_>) -> StateSnapshot {
        paced.snapshot(now, now + Nanos::from(paced.pace.idle_after()))
    }
}
