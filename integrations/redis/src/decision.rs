//! The decision over a request that has found no permit.

use std::time::Duration;

use crate::permits::MAX_PERMITS;
use crate::shared::Shared;
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

impl Shared {
    /// Decides over a request, and has the engine asked if that may help. `demand` is added to the
    /// limit's: the weight of a request that is new.
    #[cold]
    pub(crate) fn decide(&self, now: u64, weight: u64, demand: u64) -> Decision {
        let limit = &*self.limit;
        if now == NEVER {
            return Decision::Refused(None);
        }
        if weight > limit.limit().min(MAX_PERMITS) {
            if weight <= MAX_PERMITS && limit.inquire(now) {
                self.engine.hub().list(&self.limit);
            }
            return Decision::Refused(None);
        }
        let refusal = limit.refusal();
        let refused = refusal.covers(now, weight);
        if self.is_by_policy(now) {
            // Asked all the same, so that its return is noticed.
            if !refused {
                self.ask(weight, demand);
            }
            return if limit.by_policy(weight) {
                Decision::Admitted
            } else {
                Decision::Refused(Some(Duration::from_micros(limit.bucket)))
            };
        }
        if refused {
            limit.permits.miss(demand); // it is part of the demand
            return Decision::Refused(Some(Duration::from_micros(refusal.until - now)));
        }
        self.ask(weight, demand);
        Decision::Asked
    }
}
