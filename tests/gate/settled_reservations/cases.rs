//! The cases of the guide, and the edges of what is settled.

use std::time::Duration;

use testkit::at_ns;
use windrow::Gate;
use windrow::clock::Manual;
use windrow::gate::{Admission, Reservation};

const SECOND: Duration = Duration::from_secs(1);

fn gate(limit: u64, clock: &Manual) -> Gate<Manual> {
    Gate::builder(limit).interval(SECOND).buckets(4).clock(clock.clone()).build().unwrap()
}

#[test]
fn a_good_key_gets_its_share_beside_a_shared_limit_that_others_exhaust() {
    let clock = Manual::default();
    let (own, shared) = (gate(400, &clock), gate(10, &clock));
    let mut admitted = 0;
    for _ in 0..400 {
        // Others take all that the shared limit has, but for one.
        while shared.left() > 1 {
            assert!(shared.try_admit(1));
        }
        for _ in 0..10 {
            let Ok(turn) = own.reserve(1, Duration::ZERO) else { continue };
            let turn = turn.or_give_back();
            if let Ok(both) = shared.reserve(1, Duration::ZERO) {
                both.keep();
                turn.keep();
                admitted += 1;
            }
        }
        assert!(own.granted() <= 4, "only what is used counts");
        clock.advance(SECOND);
    }
    assert_eq!(admitted, 400);
}

#[test]
fn a_drop_counts_or_is_given_back_as_was_said() {
    let clock = Manual::default();
    let gate = gate(10, &clock);
    drop(gate.reserve(3, Duration::ZERO));
    assert_eq!(gate.left(), 7);
    drop(gate.reserve(3, Duration::ZERO).map(Reservation::or_give_back));
    assert_eq!(gate.left(), 7);
    gate.reserve(3, Duration::ZERO).unwrap().or_give_back().keep();
    assert_eq!(gate.left(), 4);
    gate.reserve(3, Duration::ZERO).unwrap().or_give_back().settle(1);
    assert_eq!(gate.left(), 3);
    let panics = std::panic::catch_unwind(|| {
        let _turn = gate.reserve(3, Duration::ZERO).unwrap().or_give_back();
        panic!("the work has failed");
    });
    assert!(panics.is_err());
    assert_eq!(gate.left(), 3);
}

#[test]
fn what_is_charged_beyond_holds_the_next_back_for_as_long_as_it_lasts() {
    let clock = Manual::default();
    let gate = gate(10, &clock);
    gate.reserve(10, Duration::ZERO).unwrap().settle(10 + 1_000_000_005);
    assert_eq!((gate.left(), gate.waiting()), (0, 1_000_000_005));
    let retry_after = Some(100_000_001 * SECOND);
    assert_eq!(gate.admit(5, SECOND), Admission::Refused { retry_after });
    clock.advance(99_999_000 * SECOND);
    assert_eq!((gate.granted(), gate.waiting()), (10, 10_005));
    assert!(!gate.try_admit(1) && !gate.retire());
}

#[test]
fn the_greatest_charge_is_owed_until_the_end_of_time() {
    let clock = Manual::default();
    let gate = gate(10, &clock);
    for _ in 0..3 {
        gate.reserve(0, Duration::ZERO).unwrap().settle(u64::MAX);
    }
    let refused = Admission::Refused { retry_after: None };
    assert_eq!(gate.admit(1, Duration::MAX), refused);
    assert_eq!((gate.granted(), gate.waiting()), (10, u64::MAX));
    clock.set(at_ns(u64::MAX));
    assert_eq!(gate.admit(1, Duration::MAX), refused);
    gate.set_limit(1 << 40).unwrap();
    assert_eq!(gate.admit(1, Duration::MAX), refused);
}

/// A grant of one of the gate's earlier geometries stays where that change has put it.
#[test]
fn nothing_is_given_back_that_a_change_of_the_geometry_has_moved() {
    let clock = Manual::default();
    let gate = gate(10, &clock);
    let early = gate.reserve(1, Duration::ZERO).unwrap();
    clock.advance(10 * SECOND); // it has left
    gate.reserve(5, Duration::ZERO).unwrap().keep();
    gate.reconfigure(100 * SECOND, 1).unwrap(); // its bucket begins at zero, too
    assert!(!early.settle(0));
    assert_eq!(gate.granted(), 5);
    let later = gate.reserve(3, Duration::ZERO).unwrap();
    assert_eq!(gate.granted(), 8);
    assert!(later.settle(0));
    assert_eq!(gate.granted(), 5);
}

#[test]
fn a_turn_from_before_a_change_of_the_limit_is_given_back_in_its_bucket() {
    let clock = Manual::default();
    let gate = gate(10, &clock);
    assert!(gate.try_admit(10));
    let waits = || gate.reserve(10, Duration::from_secs(1));
    let turn = waits().unwrap();
    gate.set_limit(11).unwrap();
    assert!(turn.settle(0));
    assert_eq!(gate.waiting(), 0);
    let turn = waits().unwrap();
    gate.set_limit(12).unwrap();
    drop(turn);
    waits().unwrap().keep();
    clock.set(at_ns(1_000_000_000));
    assert_eq!((0..20).filter(|_| gate.try_admit(1)).count(), 2);
}

#[test]
fn a_turn_that_moves_up_from_before_a_change_of_the_limit_leaves_its_bucket_free() {
    let clock = Manual::default();
    let gate = gate(10, &clock);
    assert!(gate.try_admit(5));
    clock.set(at_ns(250_000_000));
    assert!(gate.try_admit(5));
    let reserve = || gate.reserve(5, Duration::from_secs(1)).unwrap();
    let (first, mut last) = (reserve(), reserve());
    drop(first); // vacant, in the bucket at 1 s
    gate.set_limit(11).unwrap();
    assert_eq!(last.move_up(), Duration::from_millis(750));
    last.keep();
    assert_eq!(gate.waiting(), 5);
}

#[test]
fn a_retired_gate_is_charged_nothing() {
    let clock = Manual::default();
    let gate = gate(10, &clock);
    let call = gate.reserve(1, Duration::ZERO).unwrap();
    assert!(!gate.retire());
    clock.advance(SECOND);
    assert!(gate.retire());
    call.settle(100);
    assert_eq!((gate.granted(), gate.waiting(), gate.limit()), (0, 0, 0));
    assert_eq!(gate.admit(1, Duration::MAX), Admission::Refused { retry_after: None });
}
