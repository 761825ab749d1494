//! A request in flight.
//!
//! A flight begins with the call, and ends when it is dropped: by the future if there was no
//! response, otherwise by the body. So it ends once, whatever becomes of them.

use std::time::Instant;

use windrow::{SlidingWindow, family::Handle, in_flight::InFlightGuard};

use crate::classify::Outcome;
use crate::endpoint::{Endpoint, Http};
use crate::labels::Route;
use crate::routes::Routes;

pub(crate) struct Flight {
    /// The guard of the endpoint's gauge, which keeps the endpoint and is dropped with the flight.
    inside: InFlightGuard<Handle<Route<'static>, Endpoint>>,
    began: Instant,
    /// The outcome of the request, once it is known.
    outcome: Option<Outcome>,
    /// True if code of the service is running. If the flight ends then, the service has panicked.
    is_inside: bool,
}

impl Flight {
    pub(crate) fn begin(routes: &'static Routes, route: Route<'_>) -> Flight {
        let endpoint = routes.with(route);
        endpoint.window().add(Http::Request, 1);
        let inside = endpoint.peaks().enter(1).owned_by(endpoint.keep());
        Flight { inside, began: Instant::now(), outcome: None, is_inside: false }
    }

    fn window(&self) -> &SlidingWindow<Http> {
        self.inside.owner().window()
    }

    /// Runs code of the service.
    pub(crate) fn run<T>(&mut self, service: impl FnOnce() -> T) -> T {
        self.is_inside = true;
        let result = service();
        self.is_inside = false;
        result
    }

    /// Records the response time, when there is a response or an error of the service.
    pub(crate) fn answered(&self) {
        self.window().record(Http::Rt, self.began.elapsed());
    }

    /// Counts a refusal by a limit.
    pub(crate) fn blocked(&mut self) {
        self.window().add(Http::Block, 1);
        self.outcome = Some(Outcome::Success);
    }

    /// Returns whether the outcome of the request is still unknown.
    pub(crate) fn is_open(&self) -> bool {
        self.outcome.is_none()
    }

    /// Records the outcome of the request. It may become an exception later, and then stays one.
    pub(crate) fn ended(&mut self, outcome: Outcome) {
        if outcome == Outcome::Refused && self.is_open() {
            self.window().add(Http::Block, 1);
        }
        if outcome == Outcome::Exception && self.outcome != Some(Outcome::Exception) {
            self.window().add(Http::Exception, 1);
        }
        self.outcome = Some(outcome);
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        if self.is_inside {
            self.ended(Outcome::Exception);
        } else if self.is_open() {
            self.window().add(Http::Cancelled, 1);
        }
    }
}
