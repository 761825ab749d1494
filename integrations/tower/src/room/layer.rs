//! The layer of concurrency limits, and its service.

use std::fmt::{self, Debug, Formatter};

use http::request::Parts;
use tower_layer::Layer;
use windrow::labels::{Labels, RuntimeLabels};

use crate::key::{ByValues, KeyValues, RequestKey};
use crate::layered::{Admits, Layered};
use crate::refusal::Reason;
use crate::refused::DISCARDED;
use crate::room::rooms::{InRoom, Rooms};

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
#[must_use = "a layer does nothing before a service has it"]
pub struct RoomLayer<L: Labels + 'static, K> {
    rooms: &'static Rooms<L>,
    key: K,
    discarded: u64,
}

impl<L: Labels + 'static, K> RoomLayer<L, K> {
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
    pub fn new(rooms: &'static Rooms<L>, key: K) -> RoomLayer<L, K>
    where
        K: for<'r> Fn(&'r Parts) -> Option<L::Borrowed<'r>>,
    {
        RoomLayer { rooms, key, discarded: DISCARDED }
    }

    /// Returns the layer with another bound on the bytes that it reads of a refused request's body:
    /// see [`LimitLayer::discard`](crate::LimitLayer::discard).
    ///
    /// ```
    /// # use windrow::labels;
    /// # use windrow_tower::{RoomLayer, Rooms};
    /// # labels! { pub struct Client { client: u32 } }
    /// # static CLIENTS: Rooms<Client> = Rooms::new(1_000, |_| 5);
    /// let layer = RoomLayer::new(&CLIENTS, |_| Some(Client { client: 7 }));
    /// let layer = layer.discard(1_000_000); // for uploads
    /// # let _ = tower_layer::Layer::layer(&layer, ());
    /// ```
    pub fn discard(self, bytes: u64) -> RoomLayer<L, K> {
        RoomLayer { discarded: bytes, ..self }
    }
}

impl<F> RoomLayer<RuntimeLabels, ByValues<F>> {
    /// Creates a layer of `rooms` whose labels have names that are known only at run time. `write`
    /// writes the values of a request's key, in the order of the names; a request for which it
    /// returns `None` is not limited.
    ///
    /// To write a key allocates nothing. A key with another number of values than names shares the
    /// overflow room: see [`KeyValues`].
    ///
    /// ```
    /// use std::sync::LazyLock;
    /// use windrow::labels::RuntimeLabels;
    /// use windrow_tower::{RoomLayer, Rooms};
    ///
    /// static TENANTS: LazyLock<Rooms<RuntimeLabels>> = LazyLock::new(|| {
    ///     Rooms::with_names(["tenant"], 1_000, |_| 50).expect("one name")
    /// });
    ///
    /// let layer = RoomLayer::with_values(&TENANTS, |parts, key| {
    ///     key.push(parts.headers.get("x-tenant")?.to_str().ok()?);
    ///     Some(())
    /// });
    /// # let _ = tower_layer::Layer::layer(&layer, ());
    /// ```
    pub fn with_values(
        rooms: &'static Rooms<RuntimeLabels>,
        write: F,
    ) -> RoomLayer<RuntimeLabels, ByValues<F>>
    where
        F: Fn(&Parts, &mut KeyValues) -> Option<()>,
    {
        RoomLayer { rooms, key: ByValues(write), discarded: DISCARDED }
    }
}

impl<S, L: Labels + 'static, K: Clone> Layer<S> for RoomLayer<L, K> {
    type Service = Layered<S, RoomLayer<L, K>>;

    fn layer(&self, inner: S) -> Self::Service {
        Layered { inner, layer: self.clone() }
    }
}

impl<L: Labels + 'static, K: Clone> Clone for RoomLayer<L, K> {
    fn clone(&self) -> RoomLayer<L, K> {
        RoomLayer { rooms: self.rooms, key: self.key.clone(), discarded: self.discarded }
    }
}

impl<L: Labels + 'static, K> Debug for RoomLayer<L, K> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoomLayer").field("rooms", self.rooms).finish_non_exhaustive()
    }
}

impl<L: Labels, K: RequestKey<L>> Admits for RoomLayer<L, K> {
    type Kept = InRoom<L>;

    fn admit(&self, parts: &Parts) -> Result<Option<InRoom<L>>, Reason> {
        let enter = |key: L::Borrowed<'_>| self.rooms.try_enter(key).ok_or(Reason::Full);
        self.key.with_key(parts, enter).transpose()
    }

    fn discarded(&self) -> u64 {
        self.discarded
    }
}
