//! Followers: the parts of layers that follow a request until its response has ended.

use std::mem;

use http::{HeaderMap, Response};

use crate::classify::{Classify, Outcome};
use crate::refusal::Blocked;

/// A follower of a request: it is told what becomes of the request, and is dropped at its end. It
/// is sealed.
pub trait Follower {
    /// Returns the classification of responses.
    fn classify(&self) -> &impl Classify;

    /// Returns whether the outcome of the request is of interest, and still unknown.
    fn is_open(&self) -> bool;

    /// Takes the outcome. After another one, it can only become an exception.
    fn end(&mut self, outcome: Outcome);

    /// Notes an answer or an error of the service, but no refusal by a limit behind the layer.
    fn served(&mut self) {}

    /// Notes the head of the response; or, without one, an error of the service.
    fn answered<B>(&mut self, response: Option<&Response<B>>) {
        let outcome = match response {
            Some(response) if Blocked::is_on(response) => Some(Outcome::Refused),
            Some(response) => {
                self.served();
                self.classify().by_head(response.status(), response.headers())
            }
            None => {
                self.served();
                Some(Outcome::Exception)
            }
        };
        if let Some(outcome) = outcome {
            self.end(outcome);
        }
    }

    /// Notes the end of the body, with its trailers if there are any.
    fn ended(&mut self, trailers: Option<&HeaderMap>) {
        if self.is_open() {
            let outcome = self.classify().by_end(trailers);
            self.end(outcome);
        }
    }
}

/// Runs code of the service. A panic of it is an exception.
pub(crate) fn run<F: Follower, T>(follower: &mut F, service: impl FnOnce() -> T) -> T {
    struct Inside<'f, F: Follower>(&'f mut F);

    impl<F: Follower> Drop for Inside<'_, F> {
        fn drop(&mut self) {
            self.0.end(Outcome::Exception);
        }
    }

    let inside = Inside(follower);
    let result = service();
    mem::forget(inside); // it did not panic
    result
}
