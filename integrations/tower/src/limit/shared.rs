//! Limits of many processes, for each key.

use windrow_redis::SharedGate;

use crate::limit::limits::Limits;

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
pub type SharedLimits<L> = Limits<L, SharedGate>;
