//! The layer by which requests have a pace, and its service.

use std::fmt::{self, Debug, Formatter};
use std::future::{Ready, ready};
use std::marker::PhantomData;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::request::Parts;
use http::{Request, Response};
use http_body::Body;
use tower_layer::Layer;
use tower_service::Service;

use crate::at_turn::AtTurn;
use crate::cap::Cap;
use crate::decision::Decision;
use crate::limit::{LimitFields, LimitFuture};
use crate::limiter::sealed::Decides;
use crate::pace::lines::Lines;
use crate::pace::request::RequestPace;
use crate::refused::DISCARDED;

/// A rate-limiting layer by a leaky bucket: admits requests at the [`Pace`](windrow::Pace) or the
/// [`Paces`](windrow::Paces) that a function chooses, and refuses others with *429 Too Many
/// Requests* and `Retry-After`.
///
/// A [`LimitLayer`](crate::LimitLayer) admits the whole limit at once, if it is asked to. This one
/// spreads requests evenly, and [`Paces`](windrow::Paces) keep several limits by one decision.
///
/// ```
/// use std::time::Duration;
///
/// use axum::{Router, routing::get};
/// use windrow::{AtMost, Pace};
/// use windrow_tower::PaceLayer;
///
/// /// A partner permits 50 a second, and breaks down under 50 at once.
/// static PARTNER: Pace = Pace::of(Duration::from_millis(20), AtMost(10));
///
/// let layer = PaceLayer::new(|_| Some(&PARTNER)).wait(Duration::from_secs(1), tokio::time::sleep);
/// let app: Router = Router::new().route("/rates", get(|| async { "1.07" })).layer(layer);
/// ```
///
/// The responses are those of a [`LimitLayer`](crate::LimitLayer#responses), for HTTP and gRPC; a
/// weight above the burst never fits, and has no `Retry-After`. Clients that are refused stand [in
/// line](crate::LimitLayer#when-a-client-is-to-come-back), one line before each pace. With several
/// limits, the clients in a line are apart by the period of the slowest limit that has too little
/// left.
///
/// # What counts
///
/// A request that [waits](Self::wait) has a reserved turn. **If its future is dropped before the
/// turn**, because the client has gone away, the turn is given back, or goes to the next request:
/// see [`Reservation`](windrow::pace::Reservation). So the pace serves its limit, also if it lets
/// requests wait for longer than their clients do. A request that was called counts, whatever
/// becomes of it, and also if a layer behind this one refuses it.
///
/// The layer asks the pace when the service is called, not in `poll_ready`: a request that would
/// have to wait holds up no other, and a refusal is a response, not an error.
///
/// # Several paces
///
/// The function may choose among the paces of the program, for each request: by route, by plan. For
/// keys that come and go, such as clients, give a [`LimitLayer`](crate::LimitLayer)
/// [`PaceLimits`](crate::PaceLimits), which have a pace for each and keep their number bounded.
///
/// ```
/// use std::time::Duration;
///
/// use windrow::{AtMost, Pace};
/// use windrow_tower::PaceLayer;
///
/// static FREE: Pace = Pace::of(Duration::from_millis(100), AtMost(5));
/// static PAID: Pace = Pace::of(Duration::from_millis(5), AtMost(50));
///
/// let layer = PaceLayer::new(|parts| match parts.headers.get("x-plan")?.to_str() {
///     Ok("paid") => Some(&PAID),
///     _ => Some(&FREE),
/// });
/// # let _ = tower_layer::Layer::layer(&layer, ());
/// ```
#[must_use = "a layer does nothing before a service has it"]
pub struct PaceLayer<P, F, W = fn(&Parts) -> u64, T = fn(Duration) -> Ready<()>> {
    pace: F,
    of: PhantomData<fn() -> P>,
    weight: W,
    max_wait: Duration,
    sleep: T,
    fields: Option<LimitFields>,
    discarded: u64,
    cap: Cap,
    lines: Arc<Lines>,
}

impl<P: RequestPace, F: Fn(&Parts) -> Option<P>> PaceLayer<P, F> {
    /// Creates a layer. `pace` returns the pace that a request asks; a request without a pace is
    /// not limited.
    ///
    /// ```
    /// use std::sync::LazyLock;
    /// use std::time::Duration;
    ///
    /// use windrow::Paces;
    /// use windrow_tower::PaceLayer;
    ///
    /// /// 10 a second and 200 a minute.
    /// static REPORTS: LazyLock<Paces> = LazyLock::new(|| {
    ///     let (second, minute) = (Duration::from_secs(1), Duration::from_secs(60));
    ///     Paces::builder().limit(10, second).limit(200, minute).build().expect("two limits")
    /// });
    ///
    /// let layer = PaceLayer::new(|parts| (parts.uri.path() == "/report").then(|| &*REPORTS));
    /// # let _ = tower_layer::Layer::layer(&layer, ());
    /// ```
    pub fn new(pace: F) -> PaceLayer<P, F> {
        PaceLayer {
            pace,
            of: PhantomData,
            weight: |_| 1,
            max_wait: Duration::ZERO,
            sleep: |_| ready(()),
            fields: None,
            discarded: DISCARDED,
            cap: Cap::NONE,
            lines: Arc::default(),
        }
    }
}

impl<P, F, W, T> PaceLayer<P, F, W, T> {
    /// Returns the layer with weights: the number of periods that each request takes; 1 by default.
    ///
    /// A weight of zero is always admitted, and a weight above the burst never.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use windrow::{AtMost, Pace};
    /// # use windrow_tower::PaceLayer;
    /// static EVEN: Pace = Pace::of(Duration::from_millis(20), AtMost(50));
    ///
    /// let layer = PaceLayer::new(|_| Some(&EVEN));
    /// let layer = layer.weight(|parts| if parts.uri.path() == "/report" { 20 } else { 1 });
    /// # let _ = tower_layer::Layer::layer(&layer, ());
    /// ```
    pub fn weight<W2: Fn(&Parts) -> u64>(self, weight: W2) -> PaceLayer<P, F, W2, T> {
        let PaceLayer { pace, of, max_wait, sleep, fields, discarded, cap, lines, .. } = self;
        PaceLayer { pace, of, weight, max_wait, sleep, fields, discarded, cap, lines }
    }

    /// Returns the layer with waiting: a request may wait for its turn, up to `max_wait`; with
    /// [`Paces`](windrow::Paces), up to [their longest](windrow::pace::PacesBuilder::max_wait).
    /// `sleep` is the sleep function of your runtime.
    ///
    /// Later requests wait behind earlier ones. A request that waits holds the service that was
    /// ready for it, with its reservations: a permit of a limit behind it, for example.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use windrow::{AtMost, Pace};
    /// # use windrow_tower::PaceLayer;
    /// static EVEN: Pace = Pace::of(Duration::from_millis(20), AtMost(5));
    ///
    /// let layer = PaceLayer::new(|_| Some(&EVEN));
    /// let layer = layer.wait(Duration::from_millis(300), tokio::time::sleep);
    /// # let _ = tower_layer::Layer::layer(&layer, ());
    /// ```
    pub fn wait<T2: Fn(Duration) -> Z, Z: Future<Output = ()>>(
        self,
        max_wait: Duration,
        sleep: T2,
    ) -> PaceLayer<P, F, W, T2> {
        let PaceLayer { pace, of, weight, fields, discarded, cap, lines, .. } = self;
        PaceLayer { pace, of, weight, max_wait, sleep, fields, discarded, cap, lines }
    }

    /// Returns the layer with the header fields `RateLimit-Policy` and `RateLimit`: see
    /// [`LimitFields`]. By default, no fields but `Retry-After` are written.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use windrow::{AtMost, Pace};
    /// # use windrow_tower::{LimitFields, PaceLayer};
    /// static EVEN: Pace = Pace::of(Duration::from_millis(20), AtMost(50));
    ///
    /// let layer = PaceLayer::new(|_| Some(&EVEN)).fields(LimitFields::new("all"));
    /// # let _ = tower_layer::Layer::layer(&layer, ());
    /// ```
    pub fn fields(self, fields: LimitFields) -> PaceLayer<P, F, W, T> {
        PaceLayer { fields: Some(fields), ..self }
    }

    /// Returns the layer with another bound on the bytes that it reads of a refused request's body:
    /// see [`LimitLayer::discard`](crate::LimitLayer::discard).
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use windrow::{AtMost, Pace};
    /// # use windrow_tower::PaceLayer;
    /// static EVEN: Pace = Pace::of(Duration::from_millis(20), AtMost(50));
    ///
    /// let layer = PaceLayer::new(|_| Some(&EVEN));
    /// let layer = layer.discard(1_000_000); // for uploads
    /// # let _ = tower_layer::Layer::layer(&layer, ());
    /// ```
    pub fn discard(self, bytes: u64) -> PaceLayer<P, F, W, T> {
        PaceLayer { discarded: bytes, ..self }
    }

    /// Returns the layer with a cap: refused clients are told to come back within `longest`. See
    /// [`LimitLayer::max_retry_after`](crate::LimitLayer::max_retry_after).
    ///
    /// # Panics
    ///
    /// If `longest` is zero.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use windrow::{AtMost, Pace};
    /// # use windrow_tower::PaceLayer;
    /// static EVEN: Pace = Pace::of(Duration::from_millis(20), AtMost(50));
    ///
    /// let layer = PaceLayer::new(|_| Some(&EVEN));
    /// let layer = layer.max_retry_after(Duration::from_secs(60));
    /// # let _ = tower_layer::Layer::layer(&layer, ());
    /// ```
    pub fn max_retry_after(self, longest: Duration) -> PaceLayer<P, F, W, T> {
        PaceLayer { cap: Cap::of(longest), ..self }
    }

    /// Asks the pace of a request.
    fn decide(&self, parts: &Parts) -> Decision<P>
    where
        P: RequestPace,
        F: Fn(&Parts) -> Option<P>,
        W: Fn(&Parts) -> u64,
    {
        let Some(of) = (self.pace)(parts) else { return Decision::unlimited() };
        let (pace, weight) = (of.pace(), (self.weight)(parts));
        let decided = pace.decide(weight, self.max_wait);
        let join = |now, wait, takes| self.cap.hold(self.lines.join(pace, now, wait, takes));
        Decision::of(pace, weight, decided, || of, self.fields, join)
    }
}

impl<S, P, F: Clone, W: Clone, T: Clone> Layer<S> for PaceLayer<P, F, W, T> {
    type Service = PaceService<S, PaceLayer<P, F, W, T>>;

    fn layer(&self, inner: S) -> Self::Service {
        PaceService { inner, layer: self.clone() }
    }
}

impl<P, F: Clone, W: Clone, T: Clone> Clone for PaceLayer<P, F, W, T> {
    fn clone(&self) -> Self {
        PaceLayer {
            pace: self.pace.clone(),
            of: PhantomData,
            weight: self.weight.clone(),
            max_wait: self.max_wait,
            sleep: self.sleep.clone(),
            fields: self.fields,
            discarded: self.discarded,
            cap: self.cap,
            lines: Arc::clone(&self.lines),
        }
    }
}

impl<P, F, W, T> Debug for PaceLayer<P, F, W, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("PaceLayer")
            .field("max_wait", &self.max_wait)
            .field("fields", &self.fields)
            .finish_non_exhaustive()
    }
}

/// A service whose requests have a pace: from a [`PaceLayer`].
///
/// The service must be `Clone`: a request that waits takes the ready one with it.
#[derive(Clone, Debug)]
pub struct PaceService<S, Y> {
    inner: S,
    layer: Y,
}

impl<S, P, F, W, T, Z, A, B> Service<Request<A>> for PaceService<S, PaceLayer<P, F, W, T>>
where
    S: Service<Request<A>, Response = Response<B>> + Clone,
    P: RequestPace,
    F: Fn(&Parts) -> Option<P>,
    W: Fn(&Parts) -> u64,
    T: Fn(Duration) -> Z,
    Z: Future<Output = ()>,
    A: Body,
    B: Default,
{
    type Response = Response<B>;
    type Error = S::Error;
    type Future = LimitFuture<S, A, AtTurn<Z, P>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<A>) -> Self::Future {
        let (parts, body) = request.into_parts();
        let decision = self.layer.decide(&parts);
        let request = Request::from_parts(parts, body);
        let Self { inner, layer } = self;
        LimitFuture::by(decision, inner, request, &layer.sleep, layer.discarded)
    }
}
