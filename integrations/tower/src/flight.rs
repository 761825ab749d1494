//! A request in flight.
//!
//! A flight begins with the call, and ends when it is dropped: by the future if there was no
//! response, else by the body. So whatever becomes of them, it ends once.

use std::time::Instant;

use windrow::{SlidingWindow, family::Handle, in_flight::InFlightGuard};

use crate::classify::Outcome;
use crate::endpoint::{Endpoint, Http};
use crate::labels::{Route, Routes};

pub(crate) struct Flight {
    /// Keeps the endpoint, and leaves when the flight is dropped.
    inside: InFlightGuard<Handle<Route<'static>, Endpoint>>,
    began: Instant,
    /// How the request ended, once that is known.
    outcome: Option<Outcome>,
    /// Whether code of the service runs. If the flight ends there, that has panicked.
    is_inside: bool,
}

impl Flight {
    pub(crate) fn begin(routes: &'static Routes, route: Route<'_>) -> Flight {
        let endpoint = routes.with(route);
        endpoint.window().add(Http::Pass, 1);
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

    /// There is a response, or an error of the service.
    pub(crate) fn answered(&self) {
        self.window().record(Http::Rt, self.began.elapsed());
    }

    /// A limit has refused it.
    pub(crate) fn blocked(&mut self) {
        self.window().add(Http::Block, 1);
        self.outcome = Some(Outcome::Success);
    }

    /// Returns whether it is not known yet how the request ends.
    pub(crate) fn is_open(&self) -> bool {
        self.outcome.is_none()
    }

    /// Notes how the request ended. It may become an exception later, and then stays one.
    pub(crate) fn ended(&mut self, outcome: Outcome) {
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
