//! The header fields `RateLimit-Policy` and `RateLimit`.

use std::time::Duration;

use http::HeaderMap;
use windrow::Gate;
use windrow::clock::Manual;
use windrow_tower::{LimitFields, LimitLayer, Limits};

use crate::limited::{Client, client, from, grpc_from, limits, respond};

/// Returns the policy, the limit, and `Retry-After`.
fn fields(headers: &HeaderMap) -> [Option<&str>; 3] {
    ["ratelimit-policy", "ratelimit", "retry-after"]
        .map(|name| headers.get(name).map(|value| value.to_str().expect("text")))
}

#[tokio::test]
async fn refused_responses_have_the_fields_and_all_if_asked_for() {
    limits!(CLIENTS, CLOCK: 10, |_| 2);
    let silent = LimitLayer::new(&CLIENTS, client);
    let layer = silent.clone().fields(LimitFields::new("client"));
    let on_all = silent.clone().fields(LimitFields::new("of all").on_all());

    let policy = |name: &str| format!("\"{name}\";q=2;w=1");
    let first = respond(&on_all, from("alice")).await;
    assert_eq!(first.status(), 200);
    let all = policy("of all");
    assert_eq!(fields(first.headers()), [Some(&*all), Some("\"of all\";r=1"), None]);
    assert_eq!(fields(respond(&layer, from("alice")).await.headers()), [None; 3]);

    CLOCK.advance(Duration::from_millis(300));
    let refused = respond(&layer, from("alice")).await;
    assert_eq!(refused.status(), 429);
    let client = policy("client");
    let expected = [Some(&*client), Some("\"client\";r=0;t=1"), Some("1")];
    assert_eq!(fields(refused.headers()), expected);
    let refused = respond(&on_all, grpc_from("alice")).await;
    // The second place in line is half a second behind the first: 1.2 s.
    assert_eq!(fields(refused.headers()), [Some(&*all), Some("\"of all\";r=0;t=2"), None]);
    assert_eq!(fields(respond(&silent, from("alice")).await.headers())[..2], [None; 2]);
}

#[tokio::test]
async fn what_never_fits_has_no_time_and_other_clients_have_their_own_numbers() {
    limits!(CLIENTS, CLOCK: 10, |_| 5);
    let layer = LimitLayer::new(&CLIENTS, client).fields(LimitFields::new("client"));
    let heavy = layer.clone().weight(|_| 6);
    let refused = respond(&heavy, from("alice")).await;
    let expected = [Some("\"client\";q=5;w=1"), Some("\"client\";r=5"), None];
    assert_eq!(fields(refused.headers()), expected);
    CLOCK.advance(Duration::from_secs(1));
}

/// Keys that have no gate of their own have the overflow gate's numbers.
#[tokio::test]
async fn keys_that_share_have_the_numbers_of_the_gate_that_they_share() {
    thread_local! { static CLOCK: Manual = Manual::default(); }
    static CLIENTS: Limits<Client, Gate<Manual>> = Limits::new(1, |client| {
        let limit = if client.is_some() { 2 } else { 7 };
        let builder = Gate::builder(limit).interval(Duration::from_millis(1_500)).buckets(3);
        builder.clock(CLOCK.with(Manual::clone)).build().expect("three buckets")
    });
    let layer = LimitLayer::new(&CLIENTS, client).fields(LimitFields::new("client").on_all());
    let own = respond(&layer, from("alice")).await;
    assert_eq!(fields(own.headers())[..2], [Some("\"client\";q=2"), Some("\"client\";r=1")]);
    let shared = respond(&layer, from("bob")).await;
    assert_eq!(fields(shared.headers())[..2], [Some("\"client\";q=7"), Some("\"client\";r=6")]);
}

#[test]
#[should_panic(expected = "a character that must be escaped")]
fn a_policy_is_plain_text() {
    let _ = LimitFields::new("a \"client\"");
}
