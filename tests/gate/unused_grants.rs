//! Grants that are given back because they were not used, as `windrow-tower` does.

use std::time::Duration;

use testkit::{Rng, at, clock_at, ms};
use windrow::clock::Manual;
use windrow::gate::{admit_and_tell, leave_unused};
use windrow::{Gate, Timestamp};

const LIMIT: u64 = 20;

fn gate(clock: &Manual) -> Gate<Manual> {
    Gate::builder(LIMIT).interval(ms(100)).buckets(10).clock(clock.clone()).build().unwrap()
}

/// Grants, and returns the bucket.
fn grant(gate: &Gate<Manual>, n: u64, wait: Duration) -> Timestamp {
    admit_and_tell(gate, n, wait).1.expect("it fits")
}

#[test]
fn a_grant_that_is_not_used_counts_no_longer() {
    let clock = clock_at(1_000);
    for weight in [1, 3] {
        let gate = gate(&clock);
        let unused = grant(&gate, weight, Duration::ZERO);
        let used = grant(&gate, weight, Duration::ZERO);
        leave_unused(&gate, weight, unused);
        assert_eq!(gate.granted(), weight, "in its own bucket");
        clock.advance(ms(50));
        assert!(gate.try_admit(weight));
        leave_unused(&gate, weight, used);
        assert_eq!((gate.granted(), gate.left()), (weight, LIMIT - weight), "in an earlier one");
        clock.advance(ms(100));
        assert_eq!(gate.granted(), 0);
    }
}

#[test]
fn a_wait_that_is_not_used_counts_no_longer() {
    let clock = clock_at(1_000);
    let gate = gate(&clock);
    assert!(gate.try_admit(LIMIT));
    let [first, second] = [7, 8].map(|n| (n, grant(&gate, n, ms(100))));
    assert_eq!(gate.waiting(), 15);
    leave_unused(&gate, first.0, first.1);
    assert_eq!(gate.waiting(), 8);
    leave_unused(&gate, second.0, second.1);
    assert_eq!((gate.waiting(), gate.granted()), (0, LIMIT));
}

#[test]
fn all_that_is_used_counts_whatever_is_given_back() {
    for seed in 0..400 {
        let mut random = Rng::with_seed(seed);
        let clock = clock_at(1_000);
        let gate = gate(&clock);
        let changes = seed % 2 == 0;
        let mut unused = Vec::new();
        let mut used: Vec<(Timestamp, u64)> = Vec::new();
        let mut now = 1_000;
        let (mut buckets, mut length) = (10, 10);
        for _ in 0..300 {
            match random.u8(..10) {
                0..4 => {
                    let (n, wait) = (random.u64(1..4), random.u64(..2) * random.u64(..100));
                    let (_, start) = admit_and_tell(&gate, n, ms(wait));
                    let grants = if random.bool() { &mut unused } else { &mut used };
                    grants.extend(start.map(|start| (start, n)));
                }
                4..7 if !unused.is_empty() => {
                    let (start, n) = unused.swap_remove(random.usize(..unused.len()));
                    leave_unused(&gate, n, start);
                }
                7 if changes => {
                    (buckets, length) = (random.u64(1..=10), random.u64(5..=20));
                    gate.reconfigure(ms(buckets * length), buckets as usize).unwrap();
                }
                _ => {
                    now += random.u64(..15);
                    clock.set(at(now));
                }
            }
            // What has left an interval once is forgotten. (After a change, a grant may count
            // longer.)
            let first = at((now / length + 1) * length - buckets * length);
            used.retain(|(start, _)| *start >= first);
            let sum = |grants: &[(Timestamp, u64)]| -> u64 {
                grants.iter().filter(|(start, _)| *start >= first).map(|(_, n)| n).sum()
            };
            let counted = gate.granted() + gate.waiting();
            assert!(counted <= 4 * LIMIT, "seed {seed}: {counted}");
            assert!(sum(&used) <= counted, "seed {seed}: {counted} of {}", sum(&used));
            if !changes {
                assert_eq!(sum(&used) + sum(&unused), counted, "seed {seed}");
            }
        }
    }
}
