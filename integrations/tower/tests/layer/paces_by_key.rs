//! A pace for each key: the burst and the rate of each, the keys that share, the keys that are
//! forgotten, and the turns of requests that go away.

use std::future::{Future, pending};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use http::HeaderMap;
use testkit::race;
use tower::{Layer, Service, service_fn};
use windrow::clock::Manual;
use windrow::gate::Admission;
use windrow::{AtMost, Pace, Paces};
use windrow_tower::{LimitFields, LimitLayer, Limits, PaceLimits};

use crate::Nothing;
use crate::limited::{Client, answer, client, from, grpc_from, respond, status};
use crate::sharing::{MEANWHILE, Stalling};

const SECOND: Duration = Duration::from_secs(1);
const ALICE: Client<'static> = Client { client: "alice" };
const BOB: Client<'static> = Client { client: "bob" };

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Makes a clock, and limits with a pace of this burst on it for each key, one in each 50 ms.
macro_rules! paced {
    ($limits:ident, $clock:ident: $keys:literal, $burst:expr) => {
        static $clock: LazyLock<Manual> = LazyLock::new(Manual::default);
        static $limits: Limits<Client, Pace<Manual>> = Limits::new($keys, |client| {
            let burst: fn(Option<Client<'_>>) -> u64 = $burst;
            let builder = Pace::builder(millis(50)).burst(burst(client));
            builder.clock($clock.clone()).build().expect("20 a second")
        });
    };
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).map(|value| value.to_str().expect("text"))
}

/// In a static on the default clock, as README has it.
#[tokio::test]
async fn a_client_has_a_burst_and_a_rate() {
    static CLIENTS: PaceLimits<Client> =
        PaceLimits::new(10_000, |_| Pace::of(millis(50), AtMost(40)));
    let layer = LimitLayer::new(&CLIENTS, client);
    let mut admitted = 0;
    for _ in 0..100 {
        admitted += u32::from(status(&layer, from("alice")).await == 200);
    }
    assert!((40..60).contains(&admitted), "{admitted}: 40, unless this took long");
    assert_eq!(status(&layer, from("bob")).await, 200);
    let limit = CLIENTS.family().get(BOB).expect("he has one").keep();
    assert_eq!(
        (limit.limiter().map(|pace| pace.quota().burst), limit.passed(), limit.blocked()),
        (Some(40), 1, 0)
    );
}

#[tokio::test]
async fn each_of_many_keys_has_a_burst_of_40_and_then_20_a_second() {
    paced!(CLIENTS, CLOCK: 1_000, |_| 40);
    let layer = LimitLayer::new(&CLIENTS, client);
    let names: Vec<String> = (0..200).map(|number| format!("client-{number}")).collect();
    let mut admitted = vec![0; names.len()];
    for second in 0..=10 {
        for (name, admitted) in names.iter().zip(&mut admitted) {
            for _ in 0..45 {
                *admitted += u32::from(status(&layer, from(name)).await == 200);
            }
            assert_eq!(*admitted, 40 + 20 * second, "{name}");
        }
        CLOCK.advance(SECOND);
    }
}

#[test]
fn keys_beyond_the_limit_of_keys_share_one_pace() {
    paced!(CLIENTS, CLOCK: 3, |client| if client.is_some() { 2 } else { 5 });
    let names: Vec<String> = (0..50).map(|number| number.to_string()).collect();
    let ask = |client: &str| CLIENTS.admit(Client { client }, 1, Duration::ZERO).is_granted();
    let admitted = |times| (0..times).flat_map(|_| &names).filter(|name| ask(name)).count();
    assert_eq!(admitted(10), 3 * 2 + 5);
    CLOCK.advance(millis(100));
    assert_eq!(admitted(10), 3 * 2 + 2);
    assert_eq!(CLIENTS.family().len(), 3);
}

#[test]
fn a_key_that_is_forgotten_gets_no_second_burst() {
    paced!(CLIENTS, CLOCK: 10, |_| 40);
    let admitted =
        || (0..100).filter(|_| CLIENTS.admit(ALICE, 1, Duration::ZERO).is_granted()).count();
    assert_eq!((admitted(), CLIENTS.forget_idle()), (40, 0));
    for _ in 0..20 {
        CLOCK.advance(millis(99));
        assert_eq!(CLIENTS.forget_idle(), 0, "its burst is not whole");
    }
    CLOCK.advance(millis(20));
    assert_eq!((CLIENTS.forget_idle(), CLIENTS.family().len()), (1, 0));
    assert_eq!(admitted(), 40);
}

/// Strangers keep the overflow pace in use for ever. So its end is never over, and a key that asked
/// both paces for any while would have its own burst after that, beside what it had of the shared
/// one.
#[test]
fn a_key_that_shared_the_overflow_pace_gets_no_second_burst_by_a_pace_of_its_own() {
    paced!(CLIENTS, CLOCK: 1, |_| 4);
    let ask = |client| CLIENTS.admit(client, 1, Duration::ZERO).is_granted();
    assert!(ask(ALICE));
    let alice = CLIENTS.family().handle(ALICE); // so her place is not given to another
    CLOCK.advance(millis(50));
    assert_eq!((0..9).filter(|_| ask(BOB)).count(), 4, "of the shared one");
    let mut had = 4;
    for step in 1..=40 {
        CLOCK.advance(millis(50));
        had += u64::from(ask(BOB));
        assert!(had <= 4 + step, "{had} in {step} periods");
    }
    assert_eq!(had, 44);
    drop(alice);
    assert_eq!((CLIENTS.forget_idle(), ask(BOB)), (1, false));
    assert_eq!(CLIENTS.family().len(), 1, "he has found room");
    CLOCK.advance(millis(100));
    assert_eq!((0..9).filter(|_| ask(BOB)).count(), 2, "of his own one, alone");
    let stranger = || ask(Client { client: "stranger" });
    assert_eq!((0..9).filter(|_| stranger()).count(), 2, "he takes nothing of theirs");
}

/// A new client is not held up by a shared burst that is much larger than its own.
#[test]
fn a_key_that_may_have_used_all_begins_without_a_burst_and_at_its_rate() {
    paced!(CLIENTS, CLOCK: 1, |client| if client.is_some() { 4 } else { 1_000 });
    let ask = |client| CLIENTS.admit(client, 1, Duration::ZERO);
    assert!(ask(ALICE).is_granted());
    let alice = CLIENTS.family().handle(ALICE);
    CLOCK.advance(millis(50));
    assert!(CLIENTS.admit(BOB, 1_000, Duration::ZERO).is_granted());
    drop(alice);
    assert_eq!(CLIENTS.forget_idle(), 1);
    let carol = Client { client: "carol" };
    let retry_after = Some(millis(50));
    assert_eq!(ask(carol), Admission::Refused { retry_after });
    for _ in 0..10 {
        CLOCK.advance(millis(50));
        assert!(ask(carol).is_granted() && !ask(carol).is_granted());
    }
}

/// The turns that were promised by the shared pace come first.
#[test]
fn a_key_that_waits_in_the_overflow_pace_has_no_earlier_turn_in_its_own_one() {
    paced!(CLIENTS, CLOCK: 1, |_| 2);
    assert!(CLIENTS.admit(ALICE, 1, Duration::ZERO).is_granted());
    let alice = CLIENTS.family().handle(ALICE);
    CLOCK.advance(millis(50));
    let ask = || CLIENTS.admit(BOB, 1, SECOND);
    assert_eq!([ask(), ask()], [Admission::Now; 2]);
    assert_eq!([ask(), ask()], [50, 100].map(|wait| Admission::After(millis(wait))));
    drop(alice);
    assert_eq!(CLIENTS.forget_idle(), 1);
    assert_eq!([ask(), ask()], [150, 200].map(|wait| Admission::After(millis(wait))));
    assert_eq!(CLIENTS.family().len(), 1, "he has found room");
}

#[tokio::test]
async fn a_refusal_says_when_to_come_back_and_what_is_left() {
    paced!(CLIENTS, CLOCK: 10, |_| 40);
    let layer = LimitLayer::new(&CLIENTS, client).fields(LimitFields::new("client").on_all());
    let response = respond(&layer, from("alice")).await;
    assert_eq!(text(response.headers(), "ratelimit-policy"), Some("\"client\";q=40;w=2"));
    assert_eq!(text(response.headers(), "ratelimit"), Some("\"client\";r=39"));
    for _ in 0..39 {
        assert_eq!(status(&layer, from("alice")).await, 200);
    }
    let told = async || {
        let refused = respond(&layer, grpc_from("alice")).await;
        let pushback = text(refused.headers(), "grpc-retry-pushback-ms");
        pushback.expect("it is refused").parse::<u64>().expect("a number")
    };
    // Each has a place in line, at the distance of a period.
    assert_eq!([told().await, told().await, told().await], [50, 100, 150]);
    let refused = respond(&layer, from("alice")).await;
    assert_eq!(refused.status(), 429);
    assert_eq!(text(refused.headers(), "retry-after"), Some("1"));
    assert_eq!(text(refused.headers(), "ratelimit"), Some("\"client\";r=0;t=1"));
    let layer = layer.weight(|_| 41);
    let never = respond(&layer, from("bob")).await;
    assert_eq!((never.status().as_u16(), text(never.headers(), "retry-after")), (429, None));
    let counts = |client| {
        let limit = CLIENTS.family().get(client).expect("it has asked");
        (limit.passed(), limit.blocked())
    };
    assert_eq!((counts(ALICE), counts(BOB)), ((40, 4), (0, 1)));
    CLOCK.advance(SECOND);
}

#[test]
fn the_turn_of_a_request_that_is_dropped_while_it_waits_is_given_back() {
    paced!(CLIENTS, CLOCK: 10, |_| 1);
    let layer = LimitLayer::new(&CLIENTS, client).wait(SECOND, |_| pending::<()>());
    let mut service = layer.layer(service_fn(answer as fn(http::Request<Nothing>) -> _));
    let mut begin = |client| {
        let mut future = Box::pin(service.call(from(client)));
        let polled = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        (polled.is_ready(), future)
    };
    let idle_after = || {
        let limit = CLIENTS.family().get(ALICE).expect("she has asked");
        limit.limiter().expect("a pace").idle_after()
    };
    assert!(begin("alice").0, "the first comes at once, and counts, though it was dropped");
    assert_eq!(idle_after(), millis(50));
    for _ in 0..10 {
        assert!(!begin("alice").0);
        assert_eq!(idle_after(), millis(50), "as if it had never been");
    }
    // A later request was told its time: the turn before it goes to the next one.
    let (first, second) = (begin("alice").1, begin("alice").1);
    drop(first);
    assert_eq!(CLIENTS.admit(ALICE, 1, SECOND), Admission::After(millis(50)));
    drop(second);
    assert_eq!(CLIENTS.admit(ALICE, 1, SECOND), Admission::After(millis(100)));
    CLOCK.advance(millis(150));
    assert!(begin("alice").0);
}

/// A key whose request waits is in use, and its turn is the one that it was told.
#[test]
fn a_key_is_not_forgotten_while_a_request_waits() {
    paced!(CLIENTS, CLOCK: 10, |_| 1);
    let layer = LimitLayer::new(&CLIENTS, client).wait(SECOND, |_| pending::<()>());
    let mut service = layer.layer(service_fn(answer as fn(http::Request<Nothing>) -> _));
    assert_eq!(CLIENTS.admit(ALICE, 1, SECOND), Admission::Now);
    let waiting = service.call(from("alice"));
    assert_eq!(CLIENTS.forget_idle(), 0);
    CLOCK.advance(millis(99));
    assert_eq!(CLIENTS.forget_idle(), 0);
    drop(waiting); // it has come, and nothing is given back
    assert_eq!(CLIENTS.admit(ALICE, 1, SECOND), Admission::After(millis(1)));
    CLOCK.advance(millis(51));
    assert_eq!(CLIENTS.forget_idle(), 1);
}

#[tokio::test]
async fn several_limits_by_key_are_asked_at_once() {
    static CLOCK: LazyLock<Manual> = LazyLock::new(Manual::default);
    static CLIENTS: PaceLimits<Client, Paces<Manual>> = PaceLimits::new(1, |_| {
        let builder = Paces::builder().limit(2, SECOND).limit(3, 60 * SECOND);
        builder.clock(CLOCK.clone()).build().expect("two limits")
    });
    let layer = LimitLayer::new(&CLIENTS, client).fields(LimitFields::new("api"));
    let left = |client| {
        let limit = CLIENTS.family().get(client).expect("it has asked").keep();
        let quotas: Vec<_> = limit.limiter().expect("made").quotas().map(|it| it.left).collect();
        quotas
    };
    assert_eq!(status(&layer, from("alice")).await, 200);
    assert_eq!(left(ALICE), [1, 2]);
    assert_eq!([status(&layer, from("bob")).await, status(&layer, from("bob")).await], [200; 2]);
    let refused = respond(&layer, from("bob")).await;
    assert_eq!(text(refused.headers(), "ratelimit"), Some("\"api-1\";r=0;t=1, \"api-2\";r=1"));
    // Each limit of his own begins where the shared ones stand.
    CLOCK.advance(20 * SECOND);
    assert_eq!(CLIENTS.forget_idle(), 1, "alice");
    let refused = Admission::Refused { retry_after: Some(20 * SECOND) };
    assert_eq!(CLIENTS.admit(BOB, 1, Duration::ZERO), Admission::Now);
    assert_eq!(left(BOB), [0, 1]);
    CLOCK.advance(SECOND);
    assert_eq!(CLIENTS.admit(BOB, 1, Duration::ZERO), Admission::Now);
    CLOCK.advance(SECOND);
    assert_eq!(left(BOB), [2, 0]);
    CLOCK.advance(SECOND);
    assert!(
        matches!(CLIENTS.admit(BOB, 1, Duration::ZERO), Admission::Refused { .. }),
        "{refused:?}"
    );
}

/// A thread has found no place for a key, and asks the overflow pace while another thread finds one
/// for the same key. The clock stands still.
#[test]
fn no_client_gets_more_while_room_is_found_beside_a_stranger() {
    paced!(CLIENTS, CLOCK: 1, |_| 2);
    for _ in 0..testkit::rounds(3_000) {
        let passed = AtomicU64::new(0);
        race(3, |thread| {
            for _ in 0..4 {
                if thread == 0 {
                    // It has the room and nothing that counts, and so gives it back.
                    let _ = CLIENTS.admit(Client { client: "nobody" }, 0, Duration::ZERO);
                    CLIENTS.forget_idle();
                }
                let is_granted = CLIENTS.admit(ALICE, 1, Duration::ZERO).is_granted();
                passed.fetch_add(is_granted.into(), Ordering::Relaxed);
            }
        });
        assert!(passed.into_inner() <= 2);
        CLOCK.advance(SECOND);
        CLIENTS.forget_idle();
    }
}

/// A request that has asked the overflow pace, and finds then that its key has room, takes nothing
/// of it.
#[test]
fn a_turn_that_is_not_used_is_given_back() {
    static CLOCK: LazyLock<Stalling> = LazyLock::new(Stalling::default);
    static CLIENTS: Limits<Client, Pace<&'static Stalling>> = Limits::new(1, |client| {
        let burst = if client.is_some() { 2 } else { 5 };
        Pace::builder(SECOND).burst(burst).clock(&*CLOCK).build().expect("one a second")
    });
    let ask = |client| CLIENTS.admit(client, 1, Duration::ZERO).is_granted();
    assert!(ask(ALICE));
    let alice = CLIENTS.family().handle(ALICE); // so her place is not given to another
    CLOCK.0.advance(SECOND);
    let carol = Client { client: "carol" };
    assert!(ask(carol) && CLIENTS.family().get(carol).is_none(), "she finds no place");
    // Bob's thread has found no place, and stands still in the overflow pace. Meanwhile he comes,
    // and takes over one of five that is in use, of his two.
    MEANWHILE.set(Some(Box::new(move || {
        drop(alice);
        assert_eq!(CLIENTS.forget_idle(), 1);
        assert!(ask(BOB) && CLIENTS.family().get(BOB).is_some(), "by his own pace");
    })));
    assert!(!ask(BOB), "nothing is left of his own one");
    assert!(MEANWHILE.take().is_none(), "he has come meanwhile");
    assert_eq!((0..9).filter(|_| ask(carol)).count(), 4, "of the overflow pace he has used none");
}

/// Values at the ends of their ranges take nothing, panic nowhere, and refuse for ever at most what
/// never fits.
#[test]
fn extreme_weights_waits_and_times_do_no_harm() {
    paced!(CLIENTS, CLOCK: 1, |_| 2);
    let ask = |client, weight, wait| CLIENTS.admit(client, weight, wait);
    for client in [ALICE, BOB] {
        assert_eq!(ask(client, 0, Duration::ZERO), Admission::Now);
        let never = Admission::Refused { retry_after: None };
        assert_eq!(ask(client, u64::MAX, Duration::MAX), never);
        assert_eq!(ask(client, 3, Duration::MAX), never);
        assert_eq!(ask(client, 2, Duration::MAX), Admission::Now);
        assert_eq!(ask(client, 2, Duration::MAX), Admission::After(millis(100)));
    }
    CLOCK.set(windrow::Timestamp::from_nanos(u64::MAX));
    let _ = (ask(ALICE, 1, Duration::MAX), ask(BOB, 1, Duration::MAX));
    CLIENTS.forget_idle();
    let _ = (ask(BOB, 1, Duration::MAX), ask(ALICE, 1, Duration::MAX));
    CLOCK.set(windrow::Timestamp::from_nanos(0));
    CLIENTS.forget_idle();
    let _ = (ask(BOB, 1, Duration::MAX), ask(ALICE, 1, Duration::ZERO));
}
