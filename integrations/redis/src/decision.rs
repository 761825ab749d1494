//! The decision over a request that has found no permit.

use std::sync::Arc;
use std::time::Duration;

use crate::hub::Hub;
use crate::limit::Limit;
use crate::permits::MAX_PERMITS;
use crate::time::NEVER;

/// A decision over a request that has found no permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The policy for an engine that is away admits it.
    Admitted,
    /// The engine is asked. Until its answer, nothing is known.
    Asked,
    /// It is refused; after this time it may be worth another attempt.
    Refused(Option<Duration>),
}

impl Decision {
    /// Decides over a request, and has the engine asked if that may help. `demand` is added to the
    /// limit's: the weight of a request that is new.
    #[cold]
    pub(crate) fn of(
        hub: &Hub,
        limit: &Arc<Limit>,
        now: u64,
        weight: u64,
        demand: u64,
    ) -> Decision {
        if now == NEVER {
            return Decision::Refused(None);
        }
        if weight > limit.limit().min(MAX_PERMITS) {
            if weight <= MAX_PERMITS && limit.inquire(now) {
                hub.list(limit);
            }
            return Decision::Refused(None);
        }
        let refusal = limit.refusal();
        let refused = refusal.covers(now, weight);
        if hub.is_away(now) || limit.is_unusable() {
            // Asked all the same, so that its return is noticed.
            if !refused && limit.miss(weight, demand) {
                hub.list(limit);
            }
            return if limit.by_policy(weight) {
                Decision::Admitted
            } else {
                Decision::Refused(Some(Duration::from_micros(limit.bucket)))
            };
        }
        if refused {
            limit.refuse(demand);
            return Decision::Refused(Some(Duration::from_micros(refusal.until - now)));
        }
        if limit.miss(weight, demand) {
            hub.list(limit);
        }
        Decision::Asked
    }
}
