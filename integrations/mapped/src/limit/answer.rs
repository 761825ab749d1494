//! The answer to a call of a limit.

use windrow::gate::Admission;
use windrow::pace::RefusedError;

use super::moment::told;

/// The answer to a call; `U` is what it takes to give back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer<U> {
    Taken(Taken<U>),
    /// The moment would be this far away; `None` if the weight never fits, or time ends before.
    Refused {
        wait: Option<u64>,
    },
}

/// A call that was admitted: its time, its moment, and what it takes to give it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken<U> {
    pub(super) now: u64,
    pub(crate) due: u64,
    pub(super) undo: U,
}

impl<U> Taken<U> {
    /// Returns the distance to the moment, in nanoseconds.
    pub(crate) fn wait(&self) -> u64 {
        self.due - self.now
    }
}

impl<U> Answer<U> {
    pub(crate) fn admission(self) -> Admission {
        match self {
            Answer::Taken(taken) if taken.wait() == 0 => Admission::Now,
            Answer::Taken(taken) => Admission::After(told(taken.wait())),
            Answer::Refused { wait } => Admission::Refused { retry_after: wait.map(told) },
        }
    }

    pub(crate) fn reserved(self) -> Result<Taken<U>, RefusedError> {
        match self {
            Answer::Taken(taken) => Ok(taken),
            Answer::Refused { wait } => Err(RefusedError::after(wait.map(told))),
        }
    }
}
