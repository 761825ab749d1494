//! A breaker opens by what the classification calls exceptions, and cancelled requests say nothing
//! to it.

use std::convert::Infallible;
use std::future::{Future, pending, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::LazyLock;
use std::task::{Context, Waker};
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt, Empty, Full, StreamBody};
use tower::{Layer, Service, ServiceExt, service_fn};
use windrow::breaker::{Settings, State};
use windrow::clock::Manual;
use windrow::{Breaker, Family, Gate, labels};
use windrow_tower::{Blocked, BreakerLayer, Http, LimitLayer, Limits, MetricsLayer, Outcome};

use crate::limited::{Client, client, from, grpc_from, respond};
use crate::{Nothing, matched, routes};

const SECOND: Duration = Duration::from_secs(1);

/// Returns a breaker that the first failure opens, and one trial closes, for five seconds; and its
/// clock.
fn breaker() -> (&'static Breaker<Manual>, Manual) {
    let (settings, clock) = (Settings::last_calls(1).trials(1), Manual::default());
    let breaker = Breaker::with_clock(settings, clock.clone()).expect("sound");
    (Box::leak(Box::new(breaker)), clock)
}

/// Asks a layer around a service that answers with a status.
async fn ask(breaker: &'static Breaker<Manual>, status: u16) -> Response<()> {
    let answer = move |_: Request<Nothing>| {
        let mut response = Response::new(Empty::<Bytes>::new());
        *response.status_mut() = StatusCode::from_u16(status).expect("a status");
        ready(Ok::<_, Infallible>(response))
    };
    let service = BreakerLayer::new(move |_| Some(breaker)).layer(service_fn(answer));
    service.oneshot(from("alice")).await.expect("a response").map(drop)
}

#[tokio::test]
async fn an_open_breaker_answers_503_with_the_rest_of_its_time() {
    let (breaker, clock) = breaker();
    assert_eq!(ask(breaker, 500).await.status(), 500);
    clock.advance(SECOND / 2);
    let refused = ask(breaker, 200).await;
    assert_eq!(refused.status(), 503);
    assert_eq!(refused.headers()["retry-after"], "5"); // 4.5 s
    let blocked = refused.extensions().get::<Blocked>().expect("it is marked");
    assert_eq!(blocked.retry_after, Some(9 * SECOND / 2));
    clock.advance(9 * SECOND / 2);
    assert_eq!(ask(breaker, 200).await.status(), 200);
    assert_eq!(breaker.state(), State::Closed);
}

#[tokio::test]
async fn a_grpc_request_is_told_unavailable_with_a_pushback() {
    let (breaker, clock) = breaker();
    breaker.try_call().expect("closed").failure();
    let layer = BreakerLayer::new(move |_| Some(breaker));
    let refused = respond(&layer, grpc_from("alice")).await;
    assert_eq!(
        (refused.status(), &refused.headers()["grpc-status"]),
        (StatusCode::OK, &"14".parse().unwrap())
    );
    assert_eq!(refused.headers()["grpc-retry-pushback-ms"], "5000");
    clock.advance(5 * SECOND);
    let _trial = breaker.try_call().expect("a trial");
    let refused = respond(&layer, grpc_from("alice")).await;
    assert_eq!(refused.headers()["grpc-status"], "14");
    assert!(!refused.headers().contains_key("grpc-retry-pushback-ms"));
    let refused = respond(&layer, from("alice")).await;
    assert_eq!(refused.status(), 503);
    assert!(!refused.headers().contains_key("retry-after"));
}

#[tokio::test]
async fn a_response_is_judged_by_its_class() {
    for (status, counts) in [(200, (1, 0, 0)), (404, (1, 0, 0)), (429, (0, 0, 1)), (503, (0, 1, 0))]
    {
        let (breaker, _) = breaker();
        ask(breaker, status).await;
        let told = breaker.counts();
        assert_eq!((told.succeeded, told.failed, told.ignored), counts, "{status}");
    }
}

#[tokio::test]
async fn a_classification_of_ones_own_decides() {
    let (breaker, _) = breaker();
    let layer = BreakerLayer::new(move |_| Some(breaker))
        .classify(|_: StatusCode, _: &HeaderMap| Outcome::Exception);
    respond(&layer, from("alice")).await;
    assert_eq!(breaker.state(), State::Open);
}

#[tokio::test]
async fn an_error_of_the_service_is_a_failure() {
    let (breaker, _) = breaker();
    let fails = |_: Request<Nothing>| ready(Err::<Response<Empty<Bytes>>, _>("down"));
    let service = BreakerLayer::new(move |_| Some(breaker)).layer(service_fn(fails));
    assert!(service.oneshot(from("alice")).await.is_err());
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn a_panic_of_the_service_is_a_failure() {
    // In `call`, and in its future.
    for in_call in [true, false] {
        let (breaker, _) = breaker();
        let panics = service_fn(move |_: Request<Nothing>| {
            assert!(!in_call, "as it is meant");
            async move {
                assert!(in_call, "as it is meant");
                Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new()))
            }
        });
        let mut service = BreakerLayer::new(move |_| Some(breaker)).layer(panics);
        let run = || {
            let mut future = pin!(service.call(from("alice")));
            let _ = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        };
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
        assert_eq!((breaker.state(), breaker.counts().failed), (State::Open, 1), "{in_call}");
    }
}

#[test]
fn a_cancelled_trial_gives_its_place_back() {
    let (breaker, clock) = breaker();
    breaker.try_call().expect("closed").failure();
    clock.advance(5 * SECOND);
    let hangs = |_: Request<Nothing>| pending::<Result<Response<Empty<Bytes>>, Infallible>>();
    let mut service = BreakerLayer::new(move |_| Some(breaker)).layer(service_fn(hangs));
    for _ in 0..3 {
        let mut trial = Box::pin(service.call(from("alice")));
        assert!(trial.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert!(breaker.try_call().is_err());
        drop(trial);
    }
    assert_eq!((breaker.state(), breaker.counts().ignored), (State::HalfOpen, 3));
    breaker.try_call().expect("the place is free").success();
    assert_eq!(breaker.state(), State::Closed);
}

/// Returns the response of a gRPC service: a message, and trailers with a status.
fn stream(breaker: &'static Breaker<Manual>, status: &'static str) -> impl http_body::Body {
    let answer = move |_: Request<Nothing>| {
        let trailers = HeaderMap::from_iter([(
            "grpc-status".parse().unwrap(),
            HeaderValue::from_static(status),
        )]);
        let frames = [Frame::data(Bytes::from_static(b"message")), Frame::trailers(trailers)];
        let body = StreamBody::new(tokio_stream::iter(frames.map(Ok::<_, Infallible>)));
        let response = Response::builder().header("content-type", "application/grpc");
        ready(Ok::<_, Infallible>(response.body(Stream(Some(body))).expect("a response")))
    };
    let service = BreakerLayer::new(move |_| Some(breaker)).layer(service_fn(answer));
    let mut future = pin!(service.oneshot(from("alice")));
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        std::task::Poll::Ready(Ok(response)) => response.into_body(),
        _ => unreachable!("it is ready"),
    }
}

type Frames = tokio_stream::Iter<std::array::IntoIter<Result<Frame<Bytes>, Infallible>, 2>>;

/// A body with a default, as a layer needs it for its refusals.
#[derive(Default)]
struct Stream(Option<StreamBody<Frames>>);

impl http_body::Body for Stream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.0 {
            Some(body) => std::pin::Pin::new(body).poll_frame(context),
            None => std::task::Poll::Ready(None),
        }
    }
}

#[tokio::test]
async fn a_grpc_stream_is_judged_by_its_trailers() {
    for (status, state) in [("0", State::Closed), ("13", State::Open)] {
        let (breaker, _) = breaker();
        let mut body = Box::pin(stream(breaker, status));
        assert!(body.frame().await.is_some());
        assert_eq!(breaker.totals().calls, 0, "the outcome is not known yet");
        assert!(body.frame().await.is_some());
        assert_eq!((breaker.totals().calls, breaker.state()), (1, state), "{status}");
    }
    let (breaker, _) = breaker();
    drop(stream(breaker, "13"));
    assert_eq!((breaker.state(), breaker.counts().ignored), (State::Closed, 1));
}

#[tokio::test]
async fn a_refusal_of_a_limit_behind_it_says_nothing() {
    static CLIENTS: Limits<Client> =
        Limits::new(10, |_| Gate::builder(1).interval(3600 * SECOND).build().expect("sound"));
    let (breaker, _) = breaker();
    let layers = (BreakerLayer::new(move |_| Some(breaker)), LimitLayer::new(&CLIENTS, client));
    let service = service_fn(|_: Request<Nothing>| {
        ready(Ok::<_, Infallible>(Response::new(Full::<Bytes>::default())))
    });
    for status in [200, 429, 429] {
        let response = layers.layer(service).oneshot(from("alice")).await.expect("a response");
        assert_eq!(response.status(), status);
    }
    let told = breaker.counts();
    assert_eq!((told.succeeded, told.failed, told.ignored), (1, 0, 2));
}

#[tokio::test]
async fn a_request_without_a_breaker_is_let_through() {
    let layer = BreakerLayer::new(|_| None::<&'static Breaker>);
    assert_eq!(respond(&layer, from("alice")).await.status(), 200);
}

#[tokio::test]
async fn each_key_of_a_family_has_a_breaker() {
    labels! { pub struct Upstream { host: str } }
    static BREAKERS: Family<Upstream, Breaker> =
        Family::with_constructor(|| Breaker::of(Settings::last_calls(1)));

    let layer = BreakerLayer::new(|parts| {
        let host = parts.headers.get("client")?.to_str().ok()?;
        Some(BREAKERS.handle(Upstream { host }))
    });
    BREAKERS.with(Upstream { host: "alice" }).try_call().expect("closed").failure();
    assert_eq!(respond(&layer, from("alice")).await.status(), 503);
    assert_eq!(respond(&layer, from("bob")).await.status(), 200);
}

#[tokio::test]
async fn metrics_around_it_count_its_refusals_as_blocks() {
    static OPEN: LazyLock<&'static Breaker<Manual>> = LazyLock::new(|| breaker().0);
    OPEN.try_call().expect("closed").failure();
    let routes = routes();
    let breaker = BreakerLayer::new(|_| Some(*OPEN));
    let app: Router = Router::new()
        .route("/pay", get(|| async { "paid" }))
        .layer(breaker)
        .layer(MetricsLayer::new(routes, matched));
    let request = Request::get("/pay").body(axum::body::Body::empty()).expect("a request");
    assert_eq!(app.oneshot(request).await.expect("a response").status(), 503);
    let series = routes.family().iter().next().expect("a series");
    assert_eq!((series.window().sum(Http::Block), series.window().sum(Http::Exception)), (1, 0));
}
