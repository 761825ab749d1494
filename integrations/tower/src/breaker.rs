//! Circuit breakers: no requests to a service that fails.

use std::time::Duration;

use http::request::Parts;
use windrow::breaker::{BreakerOwner, Call};

use crate::cap::Cap;
use crate::classify::{ByStatus, Classify, Outcome};
use crate::layered::{AdmissionLayer, Admits};
use crate::refusal::Reason;
use crate::response::Follower;

/// A layer of circuit breakers: refuses requests with *503 Service Unavailable* and `Retry-After`
/// while the [`Breaker`](windrow::Breaker) that a function chooses is open.
///
/// Around a client, it keeps requests from a service that fails; around a route, from the route's
/// handler.
///
/// ```
/// use std::time::Duration;
///
/// use axum::{Router, routing::get};
/// use windrow::{Breaker, breaker::Settings};
/// use windrow_tower::BreakerLayer;
///
/// static PAYMENTS: Breaker = Breaker::of(
///     Settings::interval(Duration::from_secs(10), 10)
///         .slow_percent(80, Duration::from_secs(2))
///         .up_to(Duration::from_secs(60)),
/// );
///
/// let layer = BreakerLayer::new(|_| Some(&PAYMENTS));
/// let app: Router = Router::new().route("/pay", get(|| async { "paid" })).layer(layer);
/// ```
///
/// A [`Family`](windrow::Family) has a breaker for each upstream, with bounded memory. A key that
/// it does not hold shares the breaker of the overflow series:
///
/// ```
/// use windrow::breaker::Settings;
/// use windrow::{Breaker, Family, labels};
/// use windrow_tower::BreakerLayer;
///
/// labels! { pub struct Upstream { host: str } }
///
/// static BREAKERS: Family<Upstream, Breaker> =
///     Family::with_constructor(|| Breaker::of(Settings::last_calls(100)));
///
/// let layer = BreakerLayer::new(|parts| {
///     let host = parts.uri.host()?; // a request without one has no breaker
///     Some(BREAKERS.handle(Upstream { host }))
/// });
/// # let _ = tower_layer::Layer::layer(&layer, ());
/// ```
///
/// # Outcomes
///
/// | end of the request | says |
/// |---|---|
/// | a response that is no exception by the [classification](BreakerLayer::classify) | success |
/// | an exception, an error or a panic of the service | failure |
/// | [`Outcome::Refused`], or a limit behind this layer ([`Blocked`](crate::Blocked)) | nothing |
/// | its future is dropped, or in gRPC its body, before the outcome is known | nothing |
///
/// So a client that goes away says nothing about the service, and the place of a cancelled trial is
/// free again. In gRPC, the outcome of a stream is that of its trailers, and its time is that of
/// the whole stream: choose [`slow_percent`](windrow::breaker::Settings::slow_percent) and
/// [`trial_timeout`](windrow::breaker::Settings::trial_timeout) for it. In HTTP the head of the
/// response decides.
///
/// # Refusals
///
/// The response to a refused request is 503, with the rest of the open time as `Retry-After`, in
/// whole seconds, rounded up. For gRPC it is `UNAVAILABLE`, with a pushback. While trials are under
/// way, there is no such time: it is unknown when they end. The body is empty; to give it one, see
/// [`Blocked`](crate::Blocked).
///
/// The layer asks the breaker when the service is called, not in `poll_ready`.
pub type BreakerLayer<B, K = ByStatus> = AdmissionLayer<ByBreaker<B, K>>;

/// The breaker that a function chooses for a request, which a [`BreakerLayer`] asks.
#[derive(Clone, Copy)]
pub struct ByBreaker<B, K> {
    breaker: B,
    classify: K,
    cap: Cap,
}

impl<B> AdmissionLayer<ByBreaker<B, ByStatus>> {
    /// Creates a layer. `breaker` chooses the breaker of a request; a request without one is let
    /// through.
    pub fn new<O: BreakerOwner>(breaker: B) -> Self
    where
        B: Fn(&Parts) -> Option<O>,
    {
        let asked = ByBreaker { breaker, classify: ByStatus, cap: Cap::default() };
        AdmissionLayer { asked, discarded: 0 }
    }
}

impl<B, K> AdmissionLayer<ByBreaker<B, K>> {
    /// Returns the layer with another classification of responses. See [`Classify`].
    pub fn classify<K2: Classify>(self, classify: K2) -> BreakerLayer<B, K2> {
        let AdmissionLayer { asked: ByBreaker { breaker, cap, .. }, discarded } = self;
        AdmissionLayer { asked: ByBreaker { breaker, classify, cap }, discarded }
    }

    /// Returns the layer with a cap: refused clients are told to come back within `longest`, also
    /// if the breaker stays open for longer. A longer time is moved into the cap's upper half: see
    /// [`LimitLayer::max_retry_after`](crate::LimitLayer::max_retry_after).
    ///
    /// # Panics
    ///
    /// If `longest` is zero.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Breaker, breaker::Settings};
    /// use windrow_tower::BreakerLayer;
    ///
    /// static PAYMENTS: Breaker = Breaker::of(Settings::last_calls(100));
    ///
    /// let layer = BreakerLayer::new(|_| Some(&PAYMENTS));
    /// let layer = layer.max_retry_after(Duration::from_secs(60));
    /// # let _ = tower_layer::Layer::layer(&layer, ());
    /// ```
    pub fn max_retry_after(mut self, longest: Duration) -> Self {
        self.asked.cap = Cap::of(longest);
        self
    }
}

impl<F, O, K> Admits for ByBreaker<F, K>
where
    F: Fn(&Parts) -> Option<O>,
    O: BreakerOwner,
    K: Classify + Clone,
{
    type Kept = Judged<O, K>;

    fn admit(&self, parts: &Parts) -> Result<Option<Judged<O, K>>, Reason> {
        let Some(breaker) = (self.breaker)(parts) else { return Ok(None) };
        match Call::begin(breaker) {
            Ok(call) => Ok(Some(Judged { call: Some(call), classify: self.classify.clone() })),
            Err(open) => Err(Reason::Open(open.retry_after.map(|rest| self.cap.hold(rest)))),
        }
    }
}

/// A request that a [`BreakerLayer`] has let through. If it is dropped before its outcome is known,
/// it says nothing.
pub struct Judged<O: BreakerOwner, K> {
    /// `None` once the outcome is known.
    call: Option<Call<O>>,
    classify: K,
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
