//! The answer to a call of a pace, and the exchange by which it is taken.

use std::time::Duration;

use super::error::RefusedError;
use super::reservation::Reservation;
use crate::clock::Clock;
use crate::gate::Admission;
use crate::sync::{AtomicU64, Ordering};

/// The answer to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The word goes from one value to another, at the time `now`, for a call whose moment is
    /// `due`.
    Taken { now: u64, due: u64, from: u64, to: u64 },
    /// The wait is longer than it may be; or there is none after which the weight fits.
    Refused { wait: Option<u64> },
}

impl Answer {
    /// Decides about a call by what the word is, until no other call comes between.
    #[inline]
    pub(super) fn take(word: &AtomicU64, decide: impl Fn(u64) -> Answer) -> Answer {
        // Relaxed, as all below: see the top of `pace.rs`. An older value can only refuse, as of
        // before something was given back. What was given back before this call is seen, by
        // coherence.
        let mut found = word.load(Ordering::Relaxed);
        loop {
            let answer = decide(found);
            let Answer::Taken { from, to, .. } = answer else { return answer };
            if from == to {
                return answer; // a weight of zero
            }
            let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
            match word.compare_exchange_weak(from, to, order, failed) {
                Ok(_) => return answer,
                Err(newer) => found = newer,
            }
        }
    }

    #[inline]
    pub(super) fn is_taken(self) -> bool {
        matches!(self, Answer::Taken { .. })
    }

    #[inline]
    pub(super) fn admission(self) -> Admission {
        match self {
            Answer::Taken { now, due, .. } if due > now => {
                Admission::After(Duration::from_nanos(due - now))
            }
            Answer::Taken { .. } => Admission::Now,
            Answer::Refused { wait } => {
                Admission::Refused { retry_after: wait.map(Duration::from_nanos) }
            }
        }
    }

    /// Returns the reservation of what was taken from the word.
    #[inline]
    pub(super) fn reservation<'a, C: Clock>(
        self,
        word: &'a AtomicU64,
        clock: &'a C,
    ) -> Result<Reservation<'a, C>, RefusedError> {
        match self {
            Answer::Taken { now, due, from, to } => {
                Ok(Reservation::new(word, clock, now, due, (from, to)))
            }
            Answer::Refused { wait } => {
                Err(RefusedError { retry_after: wait.map(Duration::from_nanos) })
            }
        }
    }
}
