//! The layer of concurrency limits.

mod rooms;
mod settings;

use http::request::Parts;
use windrow::labels::{Labels, RuntimeLabels};

use crate::key::{ByValues, KeyValues, RequestKey};
use crate::layered::{AdmissionLayer, Admits};
use crate::refusal::{DISCARDED, Reason};

pub use rooms::{InRoom, Room, Rooms};

/// A layer of concurrency limits: refuses a request whose key's room is full, with *503 Service
/// Unavailable*.
///
/// ```
/// use axum::{Router, extract::MatchedPath, routing::get};
/// use windrow::labels;
/// use windrow_tower::{RoomLayer, Rooms};
///
/// labels! { pub struct Route { route: str } }
///
/// static ROUTES: Rooms<Route> = Rooms::new(1_000, |_| 50); // at once, of each route
///
/// let layer = RoomLayer::new(&ROUTES, |parts| {
///     parts.extensions.get::<MatchedPath>().map(|path| Route { route: path.as_str() })
/// });
/// let app: Router = Router::new().route("/carts/{id}", get(|| async { "a cart" })).layer(layer);
/// ```
///
/// A request has its place from the call until the response's body has ended or is dropped; without
/// a response, until its future is dropped, or the service fails or panics. So a slow reader keeps
/// its place for as long as it reads.
///
/// A refusal is 503, and not 429: the client has not asked too much, but the service has not
/// finished its earlier work. The time until it has is unknown, so there is no `Retry-After`: a
/// client should wait a random time, up to twice as long after each refusal. For
/// gRPC, by the request's `content-type`, it is `grpc-status: 14` (`UNAVAILABLE`). The body is
/// empty; to give it one, see [`Blocked`](crate::Blocked).
///
/// tower's own `ConcurrencyLimit` is one limit for everything that the layer wraps, and requests
/// wait for it in `poll_ready`, in a queue of any length. This one has a limit for each key, and no
/// request waits: a refused client can go to another server at once.
///
/// Clones share the rooms, which are in the static.
pub type RoomLayer<L, K> = AdmissionLayer<ByRoom<L, K>>;

/// The room of a request's key, which a [`RoomLayer`] asks.
pub struct ByRoom<L: Labels + 'static, K> {
    rooms: &'static Rooms<L>,
    key: K,
}

impl<L: Labels, K> AdmissionLayer<ByRoom<L, K>> {
    /// Creates a layer of `rooms`. `key` returns the key whose room a request enters; a request
    /// without a key enters none.
    ///
    /// ```
    /// use windrow::labels;
    /// use windrow_tower::{RoomLayer, Rooms};
    ///
    /// labels! { pub enum Everything { Everything } pub struct All { all: Everything } }
    ///
    /// static ALL: Rooms<All> = Rooms::new(1_000, |_| 200);
    ///
    /// let layer = RoomLayer::new(&ALL, |_| Some(All { all: Everything::Everything }));
    /// # let _ = tower_layer::Layer::layer(&layer, ());
    /// ```
    pub fn new(rooms: &'static Rooms<L>, key: K) -> Self
    where
        K: for<'r> Fn(&'r Parts) -> Option<L::Borrowed<'r>>,
    {
        AdmissionLayer { asked: ByRoom { rooms, key }, discarded: DISCARDED }
    }
}

impl<F> AdmissionLayer<ByRoom<RuntimeLabels, ByValues<F>>> {
    /// Creates a layer of `rooms` whose labels have names that are known only at run time. `write`
    /// writes the values of a request's key, in the order of the names; a request for which it
    /// returns `None` is not limited.
    ///
    /// To write a key allocates nothing. A key with another number of values than names shares the
    /// overflow room: see [`KeyValues`].
    ///
    /// ```
    /// use std::sync::LazyLock;
    /// use windrow::labels::{LabelNames, RuntimeLabels};
    /// use windrow_tower::{RoomLayer, Rooms};
    ///
    /// static TENANTS: LazyLock<Rooms<RuntimeLabels>> = LazyLock::new(|| {
    ///     let names = LabelNames::new(["tenant"]).expect("one name");
    ///     Rooms::with_names(names, 1_000, |_| 50)
    /// });
    ///
    /// let layer = RoomLayer::with_values(&TENANTS, |parts, key| {
    ///     key.push(parts.headers.get("x-tenant")?.to_str().ok()?);
    ///     Some(())
    /// });
    /// # let _ = tower_layer::Layer::layer(&layer, ());
    /// ```
    pub fn with_values(rooms: &'static Rooms<RuntimeLabels>, write: F) -> Self
    where
        F: Fn(&Parts, &mut KeyValues) -> Option<()>,
    {
        let key = ByValues(write);
        AdmissionLayer { asked: ByRoom { rooms, key }, discarded: DISCARDED }
    }
}

impl<L: Labels, K: Clone> Clone for ByRoom<L, K> {
    fn clone(&self) -> Self {
        ByRoom { rooms: self.rooms, key: self.key.clone() }
    }
}

impl<L: Labels, K: RequestKey<L>> Admits for ByRoom<L, K> {
    type Kept = InRoom<L>;

    fn admit(&self, parts: &Parts) -> Result<Option<InRoom<L>>, Reason> {
        let enter = |key: L::Borrowed<'_>| self.rooms.try_enter(key).ok_or(Reason::Full);
        self.key.with_key(parts, enter).transpose()
    }
}
