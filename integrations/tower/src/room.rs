//! The layer of concurrency limits, and the room of a key.

mod rooms;

use std::mem;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use http::request::Parts;
use windrow::family::{Handle, Metric};
use windrow::in_flight::{InFlightGuard, LevelOwner};
use windrow::labels::{Labels, RuntimeLabels};
use windrow::{AtMost, Counter, InFlight};

use crate::key::{ByValues, KeyValues, RequestKey};
use crate::layered::{AdmissionLayer, Admits};
use crate::refusal::{DISCARDED, Reason};
use crate::response::Follower;
use crate::rules::Places;

pub use rooms::Rooms;

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

/// The level of a closed room: the highest, which is never a number of places.
const CLOSED: u64 = u64::MAX;

/// A key's requests in flight, and the counts of its requests: a metric in the family of [`Rooms`].
#[derive(Debug, Default)]
pub struct Room {
    level: InFlight,
    terms: OnceLock<Terms>,
    passed: Counter,
    blocked: Counter,
}

/// The terms of a room.
#[derive(Debug)]
struct Terms {
    places: AtomicU64,
    /// Keys without a room of their own share this one.
    is_shared: bool,
}

impl Room {
    /// Returns the number of requests in flight.
    ///
    /// ```
    /// # use windrow::labels;
    /// # use windrow_tower::Rooms;
    /// # labels! { pub struct Client { client: u32 } }
    /// static CLIENTS: Rooms<Client> = Rooms::new(1_000, |_| 10);
    /// let client = Client { client: 7 };
    /// let place = CLIENTS.try_enter(client);
    /// assert_eq!(CLIENTS.family().with(client).level(), 1);
    /// # drop(place);
    /// ```
    pub fn level(&self) -> u64 {
        let level = self.level.level();
        if level == CLOSED { 0 } else { level }
    }

    /// Returns the counter of admitted requests.
    ///
    /// ```
    /// assert_eq!(windrow_tower::Room::default().passed().sum(), 0);
    /// ```
    pub fn passed(&self) -> &Counter {
        &self.passed
    }

    /// Returns the counter of refused requests.
    ///
    /// ```
    /// assert_eq!(windrow_tower::Room::default().blocked().sum(), 0);
    /// ```
    pub fn blocked(&self) -> &Counter {
        &self.blocked
    }

    /// Returns the number of places, once it is set.
    fn places(&self) -> Option<u64> {
        // Relaxed: it publishes nothing else, and a request under way may go by either rules.
        self.terms.get().map(|terms| terms.places.load(Ordering::Relaxed))
    }

    fn is_shared(&self) -> bool {
        self.terms.get().is_some_and(|terms| terms.is_shared)
    }

    /// Sets the number of places, if there is one; returns whether it was another.
    fn go_by(&self, places: Places) -> bool {
        // Relaxed, as the load.
        let set = self.terms.get().map(|terms| terms.places.swap(places.places, Ordering::Relaxed));
        set.is_some_and(|before| before != places.places)
    }

    /// Closes the room if it is empty. Returns whether it is closed now.
    fn close(&self) -> bool {
        let closed = self.level.try_enter(CLOSED, AtMost(CLOSED)).map(mem::forget); // forever
        closed.is_some() || self.is_closed()
    }

    fn is_closed(&self) -> bool {
        self.level.level() == CLOSED
    }
}

/// The total is the numbers of passed and of blocked requests.
impl Metric for Room {
    type Total = (u64, u64);

    fn total(&self) -> (u64, u64) {
        (self.passed.total(), self.blocked.total())
    }

    fn merge(one: &mut (u64, u64), other: (u64, u64)) {
        Counter::merge(&mut one.0, other.0);
        Counter::merge(&mut one.1, other.1);
    }
}

/// Guard of a place in a room, which is freed when this is dropped: from [`Rooms::try_enter`].
///
/// ```
/// # use windrow::labels;
/// # use windrow_tower::Rooms;
/// # labels! { pub struct Client { client: u32 } }
/// static CLIENTS: Rooms<Client> = Rooms::new(1_000, |_| 10);
/// let place = CLIENTS.try_enter(Client { client: 7 }).expect("it is empty");
/// std::thread::spawn(move || drop(place)).join().unwrap();
/// assert_eq!(CLIENTS.family().with(Client { client: 7 }).level(), 0);
/// ```
#[must_use = "the place is free again when this is dropped, which is at once"]
pub struct InRoom<L: Labels> {
    _inside: InFlightGuard<Kept<L>>,
}

/// The handle that a place keeps. (A room itself hands out places only within its limit.)
struct Kept<L: Labels>(Handle<L, Room>);

impl<L: Labels> LevelOwner for Kept<L> {
    fn in_flight(&self) -> &InFlight {
        &self.0.level
    }
}

/// The place is free when this is dropped, whatever became of the request.
impl<L: Labels> Follower for InRoom<L> {}
