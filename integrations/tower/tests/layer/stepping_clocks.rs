//! A clock that shows the time in steps: a client that sleeps exactly as long as it was told is let
//! through then.

use std::sync::LazyLock;
use std::time::Duration;

use windrow::clock::Manual;
use windrow::{Clock, Gate, Timestamp, gate::Admission};
use windrow_tower::{Blocked, LimitLayer, Limits};

use crate::limited::{Client, client, from, grpc_from, respond};

/// A clock that shows the time as of its last step, 4 ms apart.
#[derive(Clone, Copy)]
struct Steps(&'static LazyLock<Manual>);

impl Clock for Steps {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.now().as_nanos() / 1_000_000 / 4 * 4)
    }

    fn resolution(&self) -> Duration {
        Duration::from_millis(4)
    }
}

/// Returns a gate for `limit` in each 333 ms, in three buckets.
fn thirds(limit: u64, real: &'static LazyLock<Manual>) -> Gate<Steps> {
    let builder = Gate::builder(limit).interval(Duration::from_millis(333)).buckets(3);
    builder.clock(Steps(real)).build().expect("it is valid")
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[tokio::test]
async fn a_grpc_client_that_sleeps_as_told_is_not_pushed_back_again() {
    static REAL: LazyLock<Manual> = LazyLock::new(Manual::default);
    static CLIENTS: Limits<Client, Gate<Steps>> = Limits::new(1_000, |_| thirds(5, &REAL));
    let layer = LimitLayer::new(&CLIENTS, client);
    let mut again = 0;
    for phase in 0..60 {
        let name = format!("{phase}");
        REAL.advance(millis(1_000 + phase * 97 % 1_009));
        let told = loop {
            let response = respond(&layer, grpc_from(&name)).await;
            if let Some(told) = response.headers().get("grpc-retry-pushback-ms") {
                break told.to_str().expect("text").parse().expect("a number");
            }
            REAL.advance(millis(phase % 3));
        };
        REAL.advance(millis(told));
        let response = respond(&layer, grpc_from(&name)).await;
        again += usize::from(response.headers().contains_key("grpc-retry-pushback-ms"));
    }
    assert_eq!(again, 0, "of 60");
}

#[tokio::test]
async fn a_layer_around_it_knows_the_exact_time() {
    static REAL: LazyLock<Manual> = LazyLock::new(Manual::default);
    static CLIENTS: Limits<Client, Gate<Steps>> = Limits::new(1_000, |_| thirds(1, &REAL));
    let layer = LimitLayer::new(&CLIENTS, client);
    for phase in 0..60 {
        let name = format!("{phase}");
        REAL.advance(millis(1_000 + phase * 97 % 1_009));
        assert_eq!(respond(&layer, from(&name)).await.status(), 200);
        REAL.advance(millis(phase % 50));
        let refused = respond(&layer, from(&name)).await;
        let blocked = refused.extensions().get::<Blocked>().expect("it is refused");
        REAL.advance(blocked.retry_after.expect("a time"));
        assert_eq!(respond(&layer, from(&name)).await.status(), 200, "in phase {phase}");
    }
}

/// A key that still shares the overflow gate is told a time at which that gate admits it, or at
/// which it shares no longer.
#[test]
fn a_key_that_shares_comes_back_to_its_own_gate() {
    static REAL: LazyLock<Manual> = LazyLock::new(Manual::default);
    let mut early = 0;
    for (weight, phase) in (0..120).map(|round| (1 + round % 2, round / 2)) {
        let clients = Box::leak(Box::new(Limits::<Client, Gate<Steps>>::new(1, |client| {
            thirds(if client.is_some() { 2 } else { 1 }, &REAL)
        })));
        let ask = |client, weight| clients.admit(Client { client }, weight, Duration::ZERO);
        REAL.advance(millis(1_000 + phase * 97 % 1_009));
        assert_eq!(ask("alice", 1), Admission::Now);
        REAL.advance(millis(150 + phase % 60));
        assert_eq!(ask("bob", 1), Admission::Now);
        REAL.advance(millis(200));
        assert_eq!(clients.forget_idle(), 1, "alice");
        let refused = ask("bob", weight);
        let Admission::Refused { retry_after: Some(told) } = refused else {
            panic!("{refused:?} in phase {phase}")
        };
        REAL.advance(told);
        early += usize::from(ask("bob", weight) != Admission::Now);
    }
    assert_eq!(early, 0, "of 120");
}
