//! Rules of paces by key: a rate and a burst for each, swapped while requests go on.

use std::sync::LazyLock;
use std::time::Duration;

use windrow::clock::Manual;
use windrow::gate::Admission;
use windrow::{Gate, Pace, Paces};
use windrow_tower::{LimitRules, Limits, PaceLimits, Rate, Rules, RulesError};

use crate::limited::Client;

const SECOND: Duration = Duration::from_secs(1);
const ALICE: Client<'static> = Client { client: "alice" };
const FREE: Client<'static> = Client { client: "free-1" };

/// Makes a clock, and limits with one a second and no burst for each key.
macro_rules! paced {
    ($limits:ident, $clock:ident) => {
        static $clock: LazyLock<Manual> = LazyLock::new(Manual::default);
        static $limits: Limits<Client, Pace<Manual>> = Limits::new(10, |_| {
            Pace::builder(SECOND).clock($clock.clone()).build().expect("one a second")
        });
    };
}

fn rules(text: &str) -> LimitRules {
    LimitRules::from_json(text.as_bytes()).expect("valid rules")
}

#[test]
fn a_text_has_a_rate_and_a_burst() {
    let text = r#"{
        "default": { "limit": 20, "burst": 40 },
        "rules": [
            { "match": { "client": "free-*" }, "limit": 2, "interval_ms": 60000 },
            { "match": { "client": "batch" }, "burst": 1 }
        ]
    }"#;
    let rate = |client| rules(text).setting::<Client>(Some(Client { client }));
    assert_eq!(rate("alice"), Rate::new(20).burst(40));
    assert_eq!(rate("free-1"), Rate::new(2).interval(60 * SECOND).burst(40), "as of the default");
    assert_eq!(rate("batch"), Rate::new(20).burst(1));
}

#[test]
fn keys_follow_the_rules_before_and_after_they_come() {
    paced!(CLIENTS, CLOCK);
    let ask = |client| CLIENTS.admit(client, 1, Duration::ZERO).is_granted();
    let admitted = |client| (0..100).filter(|_| ask(client)).count();
    assert_eq!(admitted(ALICE), 1, "by the function");
    let text = r#"{
        "default": { "limit": 20, "burst": 40 },
        "rules": [ { "match": { "client": "free-*" }, "limit": 2 , "burst": 2 } ]
    }"#;
    assert_eq!(CLIENTS.replace(rules(text)).expect("for paces").keys, 1);
    assert_eq!(admitted(ALICE), 39, "one of 40 is in use");
    assert_eq!(admitted(FREE), 2);
    CLOCK.advance(SECOND);
    assert_eq!((admitted(ALICE), admitted(FREE)), (20, 2));
    // A lower rate: all that is in use stays in use.
    let rules = Rules::builder(Rate::new(10).burst(10)).build().expect("valid");
    assert_eq!(CLIENTS.replace(rules.clone()).expect("for paces").keys, 2);
    assert_eq!(CLIENTS.replace(rules).expect("for paces").keys, 0);
    assert_eq!((admitted(ALICE), admitted(FREE)), (0, 8), "40 are in use, and 2");
    CLOCK.advance(3 * SECOND);
    assert_eq!((admitted(ALICE), admitted(FREE)), (0, 10));
    CLOCK.advance(SECOND);
    assert_eq!(admitted(ALICE), 10);
    // A key that is forgotten comes again with the rate of the rules.
    CLOCK.advance(SECOND);
    assert_eq!(CLIENTS.forget_idle(), 2);
    assert_eq!(admitted(FREE), 10);
}

#[test]
fn without_a_burst_all_of_the_limit_comes_at_once_after_a_rest() {
    paced!(CLIENTS, CLOCK);
    CLIENTS.replace(Rules::builder(Rate::new(5)).build().expect("valid")).expect("for paces");
    let ask = || CLIENTS.admit(ALICE, 1, Duration::ZERO).is_granted();
    assert_eq!((0..20).filter(|_| ask()).count(), 5);
    CLOCK.advance(SECOND / 5);
    assert_eq!((0..20).filter(|_| ask()).count(), 1);
}

/// A period is rounded against the client: three a second are never more.
#[test]
fn a_period_that_is_no_whole_number_is_rounded_up() {
    paced!(CLIENTS, CLOCK);
    let rules = Rules::builder(Rate::new(3).burst(1)).build().expect("valid");
    CLIENTS.replace(rules).expect("for paces");
    assert!(CLIENTS.admit(ALICE, 1, Duration::ZERO).is_granted());
    let retry_after = Some(Duration::from_nanos(333_333_334));
    assert_eq!(CLIENTS.admit(ALICE, 1, Duration::ZERO), Admission::Refused { retry_after });
    CLOCK.advance(SECOND);
}

#[test]
fn a_request_waits_as_long_as_its_rule_allows() {
    paced!(CLIENTS, CLOCK);
    let rate = Rate::new(10).burst(1).max_wait(SECOND / 5);
    CLIENTS.replace(Rules::builder(rate).build().expect("valid")).expect("for paces");
    let ask = |max_wait| CLIENTS.admit(ALICE, 1, max_wait);
    assert_eq!(ask(Duration::MAX), Admission::Now);
    assert_eq!(ask(Duration::MAX), Admission::After(SECOND / 10));
    assert!(!ask(SECOND / 10).is_granted());
    assert_eq!(ask(Duration::MAX), Admission::After(SECOND / 5));
    assert!(!ask(Duration::MAX).is_granted());
    CLOCK.advance(SECOND);
}

#[test]
fn what_a_limiter_does_not_take_is_refused_whole_with_the_rule_that_asks_for_it() {
    static GATES: Limits<Client> = Limits::new(10, |_| Gate::builder(10).build().expect("ten"));
    static PACES: PaceLimits<Client> =
        PaceLimits::new(10, |_| Pace::builder(SECOND).build().expect("one a second"));
    static SEVERAL: PaceLimits<Client, Paces> =
        PaceLimits::new(10, |_| Paces::builder().limit(10, SECOND).build().expect("ten a second"));
    let rules = |rate| {
        let rules = Rules::builder(Rate::new(10)).rule([("client", "batch")], rate);
        rules.build().expect("valid")
    };
    let refused = |replaced: Result<_, RulesError>| replaced.expect_err("refused").to_string();
    assert_eq!(
        refused(GATES.replace(rules(Rate::new(5).burst(9)))),
        "rules[0]: the limiters of these keys take no `burst` from rules"
    );
    assert_eq!(
        refused(PACES.replace(rules(Rate::new(5).strict()))),
        "rules[0]: the limiters of these keys take no `strict` from rules"
    );
    assert_eq!(
        refused(SEVERAL.replace(rules(Rate::new(5)))),
        "default: the limiters of these keys take no `limit` from rules"
    );
    let coarse = Rate::new(1_000).burst(1);
    let error = PACES.replace(rules(coarse)).expect_err("the clock is too coarse");
    assert!(matches!(error, RulesError::Part { .. }), "{error}");
    assert!(GATES.rules().is_none() && PACES.rules().is_none() && SEVERAL.rules().is_none());
}

#[test]
fn rates_that_no_pace_can_have_are_refused_with_their_place() {
    let rules = |rate| Rules::builder(Rate::new(1)).rule([("client", "a")], rate).build();
    let error = |rate| rules(rate).expect_err("refused").to_string();
    assert_eq!(error(Rate::new(1).burst(0)), "rules[0]: the burst is 0; it must be at least 1");
    assert_eq!(error(Rate::new(0).burst(1)), "rules[0]: the limit is 0; it must be at least 1");
    let zero = Rate::new(1).interval(Duration::ZERO).burst(1);
    assert_eq!(error(zero), "rules[0]: the period is 0 s; it must be at least 1 ns");
    for (limit, interval, burst) in
        [(1, Duration::MAX, 1), (1, SECOND, u64::MAX), (1, Duration::MAX, u64::MAX)]
    {
        let error = rules(Rate::new(limit).interval(interval).burst(burst)).expect_err("too long");
        assert!(matches!(error, RulesError::Part { .. }), "{error}");
    }
    rules(Rate::new(u64::MAX).burst(u64::MAX >> 2)).expect("of a nanosecond each");
}
