//! A request that a breaker has let through, until its outcome is known.

use windrow::breaker::{BreakerOwner, Call};

use crate::classify::{Classify, Outcome};
use crate::follower::Follower;

/// A request that a [`BreakerLayer`](crate::BreakerLayer) has let through. If it is dropped before
/// its outcome is known, it says nothing.
pub struct Judged<O: BreakerOwner, K> {
    /// `None` once the outcome is known.
    call: Option<Call<O>>,
    classify: K,
}

impl<O: BreakerOwner, K> Judged<O, K> {
    pub(super) fn new(call: Call<O>, classify: K) -> Judged<O, K> {
        Judged { call: Some(call), classify }
    }
}

impl<O: BreakerOwner, K: Classify> Follower for Judged<O, K> {
    fn classify(&self) -> &impl Classify {
        &self.classify
    }

    fn is_open(&self) -> bool {
        self.call.is_some()
    }

    fn end(&mut self, outcome: Outcome) {
        let Some(call) = self.call.take() else { return };
        match outcome {
            Outcome::Success => call.success(),
            Outcome::Refused => drop(call),
            Outcome::Exception => call.failure(),
        }
    }
}
