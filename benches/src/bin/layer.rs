//! The cost of a layer that counts or limits requests: `windrow-tower`'s beside published ones,
//! around the same axum router.
//! `cargo run --release -p windrow-benches --features http --bin layer`; `--rounds N`,
//! `--requests N` (a round).
//!
//! Nothing goes over a network: a request is made, routed, answered and read to its end in this
//! process. Figures are CPU time a request and thread; contenders take turns within each round.

use std::future::Future;
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::MatchedPath;
use axum::http::{Request, StatusCode};
use axum::routing::get;
use axum_prometheus::PrometheusMetricLayer;
use http_body::Body as _;
use tokio::runtime::Builder;
use tower_http::trace::TraceLayer;
use tower_layer::Identity;
use tower_service::Service;
use windrow::{Gate, labels};
use windrow_benches::harness::{WARM_UP, at_once};
use windrow_benches::lab::entries::{Entry, measure, print_rows};
use windrow_benches::lab::stats::digits;
use windrow_benches::terminal::options;
use windrow_tower::{Http, LimitLayer, Limits, MetricsLayer, RoomLayer, Rooms, Routes};

labels! { struct Path { route: str } }

static ROUTES: Routes = Routes::new();

/// Grants everything.
static WIDE: Limits<Path> =
    Limits::new(10, |_| Gate::builder(1 << 40).buckets(10).build().expect("a second"));

/// Refuses everything but the first.
static NARROW: Limits<Path> =
    Limits::new(10, |_| Gate::builder(1).interval(DAY).buckets(24).build().expect("a day"));

static ROOMS: Rooms<Path> = Rooms::new(10, |_| 100);

const DAY: Duration = Duration::from_hours(24);

/// One request, from its begin to the end of its body.
fn request(app: &Router, expected: StatusCode) {
    let request = Request::builder().uri("/carts/7").body(Body::empty()).expect("a request");
    let context = &mut Context::from_waker(Waker::noop());
    // As servers do: a clone of the service for each request.
    let future = pin!(app.clone().call(request));
    let Poll::Ready(Ok(response)) = future.poll(context) else { panic!("it does not wait") };
    assert_eq!(response.status(), expected);
    let mut body = response.into_body();
    while let Poll::Ready(Some(frame)) = Pin::new(&mut body).poll_frame(context) {
        black_box(frame.expect("no error"));
    }
}

fn matched(parts: &axum::http::request::Parts) -> Option<&str> {
    parts.extensions.get::<MatchedPath>().map(MatchedPath::as_str)
}

fn path(parts: &axum::http::request::Parts) -> Option<Path<'_>> {
    matched(parts).map(|route| Path { route })
}

/// Returns each contender with the status that it answers.
fn contenders() -> Vec<(&'static str, Router, StatusCode)> {
    let app = || Router::new().route("/carts/{id}", get(|| async { "a cart" }));
    let (prometheus, _handle) = PrometheusMetricLayer::pair();
    vec![
        ("no layer", app(), StatusCode::OK),
        // The cost of any layer in axum.
        ("a layer that does nothing", app().layer(Identity::new()), StatusCode::OK),
        ("windrow-tower", app().layer(MetricsLayer::new(&ROUTES, matched)), StatusCode::OK),
        ("windrow-tower, a limit", app().layer(LimitLayer::new(&WIDE, path)), StatusCode::OK),
        ("windrow-tower, a limit that refuses", refusing(app()), StatusCode::TOO_MANY_REQUESTS),
        ("windrow-tower, a room", app().layer(RoomLayer::new(&ROOMS, path)), StatusCode::OK),
        (
            "tower-http TraceLayer, nothing subscribed",
            app().layer(TraceLayer::new_for_http()),
            StatusCode::OK,
        ),
        ("axum-prometheus", app().layer(prometheus), StatusCode::OK),
    ]
}

/// With a limit that was reached.
fn refusing(app: Router) -> Router {
    let app = app.layer(LimitLayer::new(&NARROW, path));
    request(&app, StatusCode::OK);
    app
}

fn main() {
    let [rounds, requests] = options("layer", [("rounds", 31), ("requests", 20_000)], &[]).numbers;
    let requests = requests as u64;
    // The runtime of axum-prometheus' periodic upkeep: no request pays for it.
    let upkeep = Builder::new_multi_thread().worker_threads(1).enable_time().build();
    let upkeep = upkeep.expect("a thread");
    let contenders = {
        let _entered = upkeep.enter();
        contenders()
    };
    let entry = |(name, app, expected): &(&str, Router, StatusCode)| {
        [1, 2].into_iter().fold(Entry::new(*name), |entry, threads| {
            let (app, expected) = (app.clone(), *expected);
            entry.column(move || {
                let many = |times: u64| (0..times).for_each(|_| request(&app, expected));
                at_once(threads, &|_| many(WARM_UP), &|_| many(requests)).each(requests)
            })
        })
    };
    let mut layers: Vec<_> = contenders.iter().map(entry).collect();
    measure("layers", rounds, &mut layers);
    for (at, threads) in ["1 thread", "2 threads"].into_iter().enumerate() {
        let heads = [threads, "ns a request", "more than none", "ratio to none"];
        print_rows(&heads, &layers, |layer| {
            let more = layer.cost(at).median - layers[0].cost(at).median;
            let ratio = layer.ratio(at, &layers[0], at);
            vec![layer.cost(at).show(), digits(more), ratio.show()]
        });
    }
    let (events, in_flight) = ROUTES.family().lifetime();
    let counts = (events.stats(Http::Request).count, events.stats(Http::Exception).count);
    let sent = rounds as u64 * 3 * (WARM_UP + requests);
    assert_eq!((counts, in_flight), ((sent, 0), 0), "requests were lost");
}
