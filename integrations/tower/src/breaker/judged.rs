//! A request that a breaker has let through, until its outcome is known.

use http::{HeaderMap, Response};
use windrow::breaker::{BreakerOwner, Call};

use crate::classify::{Classify, Outcome};
use crate::refusal::Blocked;

/// The call of a request, and what judges it. If it is dropped before its outcome is known, it says
/// nothing; except while code of the service runs, which has panicked then.
pub(super) struct Judged<O: BreakerOwner, K> {
    /// `None` once the outcome is known.
    call: Option<Call<O>>,
    classify: K,
    is_inside: bool,
}

impl<O: BreakerOwner, K: Classify> Judged<O, K> {
    pub(super) fn new(call: Call<O>, classify: K) -> Judged<O, K> {
        Judged { call: Some(call), classify, is_inside: false }
    }

    /// Runs code of the service.
    pub(super) fn run<T>(&mut self, service: impl FnOnce() -> T) -> T {
        self.is_inside = true;
        let result = service();
        self.is_inside = false;
        result
    }

    /// Judges the request by the head of its response, if that decides.
    pub(super) fn answered<B>(&mut self, response: &Response<B>) {
        if response.extensions().get::<Blocked>().is_some() {
            self.ended(Outcome::Refused); // by a limit behind this layer
        } else if let Some(outcome) = self.classify.by_head(response.status(), response.headers()) {
            self.ended(outcome);
        }
    }

    /// Judges the request by the end of the body, if the head has not decided.
    pub(super) fn body_ended(&mut self, trailers: Option<&HeaderMap>) {
        if self.is_open() {
            self.ended(self.classify.by_end(trailers));
        }
    }

    /// Returns whether the outcome is still unknown.
    pub(super) fn is_open(&self) -> bool {
        self.call.is_some()
    }
}

impl<O: BreakerOwner, K> Judged<O, K> {
    pub(super) fn ended(&mut self, outcome: Outcome) {
        let Some(call) = self.call.take() else { return };
        match outcome {
            Outcome::Success => call.success(),
            Outcome::Refused => drop(call),
            Outcome::Exception => call.failure(),
        }
    }
}

impl<O: BreakerOwner, K> Drop for Judged<O, K> {
    fn drop(&mut self) {
        if self.is_inside {
            self.ended(Outcome::Exception);
        }
    }
}
