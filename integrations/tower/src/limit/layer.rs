//! The rate-limiting layer, and its service.

use std::fmt::{self, Debug, Formatter};
use std::future::{Ready, ready};
use std::task::{Context, Poll};
use std::time::Duration;

use http::request::Parts;
use http::{Request, Response};
use http_body::Body;
use tower_layer::Layer;
use tower_service::Service;
use windrow::Gate;
use windrow::family::Handle;
use windrow::labels::{Labels, RuntimeLabels};

use crate::at_turn::{Asked, AtTurn};
use crate::cap::Cap;
use crate::decision::Decision;
use crate::key::{ByValues, KeyValues, RequestKey};
use crate::limit::fields::LimitFields;
use crate::limit::future::LimitFuture;
use crate::limit::limits::Limits;
use crate::limit::series::Limit;
use crate::limiter::Limiter;
use crate::limiter::sealed::Answer;
use crate::refused::DISCARDED;

/// A rate-limiting layer: refuses requests beyond the limit of their key's [`Gate`](windrow::Gate)
/// or [`Pace`](windrow::Pace), with *429 Too Many Requests* and `Retry-After`.
///
/// ```
/// use axum::{Router, routing::get};
/// use windrow::{Gate, labels};
/// use windrow_tower::{LimitLayer, Limits};
///
/// labels! { pub struct Client { client: str } }
///
/// static CLIENTS: Limits<Client> =
///     Limits::new(1_000, |_| Gate::builder(100).buckets(10).strict().build().expect("valid"));
///
/// let layer = LimitLayer::new(&CLIENTS, |parts| {
///     let client = parts.headers.get("x-account").and_then(|value| value.to_str().ok());
///     Some(Client { client: client.unwrap_or("anonymous") })
/// });
/// let app: Router = Router::new().route("/carts/{id}", get(|| async { "a cart" })).layer(layer);
/// ```
///
/// # Responses
///
/// | the gate | of HTTP | of gRPC, by the request's `content-type` |
/// |---|---|---|
/// | grants it | the service's response | the same |
/// | grants it [later](Self::wait) | the service's response, after the wait | the same |
/// | refuses it | 429, and `Retry-After` in whole seconds, rounded up, at least 1 | `grpc-status: 8` (`RESOURCE_EXHAUSTED`), and `grpc-retry-pushback-ms`, rounded up |
/// | never lets it through: its [weight](Self::weight) is beyond the limit | 429 without `Retry-After` | the same status, and a pushback of -1: do not retry |
///
/// (A weight beyond the limit is not answered with 413, since a weight is seldom the size of the
/// body.) The body is empty; to give it one, see [`Blocked`](crate::Blocked). The draft `RateLimit`
/// header fields are written if the layer is [given](Self::fields) them.
///
/// # When a client is to come back
///
/// Requests that are refused together are told different times: otherwise their clients would come
/// back together, and all but a few would be refused again. Each refused request takes a place in
/// the line of its key, behind those that were refused before it, at the distance that the limit
/// needs to admit it: of 100 a second, 10 milliseconds. The time that it is told is
///
/// - never earlier than the request would be admitted if no other came;
/// - at most 30 seconds later than that, and then rounded up. A longer line begins anew at its
///   head: so clients that never come back hold up the others for no longer.
///
/// Clients that give up rather than wait for long can be told [less](Self::max_retry_after).
///
/// A client alone is told the true wait, if it comes back when it is told to. A place is no
/// reservation: a client that comes back competes with all others.
///
/// A client that is told whole seconds should add a random part of a second: clients that are told
/// the same second would come in one instant.
///
/// # What counts
///
/// A gate's grant stays granted, even if the request is dropped before the service is called, while
/// it waits, or in the service; or if a layer behind this one refuses it. (A pace's turn that has
/// not come is given back.) So of two limits, put the client's own one outside and the shared one
/// inside: then a client beyond its limit takes nothing from the others.
///
/// The layer asks the gate when the service is called, not in `poll_ready`: a request that would
/// have to wait holds up no other, and a refusal is a response, not an error.
///
/// Clones share the limits, which are in the static. For a rate with a burst for each key, instead
/// of a limit per interval, give it [`PaceLimits`](crate::PaceLimits); for one pace for all
/// requests, see [`PaceLayer`](crate::PaceLayer).
#[must_use = "a layer does nothing before a service has it"]
pub struct LimitLayer<
    L: Labels + 'static,
    K,
    W = fn(&Parts) -> u64,
    T = fn(Duration) -> Ready<()>,
    G: Send + Sync + 'static = Gate,
> {
    limits: &'static Limits<L, G>,
    key: K,
    weight: W,
    max_wait: Duration,
    sleep: T,
    pub(super) fields: Option<LimitFields>,
    pub(super) discarded: u64,
    pub(super) cap: Cap,
}

impl<L: Labels + 'static, K, G: Limiter>
    LimitLayer<L, K, fn(&Parts) -> u64, fn(Duration) -> Ready<()>, G>
{
    /// Creates a layer that asks `limits`. `key` returns the key whose gate a request asks; a
    /// request without a key is not limited.
    ///
    /// ```
    /// use axum::extract::MatchedPath;
    /// use windrow::{Gate, labels};
    /// use windrow_tower::{LimitLayer, Limits};
    ///
    /// labels! { pub struct Route { route: str } }
    ///
    /// static ROUTES: Limits<Route> =
    ///     Limits::new(1_000, |_| Gate::builder(500).buckets(10).build().expect("500 a second"));
    ///
    /// let layer = LimitLayer::new(&ROUTES, |parts| {
    ///     parts.extensions.get::<MatchedPath>().map(|path| Route { route: path.as_str() })
    /// });
    /// # let _ = tower_layer::Layer::layer(&layer, ());
    /// ```
    pub fn new(limits: &'static Limits<L, G>, key: K) -> Self
    where
        K: for<'r> Fn(&'r Parts) -> Option<L::Borrowed<'r>>,
    {
        LimitLayer::of(limits, key)
    }

    fn of(limits: &'static Limits<L, G>, key: K) -> Self {
        let (max_wait, fields) = (Duration::ZERO, None);
        let (weight, sleep): (fn(&_) -> _, fn(_) -> _) = (|_| 1, |_| ready(()));
        let discarded = DISCARDED;
        LimitLayer { limits, key, weight, max_wait, sleep, fields, discarded, cap: Cap::NONE }
    }
}

impl<F, G: Limiter>
    LimitLayer<RuntimeLabels, ByValues<F>, fn(&Parts) -> u64, fn(Duration) -> Ready<()>, G>
{
    /// Creates a layer that asks `limits` whose labels have names that are known only at run time.
    /// `write` writes the values of a request's key, in the order of the names; a request for which
    /// it returns `None` is not limited.
    ///
    /// To write a key allocates nothing. A key with another number of values than names shares the
    /// overflow gate: see [`KeyValues`].
    ///
    /// ```
    /// use std::sync::LazyLock;
    /// use windrow::{Gate, labels::{LabelNames, RuntimeLabels}};
    /// use windrow_tower::{LimitLayer, Limits};
    ///
    /// /// Labels, and the headers that they are read from.
    /// static LABELS: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    ///     let from_a_file = "tenant=x-tenant,region=x-region";
    ///     let pairs = from_a_file.split(',').filter_map(|pair| pair.split_once('='));
    ///     pairs.map(|(label, header)| (label.to_owned(), header.to_owned())).collect()
    /// });
    ///
    /// static TENANTS: LazyLock<Limits<RuntimeLabels>> = LazyLock::new(|| {
    ///     let names = LabelNames::new(LABELS.iter().map(|(label, _)| label)).expect("names");
    ///     Limits::with_names(names, 10_000, |_| Gate::builder(100).build().expect("100 a second"))
    /// });
    ///
    /// let layer = LimitLayer::with_values(&TENANTS, |parts, key| {
    ///     for (_, header) in LABELS.iter() {
    ///         key.push(parts.headers.get(header)?.to_str().ok()?);
    ///     }
    ///     Some(())
    /// });
    /// # let _ = tower_layer::Layer::layer(&layer, ());
    /// ```
    pub fn with_values(limits: &'static Limits<RuntimeLabels, G>, write: F) -> Self
    where
        F: Fn(&Parts, &mut KeyValues) -> Option<()>,
    {
        LimitLayer::of(limits, ByValues(write))
    }
}

impl<L: Labels + 'static, K, W, T, G: Send + Sync> LimitLayer<L, K, W, T, G> {
    /// Returns the layer with weights: the units of the limit that each request takes; 1 by
    /// default.
    ///
    /// A weight of zero is always granted, and a weight beyond the limit never. For weights as
    /// settings, see [`Limits::weight`].
    ///
    /// ```
    /// # use windrow::{Gate, labels};
    /// # use windrow_tower::{LimitLayer, Limits};
    /// # labels! { pub struct Client { client: u32 } }
    /// # static CLIENTS: Limits<Client> =
    /// #     Limits::new(1_000, |_| Gate::builder(100).build().expect("100"));
    /// let layer = LimitLayer::new(&CLIENTS, |_| Some(Client { client: 7 }));
    /// let layer = layer.weight(|parts| if parts.uri.path() == "/report" { 20 } else { 1 });
    /// # let _ = tower_layer::Layer::layer(&layer, ());
    /// ```
    pub fn weight<W2: Fn(&Parts) -> u64>(self, weight: W2) -> LimitLayer<L, K, W2, T, G> {
        let LimitLayer { limits, key, max_wait, sleep, fields, discarded, cap, .. } = self;
        LimitLayer { limits, key, weight, max_wait, sleep, fields, discarded, cap }
    }

    /// Returns the layer with waiting: a request may wait for its turn, up to `max_wait`. `sleep`
    /// is the sleep function of your runtime.
    ///
    /// No wait is longer than the gate's interval, nor than the key's [rate](crate::Rate::max_wait)
    /// allows, if there are rules. Later requests wait behind earlier ones. A request that waits
    /// holds the service that was ready for it, with its reservations: a permit of a limit behind
    /// it, for example.
    ///
    /// With gates, a request whose client goes away while it waits still counts. So `max_wait`
    /// should be below the patience of the clients: otherwise, under overload, the gate grants most
    /// of its limit to requests that are gone. [Paces](crate::PaceLimits) pass their turns on, and
    /// know no longest wait of their own.
    ///
    /// ```
    /// use std::time::Duration;
    /// # use windrow::{Gate, labels};
    /// # use windrow_tower::{LimitLayer, Limits};
    /// # labels! { pub struct Client { client: u32 } }
    /// # static CLIENTS: Limits<Client> =
    /// #     Limits::new(1_000, |_| Gate::builder(100).build().expect("100"));
    /// let layer = LimitLayer::new(&CLIENTS, |_| Some(Client { client: 7 }));
    /// let layer = layer.wait(Duration::from_millis(300), tokio::time::sleep);
    /// # let _ = tower_layer::Layer::layer(&layer, ());
    /// ```
    pub fn wait<T2: Fn(Duration) -> Z, Z: Future<Output = ()>>(
        self,
        max_wait: Duration,
        sleep: T2,
    ) -> LimitLayer<L, K, W, T2, G> {
        let LimitLayer { limits, key, weight, fields, discarded, cap, .. } = self;
        LimitLayer { limits, key, weight, max_wait, sleep, fields, discarded, cap }
    }
}

impl<L: Labels + 'static, K, W, T, G: Limiter> LimitLayer<L, K, W, T, G> {
    /// Asks the limiter of a request's key.
    fn decide(&self, parts: &Parts) -> Decision<Handle<L, Limit<G>>>
    where
        K: RequestKey<L>,
        W: Fn(&Parts) -> u64,
    {
        let ask = |key: L::Borrowed<'_>| {
            let weight = (self.weight)(parts);
            self.limits.decide(key, weight, self.max_wait, |limit, answer| {
                let limiter = limit.limiter()?;
                let decided = match answer {
                    Answer::Told(admission, grant) => (admission, grant),
                    Answer::Asks(ask) => {
                        let asked = Asked::new(limit.keep(), ask, weight, self.fields, self.cap);
                        return Some(Decision::asking(asked));
                    }
                };
                let join = |now, wait, takes| self.cap.hold(limit.line.join(now, wait, takes));
                let hold = || limit.keep();
                Some(Decision::of(limiter, weight, decided, hold, self.fields, join))
            })
        };
        self.key.with_key(parts, ask).flatten().unwrap_or_else(Decision::unlimited)
    }
}

impl<S, L, K: Clone, W: Clone, T: Clone, G> Layer<S> for LimitLayer<L, K, W, T, G>
where
    L: Labels + 'static,
    G: Send + Sync,
{
    type Service = LimitService<S, LimitLayer<L, K, W, T, G>>;

    fn layer(&self, inner: S) -> Self::Service {
        LimitService { inner, layer: self.clone() }
    }
}

impl<L, K: Clone, W: Clone, T: Clone, G> Clone for LimitLayer<L, K, W, T, G>
where
    L: Labels + 'static,
    G: Send + Sync,
{
    fn clone(&self) -> Self {
        LimitLayer {
            limits: self.limits,
            key: self.key.clone(),
            weight: self.weight.clone(),
            max_wait: self.max_wait,
            sleep: self.sleep.clone(),
            fields: self.fields,
            discarded: self.discarded,
            cap: self.cap,
        }
    }
}

impl<L, K, W, T, G> Debug for LimitLayer<L, K, W, T, G>
where
    L: Labels + 'static,
    G: Send + Sync + Debug,
{
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitLayer")
            .field("limits", self.limits)
            .field("max_wait", &self.max_wait)
            .field("fields", &self.fields)
            .finish_non_exhaustive()
    }
}

/// A service whose requests are rate-limited: from a [`LimitLayer`].
///
/// The service must be `Clone`: a request that waits takes the ready one with it.
#[derive(Clone, Debug)]
pub struct LimitService<S, Y> {
    inner: S,
    layer: Y,
}

impl<S, L, K, W, T, Z, G, A, B> Service<Request<A>> for LimitService<S, LimitLayer<L, K, W, T, G>>
where
    S: Service<Request<A>, Response = Response<B>> + Clone,
    L: Labels + 'static,
    K: RequestKey<L>,
    W: Fn(&Parts) -> u64,
    T: Fn(Duration) -> Z,
    Z: Future<Output = ()>,
    G: Limiter,
    A: Body,
    B: Default,
{
    type Response = Response<B>;
    type Error = S::Error;
    type Future = LimitFuture<S, A, AtTurn<Z, Handle<L, Limit<G>>>>;

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
