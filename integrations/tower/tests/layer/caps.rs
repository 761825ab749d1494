//! A cap of the time that refused clients are told to wait.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::LazyLock;
use std::time::Duration;

use http::Response;
use tower::{Layer, ServiceExt, service_fn};
use windrow::breaker::Settings;
use windrow::clock::Manual;
use windrow::{Breaker, Gate, Pace, Timestamp};
use windrow_tower::{Blocked, BreakerLayer, LimitFields, LimitLayer, Limits, PaceLayer};

use crate::limited::{Client, answer, client, from, grpc_from, respond};

const SECOND: Duration = Duration::from_secs(1);

fn header<'r, B>(response: &'r Response<B>, name: &str) -> Option<&'r str> {
    response.headers().get(name).map(|value| value.to_str().expect("text"))
}

/// One an hour for each client, of a gate.
macro_rules! hourly {
    ($clients:ident, $clock:ident) => {
        static $clock: LazyLock<Manual> = LazyLock::new(Manual::default);
        static $clients: Limits<Client, Gate<Manual>> = Limits::new(10, |_| {
            let gate = Gate::builder(1).interval(3_600 * SECOND).clock($clock.clone());
            gate.build().expect("one an hour")
        });
    };
}

#[tokio::test]
async fn a_limit_tells_no_time_beyond_the_cap_in_any_field() {
    hourly!(CLIENTS, CLOCK);
    let plain = LimitLayer::new(&CLIENTS, client).fields(LimitFields::new("hour"));
    let layer = plain.clone().max_retry_after(60 * SECOND);
    assert!(respond(&plain, from("alice")).await.status().is_success());
    let told = respond(&plain, from("alice")).await;
    assert_eq!(header(&told, "retry-after"), Some("3600"));
    CLOCK.advance(SECOND);
    for _ in 0..50 {
        let told = respond(&layer, from("alice")).await;
        let seconds = header(&told, "retry-after").expect("a time").to_owned();
        assert!((31..=60).contains(&seconds.parse().expect("a number")), "{seconds}");
        assert!(header(&told, "ratelimit").expect("fields").ends_with(&format!(";t={seconds}")));
        let exact = told.extensions().get::<Blocked>().expect("a mark").retry_after;
        assert!(exact.is_some_and(|it| it > 30 * SECOND && it <= 60 * SECOND), "{exact:?}");
        let told = respond(&layer, grpc_from("alice")).await;
        let millis = header(&told, "grpc-retry-pushback-ms").expect("a time").parse();
        assert!((30_000..=60_000).contains(&millis.expect("a number")));
    }
}

#[tokio::test]
async fn the_least_cap_tells_a_second_or_a_millisecond() {
    hourly!(CLIENTS, CLOCK);
    let layer = LimitLayer::new(&CLIENTS, client).max_retry_after(Duration::from_nanos(1));
    assert!(respond(&layer, from("alice")).await.status().is_success());
    assert_eq!(header(&respond(&layer, from("alice")).await, "retry-after"), Some("1"));
    let told = respond(&layer, grpc_from("alice")).await;
    assert_eq!(header(&told, "grpc-retry-pushback-ms"), Some("1"));
    CLOCK.advance(3_600 * SECOND);
    assert!(respond(&layer, from("alice")).await.status().is_success());
}

/// A weight that never fits has no time, with a cap or without.
#[tokio::test]
async fn a_cap_invents_no_time() {
    hourly!(CLIENTS, CLOCK);
    let layer = LimitLayer::new(&CLIENTS, client).weight(|_| 2).max_retry_after(60 * SECOND);
    CLOCK.advance(SECOND);
    assert_eq!(header(&respond(&layer, from("alice")).await, "retry-after"), None);
    let told = respond(&layer, grpc_from("alice")).await;
    assert_eq!(header(&told, "grpc-retry-pushback-ms"), Some("-1"));
}

#[tokio::test]
async fn paces_and_breakers_have_caps() {
    static CLOCK: LazyLock<Manual> = LazyLock::new(Manual::default);
    static PACE: LazyLock<Pace<Manual>> = LazyLock::new(|| {
        Pace::builder(3_600 * SECOND).clock(CLOCK.clone()).build().expect("one an hour")
    });
    static BREAKER: LazyLock<Breaker<Manual>> = LazyLock::new(|| {
        let settings = Settings::last_calls(1).open_for(3_600 * SECOND);
        Breaker::with_clock(settings, CLOCK.clone()).expect("sound")
    });
    let pace = PaceLayer::new(|_| Some(&*PACE)).max_retry_after(60 * SECOND);
    assert!(respond(&pace, from("alice")).await.status().is_success());
    assert_eq!(header(&respond(&pace, from("alice")).await, "retry-after"), Some("60"));
    BREAKER.try_call().expect("it is closed").failure();
    let breaker = BreakerLayer::new(|_| Some(&*BREAKER)).max_retry_after(60 * SECOND);
    let service = breaker.layer(service_fn(answer));
    let told = service.oneshot(from("alice")).await.expect("a response");
    assert_eq!((told.status().as_u16(), header(&told, "retry-after")), (503, Some("60")));
    CLOCK.advance(SECOND);
    let told = service.oneshot(from("alice")).await.expect("a response");
    assert_eq!(header(&told, "retry-after"), Some("59"));
}

#[test]
#[should_panic(expected = "is zero")]
fn a_cap_of_zero_is_refused() {
    hourly!(CLIENTS, CLOCK);
    let _ = LimitLayer::new(&CLIENTS, client).max_retry_after(Duration::ZERO);
    CLOCK.advance(SECOND);
}

/// A thousand clients before 100 a second, as in `herd.rs`; they come back within two seconds.
#[tokio::test]
async fn a_herd_under_a_cap_comes_back_in_parts_all_the_same() {
    static CLOCK: LazyLock<Manual> = LazyLock::new(Manual::default);
    static CLIENTS: Limits<Client, Gate<Manual>> = Limits::new(10, |_| {
        let gate = Gate::builder(100).buckets(10).strict().clock(CLOCK.clone());
        gate.build().expect("100 in any second")
    });
    let layer = LimitLayer::new(&CLIENTS, client).max_retry_after(2 * SECOND);
    let mut coming: BinaryHeap<_> = (0..1_000_u64).map(|client| Reverse((0, client))).collect();
    let (mut requests, mut end, mut tenths) = (0, 0, vec![0_u64; 1_000]);
    let mut most = 0;
    while let Some(Reverse((at, client))) = coming.pop() {
        CLOCK.set(Timestamp::from_nanos(at));
        requests += 1;
        let tenth = (at / 100_000_000) as usize;
        tenths[tenth] += u64::from(at > 0);
        most = tenths[tenth].max(most);
        let response = respond(&layer, grpc_from("all")).await;
        match header(&response, "grpc-retry-pushback-ms") {
            None => end = at,
            Some(millis) => {
                let millis: u64 = millis.parse().expect("a number");
                assert!((1..=2_000).contains(&millis));
                coming.push(Reverse((at + millis * 1_000_000, client)));
            }
        }
    }
    let end = Duration::from_nanos(end);
    println!("{requests} requests, all admitted after {end:?}, {most} at most in a tenth");
    assert!(end <= 12 * SECOND, "{end:?}");
    assert!(requests <= 8_000 && most <= 200, "{requests} {most}");
}
