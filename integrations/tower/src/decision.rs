//! The decision about a request: of a pace for all, or of the limiter of its key.

use std::time::Duration;

use windrow::gate::Admission;
use windrow::{Clock, Timestamp};

use crate::limit::{Fields, LimitFields};
use crate::limiter::Quota;
use crate::limiter::sealed::Decides;
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
        let fields = fields.filter(|fields| fields.are_for(admission.is_granted()));
        let verdict = match admission {
            Admission::Now => Verdict::Now,
            Admission::After(wait) => Verdict::After(wait, Turn::new(hold(), grant)),
            Admission::Refused { retry_after } => Verdict::Refused(
                retry_after
                    .map(|wait| join(limiter.clock().now(), wait, distance(limiter, weight))),
            ),
        };
        let fields = fields.map(|fields| {
            let mut quotas: Vec<Quota> = limiter.quotas().collect();
            if let Verdict::Refused(retry_after) = verdict {
                let is_one = quotas.len() == 1;
                for quota in quotas.iter_mut().filter(|it| is_one || it.is_short_of(weight)) {
                    quota.retry_after = retry_after;
                }
            }
            fields.of(&quotas)
        });
        Decision { verdict, fields }
    }
}

/// Returns the distance of two places in line: the time in which the slowest limit that is short of
/// a weight admits it; or the slowest of all, if there is enough meanwhile.
fn distance(limiter: &impl Decides, weight: u64) -> Duration {
    let slowest = |among: fn(&Quota, u64) -> bool| {
        let limits = limiter.quotas().filter(|quota| among(quota, weight));
        limits.map(|quota| quota.takes(weight)).max()
    };
    let of_short = slowest(Quota::is_short_of);
    of_short.or_else(|| slowest(|_, _| true)).unwrap_or_default()
}
