//! The layers in axum, in tonic, and around services that fail in every way: the counts of
//! requests, rate limits, concurrency limits, and rules that are swapped while requests go on.

// Counts of requests.
mod connections;
mod counts;
mod exported;
mod flights;
mod made_up_labels;
mod windows;

// Limits and their clients.
mod breakers;
mod heavy;
mod limited;
mod limits;
mod memory;
mod paces;
mod paces_by_key;
mod rooms;
mod shared;
mod sharing;

// Refusals.
mod caps;
mod discards;
mod fields;
mod herd;
mod refusals;

// Rules, clocks, and a user's functions.
mod oracle;
mod rules;
mod run_time;
mod stepping_clocks;
mod user_functions;

// Protocols.
mod connect;
mod grpc;
mod grpc_web;

use std::collections::BTreeMap;

use axum::extract::MatchedPath;
use http::request::Parts;
use windrow_tower::{Endpoint, Http, Method, Route, Routes};

/// The body of a request without one.
type Nothing = http_body_util::Empty<bytes::Bytes>;

/// Routes of a test's own.
fn routes() -> &'static Routes {
    Box::leak(Box::new(Routes::new()))
}

/// Returns the route that axum has matched.
fn matched(parts: &Parts) -> Option<&str> {
    parts.extensions.get::<MatchedPath>().map(MatchedPath::as_str)
}

/// The total counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    pass: u64,
    exception: u64,
    cancelled: u64,
    answered: u64,
    in_flight: u64,
}

impl Counts {
    fn of(endpoint: &Endpoint) -> Counts {
        let count = |event| endpoint.window().lifetime(event).count;
        Counts {
            pass: count(Http::Request),
            exception: count(Http::Exception),
            cancelled: count(Http::Cancelled),
            answered: endpoint.window().lifetime(Http::Rt).count,
            in_flight: endpoint.in_flight().level(),
        }
    }

    /// Returns the counts of `pass` successful requests.
    fn successes(pass: u64) -> Counts {
        Counts { pass, answered: pass, ..Counts::default() }
    }
}

fn get(routes: &'static Routes, route: &str) -> Counts {
    Counts::of(&routes.with(Route { method: Method::Get, route }))
}

/// Returns the counts of each series, by its labels.
fn all(routes: &'static Routes) -> BTreeMap<String, Counts> {
    let text = |series: &windrow::family::Handle<Route<'static>, Endpoint>| {
        let values: Vec<_> = series.pairs().map(|(_, value)| value.to_string()).collect();
        values.join(" ")
    };
    routes.family().iter().map(|series| (text(&series), Counts::of(&series))).collect()
}
