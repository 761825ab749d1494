#![doc = include_str!("../README.md")]
//!
//! # Where it stands
//!
//! [`MetricsLayer`] has to stand where the route is known: inside the router. In axum,
//! [`Router::layer`] and `Router::route_layer` are such places: they wrap each route by itself,
//! `layer` the fallback as well. A layer around the whole router (`ServiceBuilder`, tonic's
//! `Server::layer`) sees a request before it is matched; there, say which route it is by what you
//! know of it. Of gRPC, that is the path, if it is one that you serve:
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
//! A raw path is no route: it may hold anything. A family holds at most 1000 series, unless you say
//! otherwise, so memory is bounded even then; but once strangers have filled it, your own routes
//! count together.
//!
//! # What is counted, and when
//!
//! | | at |
//! |---|---|
//! | [`Http::Pass`] | the call of the service |
//! | [`Http::Block`] | the head of the response, if a limit behind the layer has refused the request: it has [`Blocked`] among its extensions |
//! | [`Http::Rt`] | the head of the response, or the service's error: the time since the call |
//! | [`Http::Exception`] | the moment at which it is known: by the head, the trailers, the service's error, an error of the body, or a panic of either. At most once a request |
//! | [`Http::Cancelled`] | the future, or of gRPC the body, was dropped before it was known how the request ends |
//! | [`Endpoint::in_flight`], and its maximum [`Http::InFlight`] | from the call until the response's body has ended or is dropped; until the future is dropped, or the service fails or panics, if there is no response |
//!
//! So each request is one pass, and at most one exception, cancellation or block. What is blocked
//! has no time. (In Sentinel's words, a pass is what was not blocked: here, that is the passes less
//! the blocks. Around the limits, the layer sees what clients see. Behind them, it sees what the
//! service does, and passes are those that were let through.) A body that is dropped early is none
//! of these: servers drop bodies that nobody will read, of a `HEAD` request, say. An upgraded
//! connection (a web socket) is in flight until its response has ended, not until it is closed.
//!
//! # Cost
//!
//! *Of counting.* A lookup of the route in the family; an add to the window; two readings of the
//! clock; a record; and, at the beginning and at the end, an atomic addition to the requests in
//! flight and a record of their maximum. No lock, and no allocation, but for the series of a route
//! that is used for the first time. The future and the body are larger by 48 bytes each.
//!
//! Around a route of axum's, on two cores that other programs shared, it took 390 ns of CPU time
//! more than no layer; 130 of these are what axum does for any layer. `axum-prometheus` took 1625,
//! `tower-http`'s `TraceLayer`, to which nothing was subscribed, 485; a limit took 195, one that
//! refuses 175, and a room 260. (One run of windrow's bench `layer`, medians of interleaved rounds,
//! one thread.)
//!
//! Percentiles take memory. By the formula of windrow's [design][design.md] a route's window of a
//! minute in sixty buckets takes some 21 kB when it is first used; and some 100, if it is used on
//! two cores in every second, with times in four octaves.
//!
//! While a request is in flight it holds a reference to its series, and all requests of one route
//! and method share the count of these: two atomic additions a request, to one cache line; and so
//! the number of requests in flight.
//!
//! *Of a limit.* A lookup of the key in its family, what a [`Gate`](windrow::Gate) does, and an add
//! to a counter. All requests of a key go through one cache line. A refusal does not write it; its
//! answer allocates what a map of headers and one of extensions do. *Of a room*: the lookup, a
//! compare-exchange, an add, and a reference to the room, which are two cache lines of the key.
//! What is waited for clones the service. *Of rules*: a request looks at none, but for its weight,
//! which takes a comparison with each pattern up to the one that matches.
//!
//! [design.md]: https://docs.rs/windrow/latest/windrow/guide/design/index.html#memory
//! [`Router::layer`]: https://docs.rs/axum/latest/axum/struct.Router.html#method.layer

mod body;
mod classify;
mod endpoint;
mod flight;
mod future;
mod labels;
mod layer;
mod limit;
mod refusal;
mod room;
mod rules;
mod service;
mod unwind;

pub use body::ResponseBody;
pub use classify::{ByStatus, Classify, Outcome};
pub use endpoint::{Endpoint, Http};
pub use future::ResponseFuture;
pub use labels::{Method, Route, Routes, UNMATCHED};
pub use layer::MetricsLayer;
pub use limit::{Changes, Limit, LimitFuture, LimitLayer, LimitService, Limits};
pub use refusal::Blocked;
pub use room::{InRoom, Room, RoomBody, RoomFuture, RoomLayer, RoomService, Rooms};
pub use rules::{Rate, Rules, RulesBuilder, RulesError, RulesFile, RulesPart};
pub use service::MetricsService;
