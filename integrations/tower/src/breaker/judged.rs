//! A request that a breaker has let through, until its outcome is known.

use http::{HeaderMap, Response};
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

    fn end(&mut self, outcome: Outcome) {
        let Some(call) = self.call.take() else { return };
        match outcome {
            Outcome::Success => call.success(),
            Outcome::Refused => call.ignore(),
            Outcome::Exception => call.failure(),
        }
    }
}

impl<O: BreakerOwner, K: Classify> Follower for Judged<O, K> {
    fn answered<B>(&mut self, response: Option<&Response<B>>) {
        if let Some(outcome) = Outcome::by_head(&self.classify, response) {
            self.end(outcome);
        }
    }

    fn failed(&mut self) {
        self.end(Outcome::Exception);
    }

    fn ended(&mut self, trailers: Option<&HeaderMap>) {
        if self.is_open() {
            self.end(self.classify.by_end(trailers));
        }
    }

    fn is_open(&self) -> bool {
        self.call.is_some()
    }
}
