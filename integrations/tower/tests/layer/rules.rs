//! Limits that go by rules, which are swapped while requests go on.

mod broken;
mod files;
mod interrupted;
mod paced;
pub(crate) mod promise;
mod requests;
mod threads;

use std::time::Duration;

use windrow::{Gate, gate::Admission};
use windrow_tower::{LimitRules, Limits, Rate, Rules, RulesError};

use crate::limited::{Client, limits};

const ALICE: Client<'static> = Client { client: "alice" };
const SECOND: Duration = Duration::from_secs(1);

/// `limit` a second in ten buckets, as the gates of these tests are.
fn a_second(limit: u64) -> Rate {
    Rate::new(limit).buckets(10)
}

fn rules(default: Rate, by_client: &[(&str, Rate)]) -> LimitRules {
    let rules = by_client.iter().fold(Rules::builder(default), |rules, (client, rate)| {
        rules.rule([("client", *client)], *rate)
    });
    rules.build().expect("rules")
}

/// Returns what a key's gate has: limit, interval in milliseconds, and buckets.
fn terms<C: windrow::Clock + Send + Sync + 'static>(
    limits: &Limits<Client<'static>, Gate<C>>,
    client: Client<'_>,
) -> (u64, u128, usize) {
    let limit = limits.family().handle(client);
    let gate = limit.limiter().expect("it was asked");
    (gate.limit(), gate.interval().as_millis(), gate.buckets())
}

#[test]
fn a_swap_reaches_the_keys_that_are_there_and_those_that_come() {
    limits!(CLIENTS, CLOCK: 10, |_| 2);
    let granted = |client| (0..20).filter(|_| ask(&CLIENTS, client).is_granted()).count();
    assert_eq!((granted("alice"), granted("free-1")), (2, 2));
    let changes = CLIENTS.replace(rules(a_second(6), &[("free-*", a_second(3))])).unwrap();
    assert_eq!((changes.keys, changes.failed), (2, 0));
    // Earlier grants still count.
    assert_eq!((granted("alice"), granted("free-1")), (4, 1));
    assert_eq!((granted("bob"), granted("free-2")), (6, 3));
    // The rule is gone, and the default is lower.
    assert_eq!(CLIENTS.replace(rules(a_second(4), &[])).unwrap().keys, 4);
    CLOCK.advance(SECOND);
    assert_eq!((granted("alice"), granted("free-1"), granted("free-2")), (4, 4, 4));
    assert_eq!(CLIENTS.replace(rules(a_second(4), &[])).unwrap().keys, 0, "no rate is different");
}

#[test]
fn interval_and_buckets_change_too_and_a_strict_rate_has_one_bucket_more() {
    limits!(CLIENTS, CLOCK: 10, |_| 2);
    assert!(ask(&CLIENTS, "alice").is_granted());
    let minute = Duration::from_secs(60);
    let rate = Rate::new(7).interval(minute).buckets(6);
    CLIENTS.replace(rules(rate, &[])).unwrap();
    assert_eq!(terms(&CLIENTS, ALICE), (7, 60_000, 6));
    CLIENTS.replace(rules(rate.strict(), &[])).unwrap();
    assert_eq!(terms(&CLIENTS, ALICE), (7, 70_000, 7));
    CLOCK.advance(Duration::from_secs(50));
    assert_eq!((0..20).filter(|_| ask(&CLIENTS, "alice").is_granted()).count(), 6);
    CLIENTS.replace(rules(a_second(2), &[])).unwrap();
    assert_eq!(terms(&CLIENTS, ALICE), (2, 1_000, 10));
}

#[test]
fn a_gate_that_was_built_strict_has_one_bucket_more_and_never_two() {
    static CLOCK: std::sync::LazyLock<windrow::clock::Manual> =
        std::sync::LazyLock::new(Default::default);
    static CLIENTS: Limits<Client, Gate<windrow::clock::Manual>> = Limits::new(10, |_| {
        let builder = Gate::builder(2).buckets(10).strict();
        builder.clock(CLOCK.clone()).build().expect("a second in ten buckets")
    });
    assert!(ask(&CLIENTS, "alice").is_granted());
    for rate in [a_second(5).strict(), a_second(5)] {
        for _ in 0..2 {
            CLIENTS.replace(rules(rate, &[])).unwrap();
            assert_eq!(terms(&CLIENTS, ALICE), (5, 1_100, 11), "{rate:?}");
        }
    }
}

/// A rule may ask for the number of buckets that the gate has with its spare one.
#[test]
fn a_gate_that_was_built_strict_stays_strict_under_a_rule_of_its_number_of_buckets() {
    static CLOCK: std::sync::LazyLock<windrow::clock::Manual> =
        std::sync::LazyLock::new(Default::default);
    static CLIENTS: Limits<Client, Gate<windrow::clock::Manual>> = Limits::new(10, |_| {
        let builder = Gate::builder(10).buckets(10).strict();
        builder.clock(CLOCK.clone()).build().expect("a second in ten buckets")
    });
    let granted = || (0..20).filter(|_| ask(&CLIENTS, "alice").is_granted()).count();
    assert_eq!(granted(), 10);
    let eleven = Rate::new(10).interval(Duration::from_millis(1_100)).buckets(11);
    CLIENTS.replace(rules(eleven, &[])).unwrap();
    assert_eq!(terms(&CLIENTS, ALICE), (10, 1_200, 12));
    CLOCK.advance(Duration::from_millis(10_099));
    assert_eq!(granted(), 10);
    CLOCK.advance(Duration::from_millis(1_001));
    assert_eq!(granted(), 0, "they would be 20 in 1.001 s");
    CLOCK.advance(Duration::from_millis(100));
    assert_eq!(granted(), 10);
}

#[test]
fn keys_that_find_no_room_have_the_rate_of_the_overflow_or_else_the_default() {
    limits!(CLIENTS, CLOCK: 1, |_| 1);
    let granted = || (0..20).filter(|it| ask(&CLIENTS, &it.to_string()).is_granted()).count();
    assert!(ask(&CLIENTS, "alice").is_granted());
    let _alice = CLIENTS.family().handle(ALICE); // so its place is not given to another
    assert_eq!(granted(), 1);
    let builder = Rules::builder(a_second(2)).rule([("client", "1*")], a_second(9));
    CLIENTS.replace(builder.clone().build().unwrap()).unwrap();
    CLOCK.advance(SECOND);
    assert_eq!(granted(), 2);
    CLIENTS.replace(builder.overflow(a_second(5)).build().unwrap()).unwrap();
    CLOCK.advance(SECOND);
    assert_eq!(granted(), 5);
}

#[test]
fn a_key_that_is_forgotten_comes_back_with_the_rate_of_its_rule() {
    limits!(CLIENTS, CLOCK: 10, |_| 2);
    assert!(ask(&CLIENTS, "alice").is_granted());
    CLIENTS.replace(rules(a_second(5), &[])).unwrap();
    CLOCK.advance(SECOND);
    assert_eq!(CLIENTS.forget_idle(), 1);
    assert_eq!((0..20).filter(|_| ask(&CLIENTS, "alice").is_granted()).count(), 5);
}

#[test]
fn a_rule_is_matched_by_all_its_labels_whatever_their_type() {
    windrow::labels! {
        enum Tier { Free = "free", Paid = "paid" }
        struct Call { route: str, tier: Tier, port: u16, user: Option<str> }
    }
    let rules = Rules::builder(Rate::new(1))
        .rule([("route", "/a/*"), ("tier", "free")], Rate::new(2))
        .rule([("port", "80*"), ("tier", "paid")], Rate::new(3))
        .rule([("user", "")], Rate::new(4))
        .build()
        .unwrap();
    let rate = |route, tier, port, user| {
        rules.setting::<Call>(Some(Call { route, tier, port, user })).limit
    };
    assert_eq!(rate("/a/b", Tier::Free, 1, None), 2);
    assert_eq!(rate("/a/b", Tier::Paid, 8080, None), 3);
    assert_eq!(rate("/b", Tier::Free, 80, None), 4);
    assert_eq!(rate("/b", Tier::Free, 80, Some("ann")), 1);
    assert_eq!(rules.setting::<Call>(None).limit, 1);
}

/// On a clock that is too coarse, and for labels that the keys do not have.
#[test]
fn rules_that_these_limits_cannot_keep_are_refused_whole() {
    type Stopped = (fn() -> windrow::Timestamp, Duration);
    static CLIENTS: Limits<Client, Gate<Stopped>> = Limits::new(10, |_| {
        let now: fn() -> windrow::Timestamp = || windrow::Timestamp::from_millis(7);
        let clock = (now, SECOND / 100);
        Gate::builder(2).clock(clock).build().expect("a second in two buckets")
    });
    assert!(ask(&CLIENTS, "alice").is_granted());
    CLIENTS.replace(rules(a_second(3), &[])).unwrap();
    let too_fine = Rate::new(5).buckets(100);
    let error = CLIENTS.replace(rules(a_second(9), &[("a*", too_fine)])).unwrap_err();
    assert!(matches!(error, RulesError::Part { .. }), "{error}");
    assert!(error.to_string().starts_with("rules[0]: "), "{error}");
    let unknown = Rules::builder(a_second(9)).rule([("account", "a*")], a_second(5));
    let error = CLIENTS.replace(unknown.build().unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"rules[0]: keys have no label "account"; they have ["client"]"#
    );
    assert_eq!(terms(&CLIENTS, ALICE), (3, 1_000, 10));
    assert_eq!(CLIENTS.rules().as_deref(), Some(&rules(a_second(3), &[])));
}

#[test]
fn a_function_that_panics_changes_nothing() {
    static CLIENTS: Limits<Client> = Limits::new(10, |client| match client {
        Some(_) => Gate::builder(2).build().expect("two a second"),
        None => panic!("no gate for those"),
    });
    assert!(ask(&CLIENTS, "alice").is_granted());
    let swap = std::panic::catch_unwind(|| CLIENTS.replace(rules(a_second(3), &[])));
    assert!(swap.is_err() && CLIENTS.rules().is_none());
    assert_eq!(terms(&CLIENTS, ALICE), (2, 1_000, 2));
}

fn ask<C: windrow::Clock + Send + Sync + 'static>(
    limits: &Limits<Client<'static>, Gate<C>>,
    client: &str,
) -> Admission {
    limits.admit(Client { client }, 1, Duration::ZERO)
}
