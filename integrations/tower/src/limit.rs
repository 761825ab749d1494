//! Rate limits by key: at most `limit` requests in an interval.

mod counts;
mod fields;
mod forgetting;
mod limits;
mod series;
mod settings;
mod sharing;

use windrow::Pace;
#[cfg(feature = "redis")]
use windrow_redis::SharedGate;

pub use fields::LimitFields;
pub(crate) use fields::{Fields, whole_seconds};
pub use limits::Limits;
pub use series::Limit;

/// Rate limits by key with a [`Pace`] for each key: 20 a second for each client, and bursts of 40.
/// Or with [`Paces`](windrow::Paces): several limits for each key.
///
/// ```
/// use std::time::Duration;
/// use windrow::{AtMost, Pace, labels};
/// use windrow_tower::{LimitLayer, PaceLimits};
///
/// labels! { pub struct Client { key: str } }
///
/// /// A unit comes back each 50 ms, up to 40.
/// static CLIENTS: PaceLimits<Client> =
///     PaceLimits::new(10_000, |_| Pace::of(Duration::from_millis(50), AtMost(40)));
///
/// let layer = LimitLayer::new(&CLIENTS, |parts| {
///     Some(Client { key: parts.headers.get("x-api-key")?.to_str().ok()? })
/// });
/// # let _ = tower_layer::Layer::layer(&layer, ());
/// ```
///
/// All that is said of [`Limits`] and of a [`LimitLayer`](crate::LimitLayer) holds, with a pace for
/// a gate, but for what follows. The turn of a request that goes away while it
/// [waits](crate::LimitLayer::wait) is given back, or goes to the next one, as a
/// [`Reservation`](windrow::pace::Reservation).
///
/// Several limits by key, with a burst of the whole limit each:
///
/// ```
/// use std::time::Duration;
/// use windrow::{Paces, labels};
/// use windrow_tower::PaceLimits;
///
/// labels! { pub struct Client { key: str } }
///
/// static CLIENTS: PaceLimits<Client, Paces> = PaceLimits::new(10_000, |_| {
///     let (second, minute) = (Duration::from_secs(1), Duration::from_secs(60));
///     Paces::builder().limit(10, second).limit(200, minute).build().expect("two limits")
/// });
/// assert!(CLIENTS.admit(Client { key: "a7" }, 10, Duration::ZERO).is_granted());
/// ```
///
/// # When there are too many keys
///
/// Keys beyond the limit of keys share one pace, the overflow pace. A key that gets a pace of its
/// own later does not ask both: its pace begins where the overflow pace stands, with the weight in
/// use there, or its whole burst if that is less; and behind the last moment that a waiting request
/// was told. So a new client beside a shared burst that is used up has its full rate from the first
/// moment, and its burst as soon as that has come back.
///
/// A client never gets more by that than from one pace: **in each span of `d` nanoseconds, at most
/// `burst + (d - 1) / period`**, with the higher burst and the shorter period of its own pace and
/// the overflow pace. If its own burst is the lower one, this holds for spans up to the time in
/// which that burst comes back. (In a longer span the client may be forgotten, and share again.)
///
/// A key is idle, and may be [forgotten](Limits::forget_idle), once its whole burst is back.
///
/// # Settings
///
/// A rule has a rate and a `burst`: `{ "limit": 20, "burst": 40 }` is 20 a second, and 40 at once
/// after a rest. Without a burst, it is the limit. A [`Rate`](crate::Rate)'s buckets are for gates
/// alone, and a strict one is refused. A weight in use [stays in use](windrow::Pace::reconfigure)
/// across a swap. Rules cannot change [`Paces`](windrow::Paces), of which each has several limits.
///
/// A span across a swap of rules has the highest burst and the shortest period that were in force
/// during it.
///
/// # Memory
///
/// A key takes 112 bytes with a [`Pace`], or 672 with [`Paces`](windrow::Paces), and what
/// [`Limits`](Limits#memory) say of labels, clocks, threads and waits. The first
/// [rules](Limits::replace) that change the pace of a key add 240 bytes; keys that come later, by
/// the same rules, take none for it. Requests that go away while they wait have
/// [memory](windrow::pace::Reservation#what-is-given-back) for their turns.
pub type PaceLimits<L, P = Pace> = Limits<L, P>;

/// Rate limits by key which many processes share through Redis or Valkey: of each key, all
/// processes together admit at most the limit. Needs the feature `redis`.
///
/// ```no_run
/// use std::sync::LazyLock;
/// use std::time::Duration;
///
/// use windrow::{AtMost, labels};
/// use windrow_redis::SharedGates;
/// use windrow_tower::{LimitLayer, SharedLimits};
///
/// labels! { pub struct Tenant { tenant: str } }
///
/// static GATES: LazyLock<SharedGates> = LazyLock::new(|| {
///     let builder = SharedGates::builder(AtMost(50)).name("tenants");
///     builder.connect("redis://127.0.0.1/").expect("an engine")
/// });
///
/// static TENANTS: SharedLimits<Tenant> =
///     SharedLimits::new(10_000, |key| GATES.of(key.map_or("", |key| key.tenant).as_bytes()));
///
/// let layer = LimitLayer::new(&TENANTS, |parts| {
///     Some(Tenant { tenant: parts.headers.get("x-tenant")?.to_str().ok()? })
/// });
/// let layer = layer.wait(Duration::from_millis(5), tokio::time::sleep);
/// # let _ = tower_layer::Layer::layer(&layer, ());
/// ```
///
/// For one limit of all requests, let the function return a clone of one
/// [`SharedGate`](windrow_redis::SharedGate), whatever the key: then the keys, such as routes, have
/// counts of their own, and one limit together.
///
/// All that is said of [`Limits`] and of a [`LimitLayer`](crate::LimitLayer) holds, with a shared
/// limit for a gate, but for what follows.
///
/// *Waits.* A request that finds no permit in this process waits for an answer of the engine, for
/// at most the [patience](crate::LimitLayer::wait) of the layer; the sleep function beside it is
/// not called. So give it some milliseconds: without patience, the first request of a key is
/// refused. The request is counted once it is answered; one that goes away before takes nothing,
/// and is not counted. [`Limits::admit`] does not wait.
///
/// *The engine is away.* The limit's [policy](windrow_redis::Absence) decides, and no request waits
/// for longer than its patience.
///
/// *Fields.* `r` is what this process holds of the limit. Each process has a line of its own for
/// the clients that it refuses.
///
/// *Keys.* A key without permits in this process may be forgotten, since the engine counts what it
/// was granted. A key that had to share asks its own limit alone, once it has one.
///
/// *Settings.* Rules are refused: change the limit of all processes by
/// [`SharedGate::set_limit`](windrow_redis::SharedGate::set_limit).
#[cfg(feature = "redis")]
pub type SharedLimits<L> = Limits<L, SharedGate>;
