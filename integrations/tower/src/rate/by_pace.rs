//! A pace for all requests, or a few in statics among which a function chooses.

use std::collections::HashMap;
use std::future::Ready;
use std::ptr;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use http::request::Parts;
use windrow::Timestamp;

use crate::decision::{Decision, Holds, Terms, Told};
use crate::limiter::Limiter;
use crate::line::Line;
use crate::rate::{Asks, RateLayer};

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
pub type PaceLayer<F, W = fn(&Parts) -> u64, T = fn(Duration) -> Ready<()>> =
    RateLayer<ByPace<F>, W, T>;

/// The pace that a function chooses for a request, which a [`PaceLayer`] asks.
#[derive(Clone)]
pub struct ByPace<F> {
    pace: F,
    lines: Arc<Lines>,
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
        let join = |now, wait, takes| self.lines.join(pace, now, wait, takes);
        Decision::of(pace, weight, decided, terms, || pace, join)
    }
}

impl<G: Limiter> Holds for &'static G {
    type Limiter = G;

    fn limiter(&self) -> Option<&G> {
        Some(self)
    }
}

/// The line of each pace that has refused a request, by the pace's address. The paces are in
/// statics, so their number is bounded, and no two have one address.
#[derive(Debug, Default)]
struct Lines(RwLock<HashMap<usize, Line>>);

impl Lines {
    /// Takes the next place in the line of a pace: see [`Line::join`].
    fn join<P>(
        &self,
        pace: &'static P,
        now: Timestamp,
        wait: Duration,
        takes: Duration,
    ) -> Duration {
        let address = ptr::from_ref(pace).addr();
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = known.get(&address) {
            return line.join(now, wait, takes);
        }
        drop(known);
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        all.entry(address).or_default().join(now, wait, takes)
    }
}
