//! Requests at a pace: their responses, their waits, and the turns of those that go away.

use std::future::{Future, pending};
use std::pin::pin;
use std::sync::LazyLock;
use std::task::{Context, Waker};
use std::time::Duration;

use http::HeaderMap;
use tonic::{Code, Status};
use tower::{Layer, Service, service_fn};
use windrow::clock::Manual;
use windrow::{Pace, Paces};
use windrow_tower::{Blocked, LimitFields, PaceLayer};

use crate::Nothing;
use crate::limited::{answer, from, grpc_from, respond, status};

const SECOND: Duration = Duration::from_secs(1);

/// Makes a clock, and a pace on it that admits a burst, and one in each second.
macro_rules! pace {
    ($pace:ident, $clock:ident: $burst:literal) => {
        static $clock: LazyLock<Manual> = LazyLock::new(Manual::default);
        static $pace: LazyLock<Pace<Manual>> = LazyLock::new(|| {
            let builder = Pace::builder(SECOND).burst($burst).clock($clock.clone());
            builder.build().expect("a second")
        });
    };
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).map(|value| value.to_str().expect("text"))
}

#[tokio::test]
async fn requests_beyond_the_pace_are_refused_until_their_turn() {
    pace!(PACE, CLOCK: 2);
    let layer = PaceLayer::new(|_| Some(&*PACE));
    assert_eq!(status(&layer, from("alice")).await, 200);
    assert_eq!(status(&layer, from("bob")).await, 200);
    CLOCK.advance(Duration::from_millis(300));
    let refused = respond(&layer, from("alice")).await;
    assert_eq!(
        (refused.status().as_u16(), text(refused.headers(), "retry-after")),
        (429, Some("1"))
    );
    let blocked = refused.extensions().get::<Blocked>().expect("it says so");
    assert_eq!(blocked.retry_after, Some(Duration::from_millis(700)));
    let refused = respond(&layer, grpc_from("alice")).await;
    let grpc = Status::from_header_map(refused.headers()).expect("a status");
    assert_eq!(grpc.code(), Code::ResourceExhausted);
    assert_eq!(text(refused.headers(), "grpc-retry-pushback-ms"), Some("1700"), "the next in line");
    CLOCK.advance(Duration::from_millis(699));
    assert_eq!(status(&layer, from("alice")).await, 429);
    CLOCK.advance(Duration::from_millis(1));
    assert_eq!(status(&layer, from("alice")).await, 200);
    assert_eq!(status(&layer, from("alice")).await, 429);
}

#[tokio::test]
async fn requests_have_the_pace_that_the_function_chooses_and_their_weights() {
    pace!(ALICE, CLOCK: 5);
    pace!(OTHERS, OTHER_CLOCK: 1);
    let layer = PaceLayer::new(|parts| match parts.headers.get("client")?.to_str() {
        Ok("alice") => Some(&*ALICE),
        Ok("root") => None,
        _ => Some(&*OTHERS),
    });
    let layer = layer.weight(|parts| match parts.uri.path() {
        "/report" => 3,
        "/everything" => 6,
        _ => 1,
    });
    let at = |client, path: &'static str| {
        let mut request = from(client);
        *request.uri_mut() = http::Uri::from_static(path);
        request
    };
    for _ in 0..10 {
        assert_eq!(status(&layer, from("root")).await, 200, "without a pace");
    }
    assert_eq!(status(&layer, from("bob")).await, 200);
    assert_eq!(status(&layer, from("carol")).await, 429, "the same pace as bob's");
    let never = respond(&layer, at("alice", "/everything")).await;
    assert_eq!((never.status().as_u16(), text(never.headers(), "retry-after")), (429, None));
    assert_eq!(status(&layer, at("alice", "/report")).await, 200);
    assert_eq!(ALICE.left(), 2);
    assert_eq!(status(&layer, at("alice", "/report")).await, 429);
    assert_eq!((ALICE.left(), OTHERS.left()), (2, 0), "a refusal takes nothing");
    OTHER_CLOCK.advance(SECOND);
    assert_eq!(status(&layer, from("carol")).await, 200);
    CLOCK.advance(SECOND);
    assert_eq!(status(&layer, at("alice", "/report")).await, 200);
}

#[tokio::test]
async fn a_request_waits_for_its_turn_and_keeps_it() {
    pace!(PACE, CLOCK: 1);
    let layer = PaceLayer::new(|_| Some(&*PACE));
    // The sleep ends a little too early, by the clock: the turn is kept all the same.
    let layer = layer.wait(2 * SECOND, |wait| async move {
        CLOCK.advance(wait.saturating_sub(Duration::from_millis(1)));
    });
    assert_eq!(status(&layer, from("alice")).await, 200);
    assert_eq!(status(&layer, from("alice")).await, 200);
    assert_eq!(windrow::Clock::now(&*CLOCK).as_nanos() / 1_000_000, 999);
    assert_eq!(PACE.idle_after(), Duration::from_millis(1_001));
    PACE.reserve(1, 2 * SECOND).expect("a turn").keep();
    assert_eq!(status(&layer, from("alice")).await, 429, "2.001 s are too long");
}

type Choose = fn(&http::request::Parts) -> Option<&'static Pace<Manual>>;

/// Polls a request once and drops it. Returns whether its service was called.
fn begun_and_dropped<W, T>(layer: &PaceLayer<Choose, W, T>) -> bool
where
    W: Fn(&http::request::Parts) -> u64 + Clone,
    T: Fn(Duration) -> std::future::Pending<()> + Clone,
{
    let called = std::sync::atomic::AtomicBool::new(false);
    let mut service = layer.layer(service_fn(|request: http::Request<Nothing>| {
        called.store(true, std::sync::atomic::Ordering::Relaxed);
        answer(request)
    }));
    let mut context = Context::from_waker(Waker::noop());
    let mut waiting = pin!(service.call(from("alice")));
    let _ = waiting.as_mut().poll(&mut context);
    called.load(std::sync::atomic::Ordering::Relaxed)
}

#[test]
fn the_turn_of_a_request_that_is_dropped_while_it_waits_is_given_back() {
    pace!(PACE, CLOCK: 1);
    let pace: Choose = |_| Some(&*PACE);
    let layer = PaceLayer::new(pace).wait(5 * SECOND, |_| pending());
    assert!(begun_and_dropped(&layer), "the first comes at once");
    assert_eq!(PACE.idle_after(), SECOND, "and counts, though it was dropped");
    for _ in 0..10 {
        assert!(!begun_and_dropped(&layer));
    }
    assert_eq!(PACE.idle_after(), SECOND);
    // A later request was told its time: the turn before it goes to the next one.
    let mut service = layer.layer(service_fn(answer as fn(http::Request<Nothing>) -> _));
    let first = service.call(from("alice"));
    let second = service.call(from("bob"));
    drop(first);
    assert_eq!(PACE.idle_after(), 3 * SECOND);
    let third = PACE.reserve(1, SECOND).expect("the turn of the first");
    assert_eq!(third.wait(), SECOND);
    drop(third);
    drop(second);
    assert_eq!(PACE.idle_after(), 2 * SECOND);
    CLOCK.advance(2 * SECOND);
    assert!(begun_and_dropped(&layer));
}

#[tokio::test]
async fn several_limits_are_asked_at_once_and_each_has_its_fields() {
    static CLOCK: LazyLock<Manual> = LazyLock::new(Manual::default);
    static PACES: LazyLock<Paces<Manual>> = LazyLock::new(|| {
        let builder = Paces::builder().limit(2, SECOND).limit(3, 60 * SECOND);
        builder.clock(CLOCK.clone()).build().expect("two limits")
    });
    let layer = PaceLayer::new(|_| Some(&*PACES)).fields(LimitFields::new("api").on_all());
    let fields = |headers: &HeaderMap| {
        ["ratelimit-policy", "ratelimit", "retry-after"]
            .map(|name| text(headers, name).map(str::to_owned))
    };
    let policy = "\"api-1\";q=2;w=1, \"api-2\";q=3;w=60";
    let expected = |limit: &str, retry: Option<&str>| {
        [Some(policy.to_owned()), Some(limit.to_owned()), retry.map(str::to_owned)]
    };
    let next = async || {
        let response = respond(&layer, from("alice")).await;
        (response.status().as_u16(), fields(response.headers()))
    };
    assert_eq!(next().await, (200, expected("\"api-1\";r=1, \"api-2\";r=2", None)));
    assert_eq!(next().await, (200, expected("\"api-1\";r=0, \"api-2\";r=1", None)));
    let first = expected("\"api-1\";r=0;t=1, \"api-2\";r=1", Some("1"));
    assert_eq!(next().await, (429, first));
    CLOCK.advance(SECOND);
    assert_eq!(next().await, (200, expected("\"api-1\";r=1, \"api-2\";r=0", None)));
    let second = expected("\"api-1\";r=1, \"api-2\";r=0;t=19", Some("19"));
    assert_eq!(next().await, (429, second));
}

#[tokio::test]
async fn the_fields_of_a_pace_are_its_burst_and_the_time_in_which_it_comes_back() {
    pace!(PACE, CLOCK: 3);
    let layer = PaceLayer::new(|_| Some(&*PACE)).fields(LimitFields::new("all"));
    for _ in 0..3 {
        let response = respond(&layer, from("alice")).await;
        assert_eq!(text(response.headers(), "ratelimit"), None, "only refused responses");
    }
    CLOCK.advance(Duration::from_millis(100));
    let refused = respond(&layer, from("alice")).await;
    assert_eq!(text(refused.headers(), "ratelimit-policy"), Some("\"all\";q=3;w=3"));
    assert_eq!(text(refused.headers(), "ratelimit"), Some("\"all\";r=0;t=1"));
}

/// An axum router takes the layer: its service and its futures can go to other threads.
#[test]
fn the_layer_fits_a_router() {
    pace!(PACE, CLOCK: 1);
    let layer = PaceLayer::new(|_| Some(&*PACE)).wait(SECOND, tokio::time::sleep);
    let router = axum::Router::<()>::new().route("/", axum::routing::get(|| async { "well" }));
    let _ = router.layer(layer);
    CLOCK.advance(SECOND);
}

/// 100 requests a second come to a pace of 50 that lets them wait for 400 ms. Their clients go away
/// after half of that.
#[test]
fn a_pace_serves_its_limit_though_all_clients_go_away_after_half_of_the_wait() {
    static CLOCK: LazyLock<Manual> = LazyLock::new(Manual::default);
    static PACE: LazyLock<Pace<Manual>> = LazyLock::new(|| {
        Pace::builder(SECOND / 50).burst(10).clock(CLOCK.clone()).build().expect("50 a second")
    });
    let at = || windrow::Clock::now(&*CLOCK);
    let sleep = |wait| {
        let end = at() + wait;
        std::future::poll_fn(move |_| {
            let has_come = windrow::Clock::now(&*CLOCK) >= end;
            if has_come { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
    };
    let layer = PaceLayer::new(|_| Some(&*PACE)).wait(SECOND * 2 / 5, sleep);
    let mut service = layer.layer(service_fn(answer as fn(http::Request<Nothing>) -> _));
    let (mut waiting, mut served) = (Vec::new(), 0);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..60 * 100 {
        CLOCK.advance(SECOND / 100);
        waiting.push((at(), Box::pin(service.call(from("anyone")))));
        waiting.retain_mut(|(came, response)| match response.as_mut().poll(&mut context) {
            std::task::Poll::Ready(response) => {
                served += u64::from(response.expect("no error").status() == 200);
                false
            }
            std::task::Poll::Pending => at() < *came + SECOND / 5,
        });
    }
    assert!((2_700..=3_010).contains(&served), "{served} of 3000");
}
