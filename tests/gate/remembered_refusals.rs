//! Refusals that a gate remembers, before it has sheets: they hold in their bucket, until something
//! gives room.

use std::time::Duration;

use testkit::{Rng, at, clock_at, ms};
use windrow::clock::Manual;
use windrow::gate::{Admission, admit_and_tell, leave_unused};
use windrow::{Gate, Timestamp};

/// A gate with permits alone: two buckets of 50 ms.
fn gate(limit: u64, clock: &Manual) -> Gate<Manual> {
    Gate::builder(limit).interval(ms(100)).buckets(2).clock(clock.clone()).build().unwrap()
}

/// Grants one now, and returns its bucket.
fn grant(gate: &Gate<Manual>) -> Timestamp {
    admit_and_tell(gate, 1, Duration::ZERO).1.expect("it fits")
}

#[test]
fn a_refusal_lasts_until_a_bucket_has_left() {
    let clock = clock_at(1_000);
    let gate = gate(2, &clock);
    assert!(gate.try_admit(1));
    clock.set(at(1_060));
    assert!(gate.try_admit(1));
    for now in [1_060, 1_050, 1_099] {
        clock.set(at(now));
        assert!(!gate.try_admit(1), "{now}");
        let retry_after = Some(ms(1_100 - now));
        assert_eq!(gate.admit(1, Duration::ZERO), Admission::Refused { retry_after });
    }
    clock.set(at(1_100));
    assert!(gate.try_admit(1) && !gate.try_admit(1));
}

/// The clock steps back to a bucket in which the gate was full; but its time is a later one.
#[test]
fn a_refusal_ends_with_a_grant_in_a_later_bucket() {
    let clock = clock_at(1_000);
    let gate = gate(2, &clock);
    assert!(gate.try_admit(1) && gate.try_admit(1) && !gate.try_admit(1));
    clock.set(at(1_100));
    assert!(gate.try_admit(1));
    clock.set(at(1_000));
    assert!(gate.try_admit(1), "there is one more in the bucket of 1100");
    assert!(!gate.try_admit(1));
    clock.set(at(1_100));
    assert!(!gate.try_admit(1));
}

#[test]
fn a_refusal_ends_with_what_gives_room() {
    let clock = clock_at(1_000);
    let fill = || {
        let gate = gate(2, &clock);
        let grants = [grant(&gate), grant(&gate)];
        assert!(!gate.try_admit(1) && !gate.try_admit(1));
        (gate, grants)
    };
    let (gate, grants) = fill();
    leave_unused(&gate, 1, grants[1]);
    assert!(gate.try_admit(1) && !gate.try_admit(1) && !gate.try_admit(1), "given back");
    leave_unused(&gate, 1, grants[0]);
    assert!(gate.try_admit(1) && !gate.try_admit(1), "and again");

    let (gate, _) = fill();
    gate.set_limit(3).unwrap();
    assert!(gate.try_admit(1) && !gate.try_admit(1), "a higher limit");

    let (gate, _) = fill();
    gate.reconfigure(ms(10), 1).unwrap();
    clock.advance(ms(10));
    assert!(gate.try_admit(1), "another interval");

    clock.set(at(2_000));
    let (gate, _) = fill();
    let turn = gate.reserve(1, ms(100)).unwrap();
    assert!(!gate.try_admit(1));
    clock.advance(ms(100));
    turn.settle(0);
    assert!(gate.try_admit(1) && gate.try_admit(1) && !gate.try_admit(1), "settled");

    let (gate, _) = fill();
    clock.advance(ms(200));
    assert!(gate.retire() && !gate.try_admit(1));
}

/// The answers of a gate that remembers, beside those of one with sheets, by any clock.
#[test]
fn a_gate_with_permits_answers_as_one_with_sheets() {
    for seed in 0..2_000 {
        let mut random = Rng::with_seed(seed);
        let clock = clock_at(10_000);
        let limit = random.u64(1..=7);
        let [permits, sheets] = [0, 1].map(|_| gate(limit, &clock));
        sheets.set_limit(limit).unwrap(); // for which it makes sheets
        let mut now = 10_000;
        let mut grants = Vec::new();
        for step in 0..200 {
            now = match random.u8(..8) {
                0 => now - random.u64(..80).min(now - 5_000),
                1..4 => now + random.u64(..40),
                _ => now,
            };
            clock.set(at(now));
            match random.u8(..8) {
                0 if !grants.is_empty() => {
                    let start: Timestamp = grants.swap_remove(random.usize(..grants.len()));
                    for gate in [&permits, &sheets] {
                        leave_unused(gate, 1, start);
                    }
                }
                1 | 2 => {
                    let [one, other] = [&permits, &sheets].map(|it| it.admit(1, Duration::ZERO));
                    assert_eq!(one, other, "seed {seed}, step {step}");
                }
                3 => {
                    let asked = |it| admit_and_tell(it, 1, Duration::ZERO).1;
                    let [one, other] = [&permits, &sheets].map(asked);
                    assert_eq!(one, other, "seed {seed}, step {step}");
                    grants.extend(one);
                }
                _ => {
                    let [one, other] = [&permits, &sheets].map(|it| it.try_admit(1));
                    assert_eq!(one, other, "seed {seed}, step {step}");
                }
            }
        }
    }
}
