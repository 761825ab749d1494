//! A request in flight.
//!
//! A flight begins with the call, and ends when it is dropped: by the future if there was no
//! response, otherwise by the body. So it ends once, whatever becomes of them.

use std::time::Instant;

use windrow::{SlidingWindow, family::Handle, in_flight::InFlightGuard};

use crate::classify::{Classify, Outcome};
use crate::endpoint::{Endpoint, Http};
use crate::follower::Follower;
use crate::labels::Route;
use crate::routes::Routes;

/// A request in flight, which a [`MetricsLayer`](crate::MetricsLayer) counts.
pub struct Flight<K> {
    /// The guard of the endpoint's gauge, which keeps the endpoint and is dropped with the flight.
    inside: InFlightGuard<Handle<Route<'static>, Endpoint>>,
    began: Instant,
    /// The outcome of the request, once it is known.
    outcome: Option<Outcome>,
    classify: K,
}

impl<K> Flight<K> {
    pub(crate) fn begin(routes: &'static Routes, route: Route<'_>, classify: K) -> Flight<K> {
        let endpoint = routes.with(route);
        endpoint.window().add(Http::Request, 1);
        let inside = endpoint.peaks().enter(1).owned_by(endpoint.keep());
        Flight { inside, began: Instant::now(), outcome: None, classify }
    }

    fn window(&self) -> &SlidingWindow<Http> {
        self.inside.owner().window()
    }
}

impl<K: Classify> Follower for Flight<K> {
    fn classify(&self) -> &impl Classify {
        &self.classify
    }

    fn is_open(&self) -> bool {
        self.outcome.is_none()
    }

    fn end(&mut self, outcome: Outcome) {
        if outcome == Outcome::Refused && self.is_open() {
            self.window().add(Http::Block, 1);
        }
        if outcome == Outcome::Exception && self.outcome != Some(Outcome::Exception) {
            self.window().add(Http::Exception, 1);
        }
        self.outcome = Some(outcome);
    }

    fn served(&mut self) {
        self.window().record(Http::Rt, self.began.elapsed());
    }
}

impl<K> Drop for Flight<K> {
    fn drop(&mut self) {
        if self.outcome.is_none() {
            self.window().add(Http::Cancelled, 1);
        }
    }
}
