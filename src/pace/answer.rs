//! The answer to a call of a pace.

use std::time::Duration;

use crate::clock::Clock;
use crate::gate::Admission;
use crate::turn::told::{resolution, told};
use crate::turn::vacancies::{Turn, Vacancies};
use crate::turn::{RefusedError, Reservation, Settle, Undo};

/// The answer to a call at the time `now`.
#[derive(Debug)]
pub(super) enum Answer<'a> {
    /// Its moment is `due`.
    Taken { now: u64, due: u64, undo: Undo<'a> },
    /// The wait is longer than it may be; or there is none after which the weight fits.
    Refused { wait: Option<u64> },
}

impl<'a> Answer<'a> {
    /// Answers a call whose own moment would be `due`, without taking that: by a turn before it
    /// that another caller has vacated, or by a refusal, if the call may not wait for its own.
    /// `None` if the call may take its own.
    #[inline]
    pub(super) fn instead(
        vacancies: &Vacancies,
        clock: &impl Clock,
        (now, due): (u64, u64),
        n: u64,
        max_wait: u64,
    ) -> Option<Answer<'a>> {
        if due == now {
            return None;
        }
        let refused = Answer::Refused { wait: Some(due - now) };
        if max_wait == 0 {
            return Some(refused);
        }
        // What the caller is told has the clock's resolution, too: see `Admission`.
        let latest = now.saturating_add(max_wait.saturating_sub(resolution(clock)));
        match vacancies.take(n, 0, now + 1..=latest.min(due - 1)) {
            Some(due) => Some(Answer::Taken { now, due, undo: Undo::Nothing }),
            None => (due > latest).then_some(refused),
        }
    }

    #[inline]
    pub(super) fn is_taken(&self) -> bool {
        matches!(self, Answer::Taken { .. })
    }

    #[inline]
    pub(super) fn admission(&self, clock: &impl Clock) -> Admission {
        let decided = match *self {
            Answer::Taken { now, due, .. } if due == now => Admission::Now,
            Answer::Taken { now, due, .. } => Admission::After(Duration::from_nanos(due - now)),
            Answer::Refused { wait } => {
                Admission::Refused { retry_after: wait.map(Duration::from_nanos) }
            }
        };
        decided.told_by(clock)
    }

    /// Returns the reservation of what was taken, for a weight of `n`.
    #[inline]
    pub(super) fn reservation<C: Clock>(
        self,
        n: u64,
        clock: &'a C,
        limiter: &'a dyn Settle,
        vacancies: &'a Vacancies,
    ) -> Result<Reservation<'a, C>, RefusedError> {
        match self {
            Answer::Taken { now, due, undo } => {
                let turn = Turn { moment: due, lasts: 0, weight: n, terms: 0 };
                Ok(Reservation::new(clock, now, turn, undo, vacancies, limiter))
            }
            Answer::Refused { wait } => {
                let told = |wait| told(Duration::from_nanos(wait), clock);
                Err(RefusedError { retry_after: wait.map(told) })
            }
        }
    }
}
