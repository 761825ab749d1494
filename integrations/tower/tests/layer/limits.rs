//! The requests that are let through are exactly those that the gates of their keys grant.

use std::future::pending;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::routing::get;
use http::{Request, StatusCode};
use testkit::race;
use tower::{Layer, ServiceExt, service_fn};
use windrow::Gate;
use windrow_tower::{Http, LimitLayer, Limits, MetricsLayer};

use crate::limited::{Client, client, from, limits, status};
use crate::{Counts, Nothing, matched, routes};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_requests_at_once_exactly_the_limit_is_let_through() {
    limits!(CLIENTS, CLOCK: 10, |_| 50);
    static REACHED: AtomicU64 = AtomicU64::new(0);
    let reach = || async {
        REACHED.fetch_add(1, Ordering::Relaxed);
        "well"
    };
    let app = Router::new().route("/", get(reach)).layer(LimitLayer::new(&CLIENTS, client));
    for round in 1..=3 {
        let tasks: Vec<_> = (0..8).map(|_| tokio::spawn(ask_often(app.clone()))).collect();
        let mut passed = 0;
        for task in tasks {
            passed += task.await.expect("it ends");
        }
        assert_eq!((passed, REACHED.load(Ordering::Relaxed)), (50, 50 * round));
        CLOCK.advance(SECOND);
    }
    assert_eq!(CLIENTS.family().lifetime(), (150, 3 * 800 - 150));
}

/// Clients come once and never again: idle keys make room for new ones, and each has the whole
/// limit for itself. A key whose grants count stays.
#[test]
fn idle_keys_leave_as_new_ones_come() {
    limits!(CLIENTS, CLOCK: 200, |_| 2);
    let ask = |client: &str| CLIENTS.admit(Client { client }, 1, Duration::ZERO).is_granted();
    for second in 0..200 {
        assert!(ask("alice") && ask("alice"));
        for number in 0..20 {
            let client = format!("{second}, {number}");
            assert!(ask(&client) && ask(&client) && !ask(&client), "{client}");
            assert!(!ask("alice"));
        }
        CLOCK.advance(SECOND);
    }
    assert!(CLIENTS.family().len() <= 200, "{} keys", CLIENTS.family().len());
    assert_eq!(CLIENTS.family().refused(), 0);
    assert_eq!(CLIENTS.family().lifetime(), (200 * 42, 200 * 40));
}

/// All keys are in use at first, and idle a second later: then a stranger has a gate of its own.
#[test]
fn a_key_that_finds_no_room_takes_that_of_an_idle_one() {
    limits!(CLIENTS, CLOCK: 8, |client| if client.is_some() { 2 } else { 5 });
    let ask = |client: &str| CLIENTS.admit(Client { client }, 1, Duration::ZERO).is_granted();
    assert!((0..8).all(|number| ask(&format!("{number}"))));
    assert_eq!((0..8).filter(|_| ask("stranger")).count(), 5, "by the overflow gate");
    CLOCK.advance(SECOND);
    assert_eq!((0..8).filter(|_| ask("new")).count(), 2, "by its own");
}

/// Returns the number of admitted requests among a hundred.
async fn ask_often(app: Router) -> u64 {
    let mut passed = 0;
    for _ in 0..100 {
        let request = from("alice").map(|_| Body::empty());
        match app.clone().oneshot(request).await.expect("a response").status() {
            StatusCode::OK => passed += 1,
            other => assert_eq!(other, StatusCode::TOO_MANY_REQUESTS),
        }
    }
    passed
}

#[tokio::test]
async fn a_client_over_its_own_limit_takes_nothing_from_others() {
    limits!(CLIENTS, CLOCK: 10, |client| if client == Some(Client { client: "big" }) { 3 } else { 1 });
    let layer = LimitLayer::new(&CLIENTS, client);
    for (client, expected) in [
        ("alice", 200),
        ("alice", 429),
        ("bob", 200),
        ("big", 200),
        ("big", 200),
        ("big", 200),
        ("big", 429),
        ("bob", 429),
    ] {
        assert_eq!(status(&layer, from(client)).await, expected, "{client}");
    }
    let alice = CLIENTS.family().handle(Client { client: "alice" });
    assert_eq!((alice.passed(), alice.blocked()), (1, 1));
}

#[tokio::test]
async fn a_request_without_a_key_is_not_limited() {
    limits!(CLIENTS, CLOCK: 10, |_| 1);
    let layer = LimitLayer::new(&CLIENTS, client);
    for _ in 0..10 {
        assert_eq!(status(&layer, Request::new(Nothing::new())).await, 200);
    }
    assert_eq!(CLIENTS.family().len(), 0);
}

#[tokio::test]
async fn keys_that_find_no_room_share_one_gate() {
    limits!(CLIENTS, CLOCK: 2, |client| if client.is_some() { 1 } else { 3 });
    let layer = LimitLayer::new(&CLIENTS, client);
    assert_eq!(status(&layer, from("alice")).await, 200);
    assert_eq!(status(&layer, from("bob")).await, 200);
    let mut passed = 0;
    for stranger in 0..100 {
        passed += u16::from(status(&layer, from(&format!("stranger {stranger}"))).await == 200);
    }
    assert_eq!((passed, CLIENTS.family().len()), (3, 2));
    assert_eq!(status(&layer, from("bob")).await, 429, "a known key has its own gate");
    // Idle keys make room; the shared gate stays as it is.
    assert_eq!(CLIENTS.forget_idle(), 0);
    CLOCK.advance(SECOND);
    assert_eq!((CLIENTS.forget_idle(), CLIENTS.family().len()), (2, 0));
    assert_eq!(status(&layer, from("stranger 7")).await, 200);
    assert_eq!(status(&layer, from("stranger 7")).await, 429);
    assert_eq!(CLIENTS.family().lifetime(), (6, 99));
}

#[test]
fn no_client_gets_more_while_idle_keys_are_forgotten() {
    limits!(CLIENTS, CLOCK: 10, |_| 3);
    for round in 0..2_000 {
        let passed = AtomicU64::new(0);
        race(3, |thread| {
            for _ in 0..3 {
                if thread == 0 {
                    CLIENTS.forget_idle();
                }
                let admission = CLIENTS.admit(Client { client: "alice" }, 1, Duration::ZERO);
                passed.fetch_add(admission.is_granted().into(), Ordering::Relaxed);
            }
        });
        assert_eq!(passed.into_inner(), 3);
        assert_eq!((CLIENTS.forget_idle(), CLIENTS.family().len()), (0, 1));
        CLOCK.advance(SECOND);
        if round % 2 == 0 {
            assert_eq!((CLIENTS.forget_idle(), CLIENTS.family().len()), (1, 0));
        }
    }
    assert_eq!(CLIENTS.family().lifetime(), (6_000, 12_000));
}

/// A place that is taken by a look at the counts of a client that was never asked for.
#[test]
fn a_key_that_was_never_asked_makes_room_too() {
    limits!(CLIENTS, CLOCK: 8, |_| 3);
    let look = |client: &str| CLIENTS.family().with(Client { client }).blocked();
    let ask = |client: &str| CLIENTS.admit(Client { client }, 1, Duration::ZERO).is_granted();
    let is_there = |client: &str| CLIENTS.family().get(Client { client }).is_some();
    assert!((0..8).all(|number| look(&number.to_string()) == 0));
    assert!(ask("alice") && ask("alice") && is_there("alice"));
    CLOCK.advance(SECOND);
    CLIENTS.forget_idle();
    assert_eq!((look("bob"), CLIENTS.forget_idle()), (0, 0), "it may be about to be asked");
    let bob = CLIENTS.family().handle(Client { client: "bob" });
    let pause = || std::thread::sleep(Duration::from_millis(100));
    pause();
    assert_eq!(CLIENTS.forget_idle(), 0, "it is in use");
    drop(bob);
    let forgotten = (0..100).map(|_| (pause(), CLIENTS.forget_idle()).1).find(|it| *it > 0);
    assert!(forgotten == Some(1) && !is_there("bob"));
    assert!(ask("bob") && is_there("bob"));
}

#[test]
fn a_gate_that_is_retired_but_still_in_the_family_is_taken_out() {
    limits!(CLIENTS, CLOCK: 10, |_| 3);
    let alice = Client { client: "alice" };
    let ask = || CLIENTS.admit(alice, 3, Duration::ZERO).is_granted();
    assert!(ask() && !ask());
    CLOCK.advance(SECOND);
    let handle = CLIENTS.family().handle(alice); // it is kept, so it is not removed
    assert_eq!((CLIENTS.forget_idle(), CLIENTS.family().len()), (0, 1));
    assert_eq!(handle.limiter().map(Gate::limit), Some(0));
    assert!(ask() && !ask());
    assert_eq!(CLIENTS.family().len(), 1);
}

#[tokio::test]
async fn a_key_of_enums_is_never_forgotten_and_needs_not_be() {
    windrow::labels! { enum Everything { Everything } struct All { all: Everything } }
    static ALL: Limits<All> = Limits::new(1, |_| {
        Gate::builder(2).interval(Duration::from_secs(3_600)).buckets(60).build().expect("an hour")
    });
    let layer = LimitLayer::new(&ALL, |_| Some(All { all: Everything::Everything }));
    assert_eq!(ALL.forget_idle(), 0);
    for expected in [200, 200, 429] {
        assert_eq!(status(&layer, from("anybody")).await, expected);
        assert_eq!(ALL.forget_idle(), 0);
    }
}

#[tokio::test]
async fn a_request_takes_what_it_weighs() {
    limits!(CLIENTS, CLOCK: 10, |_| 10);
    let layer = LimitLayer::new(&CLIENTS, client).weight(|parts| {
        parts.headers.get("weight").map_or(1, |it| it.to_str().unwrap().parse().unwrap())
    });
    let of = |weight: u64| {
        let mut request = from("alice");
        request.headers_mut().insert("weight", weight.into());
        request
    };
    for (weight, expected) in [(7, 200), (4, 429), (3, 200), (1, 429), (0, 200)] {
        assert_eq!(status(&layer, of(weight)).await, expected, "{weight}");
    }
    let alice = CLIENTS.family().handle(Client { client: "alice" });
    assert_eq!(alice.limiter().map(Gate::granted), Some(10));
}

#[tokio::test]
async fn what_was_granted_stays_granted_when_the_request_is_dropped() {
    limits!(CLIENTS, CLOCK: 10, |_| 2);
    let layer = LimitLayer::new(&CLIENTS, client);
    let never = service_fn(|_: Request<Nothing>| pending::<crate::limited::Answer>());
    for _ in 0..2 {
        let response = layer.layer(never).oneshot(from("alice"));
        let none = tokio::time::timeout(Duration::from_millis(1), response).await;
        assert!(none.is_err());
    }
    assert_eq!(status(&layer, from("alice")).await, 429);
    CLOCK.advance(SECOND);
    assert_eq!(status(&layer, from("alice")).await, 200);
}

#[tokio::test]
async fn a_limit_behind_the_clients_own_loses_nothing_to_clients_over_it() {
    limits!(CLIENTS, CLOCK: 10, |_| 2);
    limits!(ALL, CLOCK_OF_ALL: 10, |_| 3);
    let own = LimitLayer::new(&CLIENTS, client);
    let all = LimitLayer::new(&ALL, |_| Some(Client { client: "all" }));
    let both = (own, all);
    let mut passed = Vec::new();
    for client in ["alice", "alice", "alice", "alice", "bob", "bob"] {
        passed.push(status(&both, from(client)).await);
    }
    assert_eq!(passed, [200, 200, 429, 429, 200, 429]);
}

#[tokio::test]
async fn what_a_limit_refuses_is_counted_as_blocked_by_the_layer_around_it() {
    limits!(CLIENTS, CLOCK: 10, |_| 2);
    let routes = routes();
    let app = Router::new()
        .route("/", get(|| async { "well" }))
        .layer(LimitLayer::new(&CLIENTS, client))
        .layer(MetricsLayer::new(routes, matched));
    for _ in 0..5 {
        let request = from("alice").map(|_| Body::empty());
        app.clone().oneshot(request).await.expect("a response");
    }
    let blocked = routes.family().lifetime().0.stats(Http::Block).count;
    let counts = Counts { answered: 2, ..Counts::successes(5) };
    assert_eq!((blocked, crate::get(routes, "/")), (3, counts));
}
