//! The limiters that a layer asks: that of a request's key; or a pace for all requests, or one of
//! a few in statics among which a function chooses.

use std::collections::HashMap;
use std::future::Ready;
use std::ptr;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use http::request::Parts;
use windrow::Gate;
use windrow::family::Handle;
use windrow::labels::{Labels, RuntimeLabels};

use crate::decision::{Decision, Holds, Terms, Told, told};
use crate::key::{ByValues, KeyValues, RequestKey};
use crate::limit::{Limit, Limits};
use crate::limiter::{Limiter, Reply};
use crate::line::Line;
use crate::rate::{Asks, RateLayer};

/// A rate-limiting layer: refuses requests beyond the limit of their key's [`Gate`] or
/// [`Pace`](windrow::Pace), with *429 Too Many Requests* and `Retry-After`.
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
/// | grants it [later](LimitLayer::wait) | the service's response, after the wait | the same |
/// | refuses it | 429, and `Retry-After` in whole seconds, rounded up, at least 1 | `grpc-status: 8` (`RESOURCE_EXHAUSTED`), and `grpc-retry-pushback-ms`, rounded up |
/// | never lets it through: its [weight](LimitLayer::weight) is beyond the limit | 429 without `Retry-After` | the same status, and a pushback of -1: do not retry |
///
/// (A weight beyond the limit is not answered with 413, since a weight is seldom the size of the
/// body.) The body is empty; to give it one, see [`Blocked`](crate::Blocked). The draft `RateLimit`
/// header fields are written if the layer is [given](LimitLayer::fields) them.
///
/// # When a client is to come back
///
/// Requests that are refused together are told different times: otherwise their clients would come
/// back together, and all but a few would be refused again. Each refused request takes a place in
/// the line of its key, behind those that were refused before it, at the distance that the limit
/// needs to admit it: for a limit of 100 a second, 10 milliseconds. The time that it is told is
///
/// - never earlier than the request would be admitted if no other came;
/// - at most 30 seconds later than that, and then rounded up. A longer line begins anew at its
///   head: so clients that never come back hold up the others for no longer.
///
/// Clients that give up rather than wait for long can be told [less](LimitLayer::max_retry_after).
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
/// requests, see [`PaceLayer`].
pub type LimitLayer<L, K, W = fn(&Parts) -> u64, T = fn(Duration) -> Ready<()>, G = Gate> =
    RateLayer<ByKey<L, K, G>, W, T>;

/// The limiter of a request's key, which a [`LimitLayer`] asks.
pub struct ByKey<L: Labels + 'static, K, G: Send + Sync + 'static> {
    limits: &'static Limits<L, G>,
    key: K,
}

impl<L: Labels, K, G: Limiter> RateLayer<ByKey<L, K, G>> {
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
        RateLayer::of(ByKey { limits, key })
    }
}

impl<F, G: Limiter> RateLayer<ByKey<RuntimeLabels, ByValues<F>, G>> {
    /// Creates a layer that asks `limits` whose labels have names that are known only at run time.
    /// `write` writes the values of a request's key, in the order of the names; a request for which
    /// it returns `None` is not limited.
    ///
    /// To write a key allocates nothing. A key with another number of values than names shares the
    /// overflow gate: see [`KeyValues`].
    ///
    /// ```
    /// use std::sync::LazyLock;
    /// use windrow::{Gate, labels::RuntimeLabels};
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
    ///     let names = LABELS.iter().map(|(label, _)| label);
    ///     let hundred = |_: Option<&[&str]>| Gate::builder(100).build().expect("100 a second");
    ///     Limits::with_names(names, 10_000, hundred).expect("names that differ")
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
        RateLayer::of(ByKey { limits, key: ByValues(write) })
    }
}

impl<L: Labels, K: RequestKey<L>, G: Limiter> Asks for ByKey<L, K, G> {
    type Held = Handle<L, Limit<G>>;

    fn decide(
        &self,
        parts: &Parts,
        weight: impl FnOnce(&Parts) -> u64,
        terms: Terms,
    ) -> Decision<Self::Held> {
        let ask = |key: L::Borrowed<'_>| {
            let weight = weight(parts);
            self.limits.decide(key, weight, terms.max_wait, |limit, reply| {
                let limiter = limit.limiter()?;
                Some(match reply {
                    Reply::Asks(ask) => {
                        Decision::Asks(Box::pin(answered(limit.keep(), ask, weight, terms)))
                    }
                    Reply::Told(admission, grant) => {
                        let decided = (admission, grant);
                        let join = |now, wait, takes| limit.line.join(now, wait, takes);
                        Decision::of(limiter, weight, decided, terms, || limit.keep(), join)
                    }
                })
            })
        };
        self.key.with_key(parts, ask).flatten().unwrap_or_else(|| Decision::Now(Told::default()))
    }
}

impl<L: Labels, G: Limiter> Holds for Handle<L, Limit<G>> {
    type Limiter = G;

    fn limiter(&self) -> Option<&G> {
        (**self).limiter()
    }
}

/// Returns the answer of a limiter that asks elsewhere, and counts it.
async fn answered<L: Labels, G: Limiter>(
    limit: Handle<L, Limit<G>>,
    ask: G::Ask,
    weight: u64,
    terms: Terms,
) -> Result<Told, Told> {
    let admission = ask.await;
    limit.count(admission.is_granted());
    let Some(limiter) = limit.limiter() else { return Ok(Told::default()) };
    let join = |now, wait, takes| limit.line.join(now, wait, takes);
    let told = told(limiter, weight, admission, terms, join);
    if admission.is_granted() { Ok(told) } else { Err(told) }
}

impl<L: Labels, K: Clone, G: Send + Sync> Clone for ByKey<L, K, G> {
    fn clone(&self) -> Self {
        ByKey { limits: self.limits, key: self.key.clone() }
    }
}

/// A rate-limiting layer by a leaky bucket: admits requests at the [`Pace`](windrow::Pace) or the
/// [`Paces`](windrow::Paces) that a function chooses, and refuses others with *429 Too Many
/// Requests* and `Retry-After`.
///
/// A [`LimitLayer`] admits the whole limit at once, if it is asked to. This one spreads requests
/// evenly, and [`Paces`](windrow::Paces) keep several limits by one decision.
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
/// A request that [waits](PaceLayer::wait) has a reserved turn. **If its future is dropped before
/// the turn**, because the client has gone away, the turn is given back, or goes to the next
/// request: see [`Reservation`](windrow::pace::Reservation). So the pace serves its limit, also if
/// it lets requests wait for longer than their clients do. A request that was called counts,
/// whatever becomes of it, and also if a layer behind this one refuses it.
///
/// The layer asks the pace when the service is called, not in `poll_ready`: a request that would
/// have to wait holds up no other, and a refusal is a response, not an error.
///
/// # Several paces
///
/// The function may choose among the paces of the program, for each request: by route, by plan. For
/// keys that come and go, such as clients, give a [`LimitLayer`] [`PaceLimits`](crate::PaceLimits),
/// which have a pace for each and keep their number bounded.
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
pub type PaceLayer<F, W = fn(&Parts) -> u64, T = fn(Duration) -> Ready<()>> =
    RateLayer<ByPace<F>, W, T>;

/// The pace that a function chooses for a request, which a [`PaceLayer`] asks.
#[derive(Clone)]
pub struct ByPace<F> {
    pace: F,
    /// The line of each pace that has refused a request, by the pace's address. The paces are in
    /// statics, so their number is bounded, and no two have one address.
    lines: Arc<RwLock<HashMap<usize, Line>>>,
}

impl<P: Limiter, F: Fn(&Parts) -> Option<&'static P>> RateLayer<ByPace<F>> {
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
    pub fn new(pace: F) -> Self {
        RateLayer::of(ByPace { pace, lines: Arc::default() })
    }
}

impl<P: Limiter, F: Fn(&Parts) -> Option<&'static P>> Asks for ByPace<F> {
    type Held = &'static P;

    fn decide(
        &self,
        parts: &Parts,
        weight: impl FnOnce(&Parts) -> u64,
        terms: Terms,
    ) -> Decision<&'static P> {
        let Some(pace) = (self.pace)(parts) else { return Decision::Now(Told::default()) };
        let weight = weight(parts);
        let decided = pace.decide(weight, terms.max_wait);
        let join = |now, wait, takes| {
            let address = ptr::from_ref(pace).addr();
            let known = self.lines.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(line) = known.get(&address) {
                return line.join(now, wait, takes);
            }
            drop(known);
            let mut all = self.lines.write().unwrap_or_else(PoisonError::into_inner);
            all.entry(address).or_default().join(now, wait, takes)
        };
        Decision::of(pace, weight, decided, terms, || pace, join)
    }
}

impl<G: Limiter> Holds for &'static G {
    type Limiter = G;

    fn limiter(&self) -> Option<&G> {
        Some(self)
    }
}
