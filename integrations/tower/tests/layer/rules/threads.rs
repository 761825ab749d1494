//! Rules are swapped while other threads ask, and while keys come and are forgotten.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use testkit::race;
use windrow_tower::{Rate, Rules};

use super::{ALICE, a_second, ask, rules, terms};
use crate::limited::{Client, limits};

/// The higher limit, however often the rules are swapped.
#[test]
fn nobody_gets_more_than_the_higher_limit_while_rules_are_swapped() {
    limits!(CLIENTS, CLOCK: 10, |_| 3);
    for _ in 0..500 {
        let passed = AtomicU64::new(0);
        race(3, |thread| {
            for turn in 0..6 {
                if thread == 0 {
                    CLIENTS.replace(rules(a_second(3 + turn % 3), &[])).unwrap();
                    CLIENTS.forget_idle();
                }
                passed.fetch_add(ask(&CLIENTS, "alice").is_granted().into(), Ordering::Relaxed);
            }
        });
        assert!((3..=5).contains(&passed.into_inner()));
        CLOCK.advance(Duration::from_secs(2));
    }
}

/// What the one rate has granted must be forgotten by neither of the two, and no mixture of both
/// may grant: the high limit of the one in the short interval of the other.
#[test]
fn no_mixture_of_two_rates_grants() {
    limits!(CLIENTS, CLOCK: 10, |_| 3);
    let hour = Rate::new(1_000).interval(Duration::from_secs(3_600)).buckets(2);
    for _ in 0..200 {
        CLIENTS.replace(rules(hour, &[])).unwrap();
        while ask(&CLIENTS, "alice").is_granted() {}
        CLOCK.advance(Duration::from_secs(10));
        let (passed, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
        race(3, |thread| {
            if thread == 0 {
                CLIENTS.replace(rules(a_second(5), &[])).unwrap();
                is_over.store(true, Ordering::Relaxed);
            }
            while !is_over.load(Ordering::Relaxed) {
                passed.fetch_add(ask(&CLIENTS, "alice").is_granted().into(), Ordering::Relaxed);
            }
            passed.fetch_add(ask(&CLIENTS, "alice").is_granted().into(), Ordering::Relaxed);
        });
        assert!(passed.into_inner() <= 5);
        // And back: what is granted in an hour is what the gate still knows, and no more.
        CLOCK.advance(Duration::from_secs(7_200));
    }
}

/// A key comes while the rules are swapped: who asks behind the swap asks by the new rules.
#[test]
fn a_key_that_comes_during_a_swap_goes_by_the_new_rules() {
    limits!(CLIENTS, CLOCK: 100_000, |_| 9);
    for round in 0..3_000_u64 {
        let name = round.to_string();
        let client = Client { client: &name };
        let limit = 2 + round % 2;
        race(2, |thread| {
            if thread == 0 {
                CLIENTS.replace(rules(a_second(limit), &[])).unwrap();
                let too_much = CLIENTS.admit(client, limit + 1, Duration::ZERO);
                assert!(!too_much.is_granted(), "by the old rules, in round {round}");
            } else {
                let _ = ask(&CLIENTS, &name);
            }
        });
        assert_eq!(terms(&CLIENTS, client).0, limit);
        if round % 100 == 99 {
            CLOCK.advance(Duration::from_secs(2));
            CLIENTS.forget_idle();
        }
    }
}

/// Of many that swap at once one is last, and all keys go by its rules.
#[test]
fn swaps_at_once_are_made_one_after_the_other() {
    limits!(CLIENTS, CLOCK: 100, |_| 9);
    for name in 0..30 {
        assert!(ask(&CLIENTS, &name.to_string()).is_granted());
    }
    assert!(ask(&CLIENTS, ALICE.client).is_granted());
    for _ in 0..200 {
        race(3, |thread| {
            let rate = Rate::new(1 + thread as u64).buckets(1 << thread);
            CLIENTS.replace(Rules::builder(rate).build().unwrap()).unwrap();
        });
        let rate = CLIENTS.rules().unwrap().rate::<Client>(None);
        for limit in CLIENTS.family() {
            let gate = limit.gate().unwrap();
            assert_eq!((gate.limit(), gate.buckets()), (rate.limit, rate.buckets));
        }
    }
}
