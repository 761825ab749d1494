//! Limits that processes share, in a layer, on an engine that each test starts. Without
//! `redis-server` and `valkey-server` the tests say so, and are over.
#![cfg(unix)]

#[allow(dead_code, reason = "the tests of windrow-redis use the rest")]
#[path = "../../../redis/tests/engine/server.rs"]
mod server;

use std::sync::OnceLock;
use std::task::{Context, Waker};
use std::time::Duration;

use tower::{Layer, Service, service_fn};
use windrow::AtMost;
use windrow::labels::Labels;
use windrow_redis::{Absence, SharedGate, SharedGates};
use windrow_tower::{LimitFields, LimitLayer, SharedLimits};

use crate::limited::{Client, answer, client, from, grpc_from, respond, status};
use server::{LONG, Server, engine};

/// The patience of a request that nothing ought to keep waiting.
const PATIENCE: Duration = Duration::from_millis(5);

fn gate(server: &Server, limit: u64, absence: Absence) -> SharedGate {
    let builder = SharedGate::builder(AtMost(limit)).interval(Duration::from_millis(400));
    let builder = builder.buckets(4).name("it").on_absence(absence);
    builder.connect(&server.url()).expect("an engine")
}

fn counts<L: Labels>(limits: &SharedLimits<L>) -> (u64, u64) {
    limits.family().lifetime()
}

#[tokio::test]
async fn a_request_waits_for_the_engine_and_a_refused_one_is_told_when_to_come_back() {
    static GATE: OnceLock<SharedGate> = OnceLock::new();
    static LIMITS: SharedLimits<Client> =
        SharedLimits::new(10, |_| GATE.get().expect("an engine").clone());
    let Some(server) = engine() else { return };
    GATE.set(gate(&server, 5, Absence::Refuse)).expect("once");
    let layer = LimitLayer::new(&LIMITS, client).fields(LimitFields::new("all").on_all());
    let patient = layer.clone().wait(LONG, tokio::time::sleep);
    let first = respond(&patient, from("alice")).await;
    assert_eq!(first.status(), 200, "through the cold");
    let policy = first.headers()["ratelimit-policy"].to_str().unwrap();
    assert_eq!(policy, "\"all\";q=5", "the interval is no whole second");
    assert_eq!(counts(&LIMITS), (1, 0));
    // All clients have one limit together.
    let impatient = layer.clone().wait(PATIENCE, tokio::time::sleep);
    let (mut passed, mut blocked) = (1, 0);
    let refused = loop {
        let name = ["alice", "bob"][(passed + blocked) as usize % 2];
        let response = respond(&impatient, from(name)).await;
        if response.status() == 429 {
            break response;
        }
        passed += 1;
    };
    blocked += 1;
    assert_eq!(counts(&LIMITS), (passed, blocked));
    assert_eq!(refused.headers()["retry-after"], "1");
    assert!(refused.headers()["ratelimit"].to_str().unwrap().ends_with(";t=1"));
    // A weight beyond the limit never fits, with and without patience, in HTTP and in gRPC.
    let heavy = impatient.clone().weight(|_| 6);
    let never = respond(&heavy, grpc_from("bob")).await;
    assert_eq!(never.headers()["grpc-retry-pushback-ms"], "-1");
    let heavy = layer.weight(|_| 6);
    let never = respond(&heavy, from("bob")).await;
    assert!(never.status() == 429 && !never.headers().contains_key("retry-after"));
    assert_eq!(counts(&LIMITS), (passed, blocked + 2));
    // What the engine has told is held to the cap, too.
    let capped = impatient.max_retry_after(Duration::from_millis(1));
    let pushback = loop {
        let response = respond(&capped, grpc_from("bob")).await;
        if let Some(pushback) = response.headers().get("grpc-retry-pushback-ms") {
            break pushback.clone();
        }
    };
    assert_eq!(pushback, "1");
}

#[tokio::test]
async fn each_key_has_a_limit_of_its_own() {
    static GATES: OnceLock<SharedGates> = OnceLock::new();
    static LIMITS: SharedLimits<Client> = SharedLimits::new(10, |key| {
        let key = key.map_or("", |key| key.client);
        GATES.get().expect("an engine").of(key.as_bytes())
    });
    let Some(server) = engine() else { return };
    let builder = SharedGates::builder(AtMost(3)).interval(Duration::from_secs(2)).buckets(2);
    GATES.set(builder.connect(&server.url()).expect("an engine")).expect("once");
    let layer = LimitLayer::new(&LIMITS, client).wait(LONG, tokio::time::sleep);
    let all = layer.clone().weight(|_| 3);
    assert_eq!(status(&all, from("alice")).await, 200, "through the cold");
    assert_eq!(status(&all, from("bob")).await, 200, "what Alice has used is not his");
    let of = |client| {
        let limit = LIMITS.family().get(Client { client }).expect("it was asked");
        (limit.passed(), limit.blocked(), limit.limiter().map(SharedGate::limit))
    };
    assert_eq!((of("alice"), of("bob")), ((1, 0, Some(3)), (1, 0, Some(3))));
}

#[tokio::test]
async fn a_request_that_goes_away_while_it_waits_takes_nothing_and_is_not_counted() {
    static GATE: OnceLock<SharedGate> = OnceLock::new();
    static LIMITS: SharedLimits<Client> =
        SharedLimits::new(10, |_| GATE.get().expect("an engine").clone());
    let Some(server) = engine() else { return };
    GATE.set(gate(&server, 5, Absence::Refuse)).expect("once");
    let layer = LimitLayer::new(&LIMITS, client).wait(LONG, tokio::time::sleep);
    let mut service = layer.layer(service_fn(answer));
    // The limit is cold.
    let mut future = Box::pin(service.call(from("alice")));
    assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    drop(future);
    assert_eq!(counts(&LIMITS), (0, 0));
    assert_eq!(status(&layer, from("alice")).await, 200);
    assert_eq!(counts(&LIMITS), (1, 0));
}

/// While the engine is stopped no request hangs, even with the longest patience, and the policy
/// decides.
#[tokio::test]
async fn a_stopped_engine_leaves_the_policy_to_decide() {
    static GATES: OnceLock<[SharedGate; 2]> = OnceLock::new();
    static LIMITS: SharedLimits<Client> = SharedLimits::new(10, |key| {
        let is_strict = key.is_none_or(|key| key.client == "strict");
        GATES.get().expect("an engine")[usize::from(is_strict)].clone()
    });
    let Some(server) = engine() else { return };
    let both = [Absence::Admit, Absence::Refuse].map(|absence| gate(&server, 100, absence));
    GATES.set(both).expect("once");
    let layer = LimitLayer::new(&LIMITS, client).wait(LONG, tokio::time::sleep);
    assert_eq!(status(&layer, from("strict")).await, 200);
    assert_eq!(status(&layer, from("lenient")).await, 200);
    server.stop(true);
    // Rations are used up first.
    while status(&layer, from("strict")).await == 200 {}
    for _ in 0..300 {
        assert_eq!(status(&layer, from("lenient")).await, 200);
    }
    assert_eq!(status(&layer, from("strict")).await, 429);
    server.stop(false);
    while status(&layer, from("strict")).await != 200 {}
}
