//! A herd of clients that are refused together, and come back when they are told to.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::Future;
use std::sync::LazyLock;
use std::time::Duration;

use http::Response;
use windrow::clock::Manual;
use windrow::gate::Admission;
use windrow::{Gate, Pace, Timestamp};
use windrow_tower::{Blocked, LimitLayer, Limits, PaceLayer};

use crate::limited::{Client, client, from, grpc_from, respond};

const HERD: u64 = 1_000;

/// The longest time that a client is told beyond the true wait, as the documentation says.
const LONGEST: Duration = Duration::from_secs(30);

/// The course of a herd, until all of it has been admitted.
#[derive(Debug)]
struct Course {
    requests: u64,
    end: Duration,
    /// The greatest number of requests in a second, after the first one.
    most: u64,
}

/// Returns the wait that a refusal tells.
fn told<B>(response: &Response<B>) -> Option<Duration> {
    let number = |name| response.headers().get(name)?.to_str().ok()?.parse::<u64>().ok();
    let seconds = number("retry-after").map(Duration::from_secs);
    seconds.or_else(|| number("grpc-retry-pushback-ms").map(Duration::from_millis))
}

/// Sends a request of each client at the same moment, and again when it is told to. `wait` returns
/// the wait of a refused request if no other came.
async fn herd<B, A: Future<Output = Response<B>>>(
    clock: &Manual,
    send: impl Fn() -> A,
    wait: impl Fn() -> Duration,
) -> Course {
    let mut coming: BinaryHeap<_> = (0..HERD).map(|client| Reverse((0, client))).collect();
    let (mut requests, mut end, mut seconds) = (0, Duration::ZERO, vec![0_u64; 1_000]);
    while let Some(Reverse((at, client))) = coming.pop() {
        clock.set(Timestamp::from_nanos(at));
        requests += 1;
        seconds[(at / 1_000_000_000) as usize] += 1;
        let response = send().await;
        let Some(blocked) = response.extensions().get::<Blocked>() else {
            end = Duration::from_nanos(at);
            continue;
        };
        let (told, wait) = (told(&response).expect("a time"), wait());
        assert!(wait <= told, "{told:?} is too early: {wait:?}");
        let exact = blocked.retry_after.expect("a time");
        assert!((wait..=wait + LONGEST).contains(&exact), "{exact:?} instead of {wait:?}");
        assert!(exact <= told && told < exact + Duration::from_secs(1));
        coming.push(Reverse((at + told.as_nanos() as u64, client)));
    }
    let most = seconds[1..].iter().copied().max().unwrap_or_default();
    Course { requests, end, most }
}

/// Returns the wait of a gate or a pace for one more.
fn wait_of(admission: Admission) -> Duration {
    let Admission::Refused { retry_after } = admission else { panic!("it is exhausted") };
    retry_after.expect("one fits")
}

macro_rules! strict {
    ($clients:ident, $clock:ident) => {
        static $clock: LazyLock<Manual> = LazyLock::new(Manual::default);
        static $clients: Limits<Client, Gate<Manual>> = Limits::new(10, |_| {
            let gate = Gate::builder(100).buckets(10).strict().clock($clock.clone());
            gate.build().expect("100 in any second")
        });
    };
}

/// No time in whole seconds is better than 18 s: two steps of a second are within 1.1 s.
#[tokio::test]
async fn a_herd_that_is_told_whole_seconds_comes_back_in_parts() {
    strict!(CLIENTS, CLOCK);
    let layer = LimitLayer::new(&CLIENTS, client);
    let ask = || CLIENTS.admit(Client { client: "all" }, 1, Duration::ZERO);
    let course = herd(&CLOCK, || respond(&layer, from("all")), || wait_of(ask())).await;
    assert!(course.end <= Duration::from_secs(19), "{course:?}");
    assert!(course.requests <= 2_600 && course.most <= 100, "{course:?}");
}

#[tokio::test]
async fn a_herd_that_is_told_milliseconds_comes_back_one_by_one() {
    strict!(CLIENTS, CLOCK);
    let layer = LimitLayer::new(&CLIENTS, client);
    let ask = || CLIENTS.admit(Client { client: "all" }, 1, Duration::ZERO);
    let course = herd(&CLOCK, || respond(&layer, grpc_from("all")), || wait_of(ask())).await;
    assert!(course.end <= Duration::from_secs(11), "{course:?}");
    assert!(course.requests <= 1_901 && course.most <= 100, "{course:?}");
}

/// Returns a pace of 100 a second, all at once after a rest.
fn even(clock: &Manual) -> Pace<Manual> {
    let even = Pace::builder(Duration::from_millis(10)).burst(100).clock(clock.clone());
    even.build().expect("100 a second")
}

#[tokio::test]
async fn a_herd_before_a_pace_comes_back_at_that_pace() {
    static CLOCK: LazyLock<Manual> = LazyLock::new(Manual::default);
    static PACE: LazyLock<Pace<Manual>> = LazyLock::new(|| even(&CLOCK));
    let layer = PaceLayer::new(|_| Some(&*PACE));
    let ask = || PACE.admit(1, Duration::ZERO);
    let course = herd(&CLOCK, || respond(&layer, from("all")), || wait_of(ask())).await;
    assert!(course.end <= Duration::from_secs(10), "{course:?}");
    assert!(course.requests <= 1_901 && course.most <= 101, "{course:?}");
}

#[tokio::test]
async fn a_herd_before_one_pace_keeps_no_client_of_another_away() {
    static CLOCK: LazyLock<Manual> = LazyLock::new(Manual::default);
    static FREE: LazyLock<Pace<Manual>> = LazyLock::new(|| even(&CLOCK));
    static PAID: LazyLock<Pace<Manual>> = LazyLock::new(|| even(&CLOCK));
    let layer = PaceLayer::new(|parts| match parts.headers.get("client")?.to_str() {
        Ok("paid") => Some(&*PAID),
        _ => Some(&*FREE),
    });
    for _ in 0..1_000 {
        respond(&layer, from("free")).await;
    }
    for _ in 0..100 {
        assert!(respond(&layer, from("paid")).await.status().is_success());
    }
    assert_eq!(told(&respond(&layer, grpc_from("paid")).await), Some(Duration::from_millis(10)));
    assert!(told(&respond(&layer, grpc_from("free")).await) > Some(Duration::from_secs(9)));
}

/// Strangers that never come back make others wait, but for no longer than half a minute.
#[tokio::test]
async fn strangers_that_never_come_back_hold_up_no_client_for_long() {
    strict!(CLIENTS, CLOCK);
    let layer = LimitLayer::new(&CLIENTS, client);
    let mut times = Vec::new();
    for _ in 0..20_000 {
        times.extend(told(&respond(&layer, grpc_from("all")).await));
    }
    let wait = Duration::from_millis(1_100);
    assert_eq!((times.iter().min(), times.len()), (Some(&wait), 19_900));
    assert!(times.iter().max() <= Some(&(wait + LONGEST)), "{:?}", times.iter().max());
    // Once their turns are over, the line is empty.
    CLOCK.advance(2 * LONGEST);
    assert!(
        (0..100).all(|_| CLIENTS.admit(Client { client: "all" }, 1, Duration::ZERO).is_granted())
    );
    assert_eq!(told(&respond(&layer, grpc_from("all")).await), Some(wait));
}

/// A client alone is told the true wait, whenever it comes back.
#[tokio::test]
async fn a_client_that_obeys_alone_is_told_the_true_wait() {
    strict!(CLIENTS, CLOCK);
    let layer = LimitLayer::new(&CLIENTS, client).weight(|_| 60);
    for _ in 0..100 {
        assert!(respond(&layer, grpc_from("alone")).await.headers().get("grpc-status").is_none());
        let wait = told(&respond(&layer, grpc_from("alone")).await);
        assert_eq!(wait, Some(Duration::from_millis(1_100)));
        CLOCK.advance(Duration::from_millis(1_100));
    }
}
