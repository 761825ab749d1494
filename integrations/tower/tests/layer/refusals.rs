//! The responses to refused requests: a client that heeds them is admitted. And requests that wait.

use std::future::{Future, pending};
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

use http::{HeaderMap, Request};
use tonic::{Code, Status};
use tower::{Layer, Service, service_fn};
use windrow::Gate;
use windrow::clock::Manual;
use windrow_tower::{Blocked, LimitLayer, Limits, RoomLayer, Rooms};

use crate::Nothing;
use crate::limited::{Client, answer, client, from, grpc_from, limits, respond, status};

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).map(|value| value.to_str().expect("text"))
}

#[tokio::test]
async fn a_client_that_comes_back_after_retry_after_is_admitted() {
    limits!(CLIENTS, CLOCK: 10, |_| 1);
    let layer = LimitLayer::new(&CLIENTS, client);
    CLOCK.advance(Duration::from_millis(250));
    assert_eq!(status(&layer, from("alice")).await, 200);
    CLOCK.advance(Duration::from_millis(700));
    let refused = respond(&layer, from("alice")).await;
    assert_eq!(refused.status(), 429);
    let blocked = refused.extensions().get::<Blocked>().expect("it says so");
    assert_eq!(blocked.retry_after, Some(Duration::from_millis(250)));
    assert_eq!(text(refused.headers(), "retry-after"), Some("1"), "rounded up");
    CLOCK.advance(Duration::from_millis(249));
    assert_eq!(status(&layer, from("alice")).await, 429);
    CLOCK.advance(Duration::from_millis(1));
    assert_eq!(status(&layer, from("alice")).await, 200);
}

#[tokio::test]
async fn retry_after_is_in_whole_seconds_and_never_too_early() {
    thread_local! { static CLOCK: Manual = Manual::default(); }
    static CLIENTS: Limits<Client, Gate<Manual>> = Limits::new(1_000, |_| {
        let clock = CLOCK.with(Manual::clone);
        let minute = Gate::builder(1).interval(Duration::from_secs(60)).buckets(60);
        minute.clock(clock).build().expect("a minute in sixty buckets")
    });
    let layer = LimitLayer::new(&CLIENTS, client);
    for (index, later) in [0, 1, 999, 1_000, 30_500, 58_999, 59_000, 59_001].into_iter().enumerate()
    {
        let name = format!("{index}");
        CLOCK.with(|clock| clock.set(windrow::Timestamp::from_secs(600 * index as u64)));
        assert_eq!(status(&layer, from(&name)).await, 200);
        CLOCK.with(|clock| clock.advance(Duration::from_millis(later)));
        let refused = respond(&layer, from(&name)).await;
        let seconds: u64 = text(refused.headers(), "retry-after").unwrap().parse().unwrap();
        assert_eq!(seconds, (60_000 - later).div_ceil(1_000), "after {later} ms");
        CLOCK.with(|clock| clock.advance(Duration::from_secs(seconds)));
        assert_eq!(status(&layer, from(&name)).await, 200);
    }
}

#[tokio::test]
async fn what_never_fits_is_told_no_time() {
    limits!(CLIENTS, CLOCK: 10, |_| 3);
    let layer = LimitLayer::new(&CLIENTS, client).weight(|_| 4);
    let refused = respond(&layer, from("alice")).await;
    assert_eq!(refused.status(), 429);
    assert_eq!(text(refused.headers(), "retry-after"), None);
    assert_eq!(refused.extensions().get::<Blocked>().map(|it| it.retry_after), Some(None));
    let refused = respond(&layer, grpc_from("alice")).await;
    assert_eq!(text(refused.headers(), "grpc-retry-pushback-ms"), Some("-1"));
}

#[tokio::test]
async fn grpc_is_answered_by_its_own_status() {
    limits!(CLIENTS, CLOCK: 10, |_| 1);
    let layer = LimitLayer::new(&CLIENTS, client);
    assert_eq!(status(&layer, grpc_from("alice")).await, 200);
    CLOCK.advance(Duration::from_micros(999_999));
    let refused = respond(&layer, grpc_from("alice")).await;
    assert_eq!(refused.status(), 200);
    assert_eq!(text(refused.headers(), "content-type"), Some("application/grpc"));
    assert_eq!(text(refused.headers(), "grpc-retry-pushback-ms"), Some("1"), "rounded up");
    assert_eq!(text(refused.headers(), "retry-after"), None);
    let status = Status::from_header_map(refused.headers()).expect("a status");
    assert_eq!((status.code(), status.message()), (Code::ResourceExhausted, "over the limit"));
    // `google.rpc.Status` ends with the delay of a `RetryInfo`: 1 000 000 ns.
    assert_eq!(status.details().last_chunk(), Some(&[0x0a, 4, 0x10, 0xc0, 0x84, 0x3d]));
    assert_eq!(text(refused.headers(), "google.rpc.retryinfo-bin"), Some("CgQQwIQ9"), "the same");
}

#[tokio::test]
async fn a_full_room_is_the_services_fault() {
    static NONE: Rooms<Client> = Rooms::new(10, |_| 0);
    let layer = RoomLayer::new(&NONE, client);
    let refused = respond(&layer, from("alice")).await;
    assert_eq!((refused.status().as_u16(), text(refused.headers(), "retry-after")), (503, None));
    assert!(refused.extensions().get::<Blocked>().is_some());
    let refused = respond(&layer, grpc_from("alice")).await;
    let status = Status::from_header_map(refused.headers()).expect("a status");
    assert_eq!((status.code(), status.message()), (Code::Unavailable, "too many at once"));
    assert_eq!(text(refused.headers(), "grpc-retry-pushback-ms"), None);
}

#[tokio::test]
async fn a_request_waits_for_its_turn_and_is_let_through_then() {
    limits!(CLIENTS, CLOCK: 10, |_| 1);
    let wait = Duration::from_millis(500);
    let layer = LimitLayer::new(&CLIENTS, client).wait(wait, |wait| async move {
        CLOCK.advance(wait);
    });
    assert_eq!(status(&layer, from("alice")).await, 200);
    CLOCK.advance(Duration::from_millis(499));
    assert_eq!(status(&layer, from("alice")).await, 429, "501 ms are too long");
    CLOCK.advance(Duration::from_millis(1));
    assert_eq!(status(&layer, from("alice")).await, 200);
    assert_eq!(windrow::Clock::now(&*CLOCK).as_nanos() / 1_000_000, 1_000);
    let alice = CLIENTS.family().handle(Client { client: "alice" });
    assert_eq!((alice.passed(), alice.blocked()), (2, 1));
}

#[tokio::test]
async fn a_request_that_is_dropped_while_it_waits_stays_granted() {
    limits!(CLIENTS, CLOCK: 10, |_| 1);
    let second = Duration::from_secs(1);
    let layer = LimitLayer::new(&CLIENTS, client).wait(second, |_| pending());
    assert_eq!(status(&layer, from("alice")).await, 200);
    let called = std::sync::atomic::AtomicBool::new(false);
    let mut service = layer.layer(service_fn(|request: Request<Nothing>| {
        called.store(true, std::sync::atomic::Ordering::Relaxed);
        answer(request)
    }));
    {
        let mut waiting = pin!(service.call(from("alice")));
        let mut context = Context::from_waker(Waker::noop());
        assert!(waiting.as_mut().poll(&mut context).is_pending());
    }
    assert!(!called.into_inner());
    let alice = CLIENTS.family().handle(Client { client: "alice" });
    assert_eq!(alice.limiter().map(Gate::waiting), Some(1));
    CLOCK.advance(second);
    assert_eq!(alice.limiter().map(|gate| (gate.granted(), gate.waiting())), Some((1, 0)));
    assert_eq!(CLIENTS.forget_idle(), 0);
}

/// Says that it is ready once: only then may it be called.
#[derive(Default)]
struct Reserved {
    is_ready: bool,
}

impl Clone for Reserved {
    fn clone(&self) -> Reserved {
        Reserved::default()
    }
}

impl Service<Request<Nothing>> for Reserved {
    type Response = http::Response<http_body_util::Full<bytes::Bytes>>;
    type Error = std::convert::Infallible;
    type Future = std::future::Ready<crate::limited::Answer>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> std::task::Poll<Result<(), Self::Error>> {
        self.is_ready = true;
        std::task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Nothing>) -> Self::Future {
        assert!(std::mem::take(&mut self.is_ready), "it was not ready");
        answer(request)
    }
}

#[tokio::test]
async fn the_service_that_was_ready_is_the_one_that_is_called_after_a_wait() {
    limits!(CLIENTS, CLOCK: 10, |_| 1);
    let layer = LimitLayer::new(&CLIENTS, client)
        .wait(Duration::from_secs(1), |wait| async move { CLOCK.advance(wait) });
    let mut service = layer.layer(Reserved::default());
    for _ in 0..3 {
        tower::ServiceExt::ready(&mut service).await.expect("it is");
        let response = service.call(from("alice")).await.expect("a response");
        assert_eq!(response.status(), 200);
    }
}
