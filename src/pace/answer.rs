//! The answer to a call of a pace.

use std::time::Duration;

use crate::clock::Clock;
use crate::gate::Admission;
use crate::timestamp::saturating_nanos;
use crate::turn::vacancies::{Turn, Vacancies};
use crate::turn::{RefusedError, Reservation, Undo};

/// The answer to a call at the time `now`.
#[derive(Debug)]
pub(super) enum Answer<'a> {
    /// Its moment is `due`.
    Taken { now: u64, due: u64, undo: Undo<'a> },
    /// The wait is longer than it may be; or there is none after which the weight fits.
    Refused { wait: Option<u64> },
}

impl<'a> Answer<'a> {
    /// Answers a call by a turn that another has vacated, if there is one that it may wait for and
    /// that comes before `due`.
    #[inline]
    pub(super) fn vacant(
        vacancies: &Vacancies,
        now: u64,
        n: u64,
        max_wait: u64,
        due: u64,
    ) -> Option<Answer<'a>> {
        if due == now || max_wait == 0 {
            return None;
        }
        let latest = now.saturating_add(max_wait).min(due - 1);
        let due = vacancies.take(n, 0, now + 1..=latest)?;
        Some(Answer::Taken { now, due, undo: Undo::Nothing })
    }

    #[inline]
    pub(super) fn is_taken(&self) -> bool {
        matches!(self, Answer::Taken { .. })
    }

    #[inline]
    pub(super) fn admission(&self, clock: &impl Clock) -> Admission {
        match *self {
            Answer::Taken { now, due, .. } if due > now => {
                Admission::After(Duration::from_nanos(due - now))
            }
            Answer::Taken { .. } => Admission::Now,
            Answer::Refused { wait } => Admission::Refused { retry_after: shown(wait, clock) },
        }
    }

    /// Returns the reservation of what was taken, for a weight of `n`.
    #[inline]
    pub(super) fn reservation<C: Clock>(
        self,
        n: u64,
        clock: &'a C,
        vacancies: &'a Vacancies,
    ) -> Result<Reservation<'a, C>, RefusedError> {
        match self {
            Answer::Taken { now, due, undo } => {
                let turn = Turn { moment: due, lasts: 0, weight: n, terms: 0 };
                Ok(Reservation::new(clock, now, turn, undo, vacancies))
            }
            Answer::Refused { wait } => Err(RefusedError { retry_after: shown(wait, clock) }),
        }
    }
}

/// Returns the time after which the clock surely shows what it will show after a wait: its reading
/// may be older by its resolution.
fn shown(wait: Option<u64>, clock: &impl Clock) -> Option<Duration> {
    let resolution = saturating_nanos(clock.resolution());
    wait.map(|wait| Duration::from_nanos(wait.saturating_add(resolution)))
}

/// Returns the time until the clock surely shows an end; zero if it shows it now.
pub(super) fn idle_after(end: u64, now: u64, clock: &impl Clock) -> Duration {
    shown(end.checked_sub(now).filter(|wait| *wait > 0), clock).unwrap_or_default()
}
