#![cfg_attr(docsrs, feature(doc_cfg))] // the documentation site names the feature of an item
#![doc = include_str!("../README.md")]
//!
//! # Where it stands
//!
//! [`MetricsLayer`] has to be where the route is known: inside the router. In axum,
//! [`Router::layer`] and `Router::route_layer` are such places: they wrap each route by itself, and
//! `layer` wraps the fallback as well. A layer around the whole router (`ServiceBuilder`, tonic's
//! `Server::layer`) sees a request before it is matched; there, `route` must find the route by
//! other means. In gRPC, that is the path, if it is one that you serve:
//!
//! ```
//! use windrow_tower::{MetricsLayer, Routes};
//!
//! static ROUTES: Routes = Routes::new();
//! const METHODS: [&str; 2] = ["/shop.Carts/Get", "/shop.Carts/Put"];
//!
//! let layer = MetricsLayer::new(&ROUTES, |parts| {
//!     Some(parts.uri.path()).filter(|path| METHODS.contains(path))
//! });
//! # let _ = tower_layer::Layer::layer(&layer, ());
//! ```
//!
//! A raw path is not a route: a client can put anything into it. A family holds at most 1000 series
//! by default, so memory is bounded even then; but once clients have filled it with made-up paths,
//! your own routes share the overflow series.
//!
//! # What is counted, and when
//!
//! | | at |
//! |---|---|
//! | [`Http::Request`] | the call of the service |
//! | [`Http::Block`] | the head of a response with [`Blocked`] among its extensions, or [`Outcome::Refused`] |
//! | [`Http::Rt`] | the head of the response, or the service's error: the time since the call |
//! | [`Http::Exception`] | the head, the trailers, an error or a panic of service or body |
//! | [`Http::Cancelled`] | the drop of the future, or in gRPC of the body, before the outcome is known |
//! | [`Endpoint::in_flight`], and its maximum [`Http::InFlight`] | from the call to the end or drop of the response's body |
//!
//! A limit or a breaker behind the layer sets [`Blocked`].
//!
//! Without a response, a request is in flight until its future is dropped, or until the service
//! fails or panics.
//!
//! So each call is one request, and at most one exception, cancellation or block. A blocked request
//! has no response time. (Sentinel's pass is a request that was not blocked: here, that is the
//! requests less the blocks. Around the limits, the layer sees what clients see. Behind them, it
//! sees what the service does.) A body that is dropped early
//! counts as none of these: servers drop bodies that are never read, such as that of a `HEAD`
//! request. An upgraded connection (a web socket) is in flight until its response has ended, not
//! until the connection is closed.
//!
//! # Limits of heavy keys alone
//!
//! A gate for each client takes memory for each. Where only the few that ask much have to be held
//! back, [`HeavyKeys`] tells them apart, and they alone ask a gate:
//!
//! ```
//! use std::time::Duration;
//! use windrow::{Gate, HeavyKeys, labels};
//! use windrow_tower::{LimitLayer, Limits};
//!
//! labels! { pub struct Client { client: str } }
//!
//! static ASKED: HeavyKeys<str> = HeavyKeys::of(1_000, Duration::from_secs(1), 2);
//! static CLIENTS: Limits<Client> =
//!     Limits::new(10_000, |_| Gate::builder(100).buckets(10).build().expect("100 a second"));
//! const FREE: u64 = 10;
//!
//! let layer = LimitLayer::new(&CLIENTS, |parts| {
//!     let client = parts.headers.get("x-account")?.to_str().ok()?;
//!     let is_heavy = ASKED.add_and_weigh(client, 1) > FREE;
//!     let client = Client { client };
//!     (is_heavy || CLIENTS.family().get(client).is_some()).then_some(client)
//! });
//! # let _ = tower_layer::Layer::layer(&layer, ());
//! ```
//!
//! A client asks its gate from the request on that is seen to be one of more than `FREE`, and for
//! as long as it has a gate. So:
//!
//! - A client with at most `FREE` requests in each interval of `ASKED` never gets a gate, and is
//!   never refused, whatever all others do. (Keys of text are told apart by their first [256
//!   bytes][longest key]: longer ones are one client, so take a key that clients cannot choose.)
//! - A client with a gate is refused beyond its limit alone, as long as
//!   [there are gates](Limits#when-there-are-too-many-keys). The heavy clients of two intervals may
//!   have one: at most twice the requests in an interval divided by `FREE`.
//! - Before a client has its gate, it is let through at most `S (B + 1) (FREE + W / n)` times in an
//!   interval, with `S` [shards][heavy cost] (one for each core, and one more), `B` buckets, and
//!   all clients' `W` requests divided by the capacity `n`. Then it has the limit of its gate.
//! - The memory is that of `ASKED`, and of a gate for each heavy client, however many clients there
//!   are. Keys that strangers choose fill neither.
//!
//! # Cost
//!
//! *Counting.* A lookup of the route in the family; an add to the window; two readings of the
//! clock; a record; and, at the beginning and at the end, an atomic addition to the gauge of
//! requests in flight and a record of its maximum. There is no lock and no allocation, except for
//! the first request of a series, which makes it and gives its window the geometry of the rules.
//! The future and the body are larger by 48 bytes each.
//!
//! Around a route of axum, on two cores shared with other programs, it took 390 ns of CPU time more
//! than no layer; 130 ns of these are the cost of any layer in axum. `axum-prometheus` took 1625,
//! `tower-http`'s `TraceLayer` without a subscriber 485; a limit took 195, a refusal 175, and a
//! room 260. (One run of windrow's bench `layer`, medians of interleaved rounds, one thread.)
//!
//! Percentiles take memory. By the formula of windrow's [design][windows.md], a route's window of a
//! minute in sixty buckets takes about 21 kB when it is first used, and about 100 kB if it is used
//! on two cores in every second, with times in four octaves.
//!
//! A request in flight holds a reference to its series, and all requests of one route and method
//! share the reference count and the gauge of requests in flight: two atomic additions for each, on
//! one cache line each.
//!
//! *Limits.* A lookup of the key in its family, the cost of a [`Gate`](windrow::Gate) or a
//! [`Pace`](windrow::Pace), and an add to a counter. All requests of a key go through one cache
//! line. A refusal does not write it; its response allocates a map of headers and one of
//! extensions. *Rooms*: the lookup, a compare-exchange, an add, and a reference to the room, which
//! are on two cache lines of the key. A request that waits clones the service. *Breakers*: the cost
//! of a [`Breaker`](windrow::Breaker) call; of a family, a lookup and a reference, too. *Rules*: a
//! request looks at none, except for its weight, which takes a comparison with each pattern up to
//! the one that matches.
//!
//! [`HeavyKeys`]: https://docs.rs/windrow/latest/windrow/struct.HeavyKeys.html
//! [longest key]: https://docs.rs/windrow/latest/windrow/heavy/constant.MAX_TEXT_BYTES.html
//! [heavy cost]: https://docs.rs/windrow/latest/windrow/struct.HeavyKeys.html#cost-and-progress
//! [windows.md]: https://docs.rs/windrow/latest/windrow/guide/design/windows/index.html#memory
//! [`Router::layer`]: https://docs.rs/axum/latest/axum/struct.Router.html#method.layer

// Counting.
mod classify;
mod endpoint;
mod flight;
mod labels;
mod routes;

// Responses.
mod grpc_web;
mod layered;
mod protocol;
mod refusal;
mod response;

// Limits.
mod breaker;
mod key;
mod limit;
mod limiter;
mod rate;
mod room;
mod vacancy;

// Waits.
mod cap;
mod decision;
mod line;
mod unwind;

// Rules.
mod current;
mod rules;

pub use breaker::BreakerLayer;
pub use classify::{ByStatus, Classify, Outcome};
pub use current::Changes;
pub use endpoint::{Endpoint, Http};
pub use flight::{Flight, MetricsLayer};
pub use key::KeyValues;
pub use labels::{Method, Route, UNMATCHED};
pub use layered::{AdmissionLayer, Layered};
#[cfg(feature = "redis")]
pub use limit::SharedLimits;
pub use limit::{Limit, LimitFields, Limits, PaceLimits};
pub use limiter::Limiter;
pub use rate::{LimitFuture, LimitLayer, PaceLayer, RateLayer};
pub use refusal::Blocked;
pub use response::{ResponseBody, ResponseFuture};
pub use room::{InRoom, Room, RoomLayer, Rooms};
pub use routes::Routes;
pub use rules::{
    Geometry, LimitRules, Places, Rate, RoomRules, Rules, RulesBuilder, RulesError, RulesFile,
    RulesPart, WindowRules,
};

/// A guide of the library whose program needs this crate: its documentation shows it, and this runs
/// it.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/tower.md")]
mod guide {}
