//! Rules are swapped while other threads ask, and while keys come and are forgotten.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use testkit::race;

use super::{a_second, ask, rules, terms};
use crate::limited::{Client, limits};

/// The higher limit, however often the rules are swapped.
#[test]
fn no_client_gets_more_than_the_higher_limit_while_rules_are_swapped() {
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

/// A request after a swap is decided by the new rules.
#[test]
fn a_key_that_comes_during_a_swap_goes_by_the_new_rules() {
    limits!(CLIENTS, CLOCK: 10, |_| 9);
    for round in 0..1_000_u64 {
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
        CLOCK.advance(Duration::from_secs(2));
        assert_eq!(CLIENTS.forget_idle(), 1);
    }
}
