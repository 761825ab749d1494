//! The decision about a request: of a pace for all, or of the limiter of its key.

use std::time::Duration;

use windrow::Timestamp;
use windrow::gate::Admission;

use crate::at_turn::Asked;
use crate::limit::{Fields, LimitFields};
use crate::limiter::sealed::Decides;
use crate::told::told;
use crate::turn::Turn;
use crate::turn::sealed::Holds;

/// The decision about a request, as its client is told it.
pub(crate) struct Decision<H: Holds> {
    pub(crate) verdict: Verdict<H>,
    /// The fields of the response, if it is to have any.
    pub(crate) fields: Option<Fields>,
}

pub(crate) enum Verdict<H: Holds> {
    Now,
    After(Duration, Turn<H>),
    Asks(Asked<H>),
    /// The time at which the client is to come back; `None` if its weight never fits.
    Refused(Option<Duration>),
}

impl<H: Holds> Decision<H> {
    /// Returns the decision about a request that is not limited.
    pub(crate) fn unlimited() -> Decision<H> {
        Decision { verdict: Verdict::Now, fields: None }
    }

    /// Returns the decision that a limiter has made about a weight. `hold` keeps the limiter for a
    /// turn that is waited for. A refused request is told the time of the place that `join` takes:
    /// see [`Line::join`](crate::line::Line::join).
    pub(crate) fn of(
        limiter: &H::Limiter,
        weight: u64,
        (admission, grant): (Admission, Option<<H::Limiter as Decides>::Grant>),
        hold: impl FnOnce() -> H,
        fields: Option<LimitFields>,
        join: impl FnOnce(Timestamp, Duration, Duration) -> Duration,
    ) -> Decision<H> {
        let (retry_after, fields) = told(limiter, weight, admission, fields, join);
        let verdict = match admission {
            Admission::Now => Verdict::Now,
            Admission::After(wait) => Verdict::After(wait, Turn::new(hold(), grant)),
            Admission::Refused { .. } => Verdict::Refused(retry_after),
        };
        Decision { verdict, fields }
    }

    /// Returns the decision to wait for an answer from elsewhere.
    pub(crate) fn asking(asked: Asked<H>) -> Decision<H> {
        Decision { verdict: Verdict::Asks(asked), fields: None }
    }
}
