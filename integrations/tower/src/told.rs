//! The words of a decision for its client: the time to come back, and the fields of the response.

use std::time::Duration;

use windrow::gate::Admission;
use windrow::{Clock, Timestamp};

use crate::limit::{Fields, LimitFields};
use crate::limiter::Quota;
use crate::limiter::sealed::Decides;

/// Returns the time that the client of a refused request is told, by the place that `join` takes,
/// and the fields of the response.
pub(crate) fn told(
    limiter: &impl Decides,
    weight: u64,
    admission: Admission,
    fields: Option<LimitFields>,
    join: impl FnOnce(Timestamp, Duration, Duration) -> Duration,
) -> (Option<Duration>, Option<Fields>) {
    let place = |wait| join(limiter.clock().now(), wait, distance(limiter, weight));
    let retry_after = match admission {
        Admission::Refused { retry_after } => retry_after.map(place),
        Admission::Now | Admission::After(_) => None,
    };
    let fields = fields.filter(|fields| fields.are_for(admission.is_granted()));
    let fields = fields.map(|fields| {
        let mut quotas: Vec<Quota> = limiter.quotas().collect();
        if !admission.is_granted() {
            let is_one = quotas.len() == 1;
            for quota in quotas.iter_mut().filter(|it| is_one || it.is_short_of(weight)) {
                quota.retry_after = retry_after;
            }
        }
        fields.of(&quotas)
    });
    (retry_after, fields)
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
