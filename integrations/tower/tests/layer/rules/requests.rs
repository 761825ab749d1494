//! Layers whose rates, weights and waits come from rules.

use std::time::Duration;

use http::{Request, Response};
use tower::{Layer, ServiceExt, service_fn};
use windrow_tower::{LimitLayer, Rules};

use super::{SECOND, a_second, rules};
use crate::Nothing;
use crate::limited::{answer, client, from, limits, respond, status};

#[tokio::test]
async fn requests_weigh_what_the_rules_say() {
    limits!(CLIENTS, CLOCK: 10, |_| 10);
    let layer = LimitLayer::new(&CLIENTS, client).weight(|parts| CLIENTS.weight(parts.uri.path()));
    let of = |path: &str| {
        let mut request = from("alice");
        *request.uri_mut() = path.parse().expect("a path");
        request
    };
    assert_eq!(status(&layer, of("/report/7")).await, 200);
    let heavy = Rules::builder(a_second(10)).weight("/report*", 7).weight("/health", 0);
    CLIENTS.replace(heavy.build().unwrap()).unwrap();
    for (path, expected) in [
        ("/report/7", 200),
        ("/report", 429),
        ("/", 200),
        ("/health", 200),
        ("/", 200),
        ("/", 429),
        ("/health", 200),
    ] {
        assert_eq!(status(&layer, of(path)).await, expected, "{path}");
    }
    CLIENTS.replace(rules(a_second(10), &[])).unwrap();
    CLOCK.advance(Duration::from_secs(1));
    for _ in 0..10 {
        assert_eq!(status(&layer, of("/report")).await, 200, "it weighs one again");
    }
}

/// Up to what both the rule and the layer allow.
#[tokio::test]
async fn requests_wait_as_long_as_the_rules_say() {
    limits!(CLIENTS, CLOCK: 10, |_| 1);
    // It moves the clock by `wait`.
    let sleep = |wait| {
        CLOCK.advance(wait);
        std::future::ready(())
    };
    let layer = LimitLayer::new(&CLIENTS, client).wait(SECOND, sleep);
    let waits = async || {
        let before = windrow::Clock::now(&*CLOCK);
        let service = layer.layer(service_fn(answer as fn(Request<Nothing>) -> _));
        let response: Response<_> = service.oneshot(from("alice")).await.expect("a response");
        (response.status().as_u16(), (windrow::Clock::now(&*CLOCK) - before).as_millis())
    };
    assert_eq!((waits().await, waits().await), ((200, 0), (200, 1_000)), "without rules");
    CLIENTS.replace(rules(a_second(1), &[])).unwrap();
    assert_eq!(waits().await, (429, 0), "a rule without a wait");
    let half = a_second(1).max_wait(Duration::from_millis(500));
    CLIENTS.replace(rules(half, &[("bob", a_second(1))])).unwrap();
    assert_eq!(waits().await, (429, 0), "it would take a second");
    CLOCK.advance(Duration::from_millis(500));
    assert_eq!(waits().await, (200, 500));
    let hour = a_second(1).max_wait(Duration::from_secs(3_600));
    CLIENTS.replace(rules(hour.interval(Duration::from_secs(10)), &[])).unwrap();
    assert_eq!(waits().await, (429, 0), "the layer waits for a second at most");
}

#[tokio::test]
async fn a_client_is_told_when_to_come_back_by_the_new_rules() {
    limits!(CLIENTS, CLOCK: 10, |_| 1);
    let layer = LimitLayer::new(&CLIENTS, client);
    assert_eq!(status(&layer, from("alice")).await, 200);
    CLIENTS.replace(rules(a_second(1).interval(Duration::from_secs(60)), &[])).unwrap();
    let response = respond(&layer, from("alice")).await;
    assert_eq!(
        (response.status().as_u16(), &response.headers()["retry-after"]),
        (429, &"60".parse().unwrap())
    );
    CLOCK.advance(Duration::from_secs(60));
    assert_eq!(status(&layer, from("alice")).await, 200);
}
