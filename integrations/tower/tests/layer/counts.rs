//! Counts by route and method are the requests that were sent.

use std::collections::BTreeMap;

use axum::Router;
use axum::body::Body;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt;
use tower::ServiceExt;
use windrow_tower::{Http, MetricsLayer, Outcome};

use crate::{Counts, all, matched, routes};

fn request(method: &str, uri: &str) -> Request<Body> {
    let method = Method::from_bytes(method.as_bytes()).expect("a method");
    Request::builder().method(method).uri(uri).body(Body::empty()).expect("a request")
}

async fn status(app: Router, method: &str, uri: &str) -> StatusCode {
    let response = app.oneshot(request(method, uri)).await.expect("a response");
    let status = response.status();
    response.into_body().collect().await.expect("a body");
    status
}

fn app() -> Router {
    let nested = Router::new().route("/{id}", get(|| async { "an item" }));
    Router::new()
        .route("/carts/{id}", get(|| async { "a cart" }).post(|| async { StatusCode::CREATED }))
        .route("/broken", get(|| async { StatusCode::BAD_GATEWAY }))
        .route("/wrong", post(|| async { StatusCode::BAD_REQUEST.into_response() }))
        .nest("/items", nested)
}

const SENT: [(&str, &str, &str, u16); 9] = [
    ("GET", "/carts/1", "GET /carts/{id}", 200),
    ("GET", "/carts/2", "GET /carts/{id}", 200),
    ("POST", "/carts/3", "POST /carts/{id}", 201),
    ("HEAD", "/carts/4", "HEAD /carts/{id}", 200),
    ("GET", "/broken", "GET /broken", 502),
    ("POST", "/wrong", "POST /wrong", 400),
    ("GET", "/items/5", "GET /items/{id}", 200),
    ("BREW", "/carts/6", "OTHER /carts/{id}", 405),
    ("GET", "/nowhere", "GET unmatched", 404),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_route_counts_the_requests_that_were_sent_to_it() {
    const ROUNDS: u64 = 200;
    let routes = routes();
    let app = app().layer(MetricsLayer::new(routes, matched));
    let tasks: Vec<_> = (0..4)
        .map(|task| {
            let app = app.clone();
            tokio::spawn(async move {
                for round in 0..ROUNDS {
                    let (method, uri, _, expected) = SENT[(task + round as usize) % SENT.len()];
                    assert_eq!(status(app.clone(), method, uri).await, expected, "{method} {uri}");
                    tokio::task::yield_now().await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("a task");
    }
    let mut expected = BTreeMap::<String, Counts>::new();
    for (task, round) in (0..4).flat_map(|task| (0..ROUNDS).map(move |round| (task, round))) {
        let (_, _, labels, status) = SENT[(task + round as usize) % SENT.len()];
        let counts = expected.entry(labels.to_owned()).or_default();
        counts.pass += 1;
        counts.answered += 1;
        counts.exception += u64::from(status >= 500);
    }
    assert_eq!(all(routes), expected);
}

#[tokio::test]
async fn a_layer_on_the_routes_leaves_the_fallback_uncounted() {
    let routes = routes();
    let app = app().route_layer(MetricsLayer::new(routes, matched));
    for (method, uri, _, expected) in SENT {
        assert_eq!(status(app.clone(), method, uri).await, expected);
    }
    assert_eq!(routes.family().lifetime().0.stats(Http::Request).count, SENT.len() as u64 - 1);
    assert!(!all(routes).contains_key("GET unmatched"));
}

#[tokio::test]
async fn a_refusal_by_a_handler_is_blocked_and_its_failure_is_an_exception() {
    let routes = routes();
    let app = Router::new()
        .route("/full", get(|| async { StatusCode::TOO_MANY_REQUESTS }))
        .route("/down", get(|| async { StatusCode::SERVICE_UNAVAILABLE }))
        .layer(MetricsLayer::new(routes, matched));
    for (uri, status_sent, block, exception) in [("/full", 429, 1, 0), ("/down", 503, 0, 1)] {
        assert_eq!(status(app.clone(), "GET", uri).await, status_sent);
        let endpoint =
            routes.with(windrow_tower::Route { method: windrow_tower::Method::Get, route: uri });
        let count = |event| endpoint.window().lifetime(event).count;
        let counts = [Http::Request, Http::Block, Http::Exception].map(count);
        assert_eq!(counts, [1, block, exception], "{uri}");
    }
}

#[tokio::test]
async fn a_function_says_what_an_exception_is() {
    let routes = routes();
    let all_but_ok = |status: StatusCode, _: &HeaderMap| match status {
        StatusCode::OK => Outcome::Success,
        _ => Outcome::Exception,
    };
    let app = app().layer(MetricsLayer::new(routes, matched).classify(all_but_ok));
    for (method, uri, _, expected) in SENT {
        assert_eq!(status(app.clone(), method, uri).await, expected);
    }
    for (labels, counts) in all(routes) {
        let mut sent = SENT.iter().filter(|sent| sent.2 == labels);
        let is_exception = sent.any(|sent| sent.3 != 200);
        assert_eq!(counts.exception, u64::from(is_exception), "{labels}");
    }
}

#[tokio::test]
async fn the_response_time_is_that_of_the_head() {
    let routes = routes();
    let slow = || async {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        "late"
    };
    let app = Router::new().route("/slow", get(slow)).layer(MetricsLayer::new(routes, matched));
    let response = app.oneshot(request("GET", "/slow")).await.expect("a response");
    let series = routes.family().iter().next().expect("a series");
    let rt = series.window().stats(windrow_tower::Http::Rt);
    assert!(rt.count == 1 && rt.min >= Some(20_000_000), "{rt:?}: it is there before the body");
    drop(response);
    assert_eq!(series.window().stats(windrow_tower::Http::Rt), rt);
}
