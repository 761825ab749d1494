//! What a layer keeps of a request until its response has ended.

use std::mem;

use http::{HeaderMap, Response};

/// A follower of a request: it is told what becomes of the request, and is dropped at its end. It
/// is sealed.
pub trait Follower {
    /// The head of the response has come; or, without one, an error of the service.
    fn answered<B>(&mut self, response: Option<&Response<B>>) {
        let _ = response;
    }

    /// The service has panicked, or the body has failed or panicked.
    fn failed(&mut self) {}

    /// The body has ended, with these trailers if there are any.
    fn ended(&mut self, trailers: Option<&HeaderMap>) {
        let _ = trailers;
    }

    /// Returns whether the end of the body is still to decide about the request.
    fn is_open(&self) -> bool {
        false
    }
}

/// Runs code of the service. If it panics, the follower is told.
pub(crate) fn run<F: Follower, T>(follower: &mut F, service: impl FnOnce() -> T) -> T {
    struct Inside<'f, F: Follower>(&'f mut F);

    impl<F: Follower> Drop for Inside<'_, F> {
        fn drop(&mut self) {
            self.0.failed();
        }
    }

    let inside = Inside(follower);
    let result = service();
    mem::forget(inside); // it did not panic
    result
}
