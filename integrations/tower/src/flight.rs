//! The layer that counts requests, and a request in flight.
//!
//! A flight begins with the call, and ends when it is dropped: by the future if there was no
//! response, otherwise by the body. So it ends once, whatever becomes of them.

use std::task::{Context, Poll};
use std::time::Instant;

use http::request::Parts;
use http::{Request, Response};
use http_body::Body;
use tower_layer::Layer;
use tower_service::Service;
use windrow::{SlidingWindow, family::Handle, in_flight::InFlightGuard};

use crate::classify::{ByStatus, Classify, Outcome};
use crate::endpoint::{Endpoint, Http};
use crate::labels::{Method, Route, UNMATCHED};
use crate::layered::Layered;
use crate::response::{Follower, ResponseBody, ResponseFuture};
use crate::routes::Routes;

/// A layer that counts requests, by method and route.
///
/// ```
/// use axum::Router;
/// use axum::extract::MatchedPath;
/// use axum::routing::get;
/// use windrow_tower::{MetricsLayer, Routes};
///
/// static ROUTES: Routes = Routes::new();
///
/// let layer = MetricsLayer::new(&ROUTES, |parts| {
///     parts.extensions.get::<MatchedPath>().map(MatchedPath::as_str)
/// });
/// let app: Router = Router::new().route("/carts/{id}", get(|| async { "a cart" })).layer(layer);
/// ```
#[derive(Clone, Copy)]
#[must_use = "a layer does nothing before a service has it"]
pub struct MetricsLayer<R, K = ByStatus> {
    routes: &'static Routes,
    route: R,
    classify: K,
}

impl<R> MetricsLayer<R> {
    /// Creates a layer that counts in `routes`. `route` returns the route of a request; requests
    /// without one count under [`UNMATCHED`].
    ///
    /// ```
    /// use windrow_tower::{MetricsLayer, Routes};
    ///
    /// static ROUTES: Routes = Routes::new();
    ///
    /// let layer = MetricsLayer::new(&ROUTES, |_| Some("everything"));
    /// # let _ = tower_layer::Layer::layer(&layer, ());
    /// ```
    pub fn new(routes: &'static Routes, route: R) -> MetricsLayer<R>
    where
        R: Fn(&Parts) -> Option<&str>,
    {
        MetricsLayer { routes, route, classify: ByStatus }
    }
}

impl<R, K> MetricsLayer<R, K> {
    /// Returns the layer with another classification of exceptions. See [`Classify`].
    pub fn classify<K2: Classify>(self, classify: K2) -> MetricsLayer<R, K2> {
        MetricsLayer { routes: self.routes, route: self.route, classify }
    }
}

impl<S, R: Clone, K: Clone> Layer<S> for MetricsLayer<R, K> {
    type Service = Layered<S, MetricsLayer<R, K>>;

    fn layer(&self, inner: S) -> Self::Service {
        Layered { inner, layer: self.clone() }
    }
}

impl<S, R, K, A, B> Service<Request<A>> for Layered<S, MetricsLayer<R, K>>
where
    S: Service<Request<A>, Response = Response<B>>,
    R: Fn(&Parts) -> Option<&str>,
    K: Classify + Clone,
    B: Body,
{
    type Response = Response<ResponseBody<B, Flight<K>>>;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future, Flight<K>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<A>) -> Self::Future {
        let MetricsLayer { routes, route, classify } = &self.layer;
        let (parts, body) = request.into_parts();
        let labels = Route {
            method: Method::from(&parts.method),
            route: route(&parts).unwrap_or(UNMATCHED),
        };
        let flight = Flight::begin(routes, labels, classify.clone());
        let request = Request::from_parts(parts, body);
        ResponseFuture::call(|| self.inner.call(request), Some(flight))
    }
}

/// A request in flight, which a [`MetricsLayer`] counts.
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
