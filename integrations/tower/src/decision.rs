//! The decision about a request: of a limiter for all, or of the limiter of its key.

use std::pin::Pin;
use std::time::Duration;

use windrow::gate::Admission;
use windrow::{Clock, Timestamp};

use crate::cap::Cap;
use crate::limit::{Fields, LimitFields};
use crate::limiter::{Decides, Limiter, Quota};

/// A reference to a static, or a handle of a key, which keeps a limiter while a request waits.
pub trait Holds {
    type Limiter: Limiter;

    fn limiter(&self) -> Option<&Self::Limiter>;
}

/// The settings of a layer for the requests that it decides about.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terms {
    pub(crate) max_wait: Duration,
    pub(crate) fields: Option<LimitFields>,
    pub(crate) cap: Cap,
}

/// The answer to a client.
#[derive(Default)]
pub struct Told {
    /// The time at which a refused one is to come back; `None` if its weight never fits.
    pub(crate) retry_after: Option<Duration>,
    /// The fields of the response, if it is to have any.
    pub(crate) fields: Option<Fields>,
}

/// The answer to a request whose limiter asks elsewhere. That of a refused one is an error.
pub(crate) type Asked = Pin<Box<dyn Future<Output = Result<Told, Told>> + Send + Sync>>;

/// The decision about a request, and what its client is told.
pub enum Decision<H: Holds> {
    /// The request is admitted, or not limited.
    Now(Told),
    After(Duration, Turn<H>, Told),
    Asks(Asked),
    Refused(Told),
}

impl<H: Holds> Decision<H> {
    /// Returns the decision that a limiter has made about a weight. `hold` keeps the limiter for a
    /// turn that is waited for. A refused request is told the time of the place that `join` takes:
    /// see [`Line::join`](crate::line::Line::join).
    pub(crate) fn of(
        limiter: &H::Limiter,
        weight: u64,
        (admission, grant): (Admission, Option<<H::Limiter as Decides>::Grant>),
        terms: Terms,
        hold: impl FnOnce() -> H,
        join: impl FnOnce(Timestamp, Duration, Duration) -> Duration,
    ) -> Decision<H> {
        let told = told(limiter, weight, admission, terms, join);
        match admission {
            Admission::Now => Decision::Now(told),
            Admission::After(wait) => Decision::After(wait, Turn { of: hold(), grant }, told),
            Admission::Refused { .. } => Decision::Refused(told),
        }
    }
}

/// The turn for which a request waits: it is given up if this is dropped with its grant.
pub struct Turn<H: Holds> {
    of: H,
    pub(crate) grant: Option<<H::Limiter as Decides>::Grant>,
}

impl<H: Holds> Drop for Turn<H> {
    fn drop(&mut self) {
        if let (Some(limiter), Some(grant)) = (self.of.limiter(), self.grant.take()) {
            limiter.give_up(grant);
        }
    }
}

/// Returns what the client is told. A refused one is told the place that `join` takes.
pub(crate) fn told(
    limiter: &impl Limiter,
    weight: u64,
    admission: Admission,
    terms: Terms,
    join: impl FnOnce(Timestamp, Duration, Duration) -> Duration,
) -> Told {
    let place = |wait| join(limiter.clock().now(), wait, distance(limiter, weight));
    let retry_after = match admission {
        Admission::Refused { retry_after } => retry_after.map(|wait| terms.cap.hold(place(wait))),
        Admission::Now | Admission::After(_) => None,
    };
    let fields = terms.fields.filter(|fields| fields.are_for(admission.is_granted()));
    let fields = fields.map(|fields| {
        let quotas: Vec<Quota> = limiter.quotas().collect();
        let refuses = |quota: &Quota| quotas.len() == 1 || quota.is_short_of(weight);
        fields.of(&quotas, |quota| retry_after.filter(|_| refuses(quota)))
    });
    Told { retry_after, fields }
}

/// Returns the distance of two places in line: the time in which the slowest limit that is short of
/// a weight admits it; or the slowest of all, if there is enough meanwhile.
fn distance(limiter: &impl Limiter, weight: u64) -> Duration {
    let slowest = |among: fn(&Quota, u64) -> bool| {
        let limits = limiter.quotas().filter(|quota| among(quota, weight));
        limits.map(|quota| quota.takes(weight)).max()
    };
    let of_short = slowest(Quota::is_short_of);
    of_short.or_else(|| slowest(|_, _| true)).unwrap_or_default()
}
