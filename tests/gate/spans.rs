//! Every span of time, checked one by one: the promise of a strict gate, also for callers that
//! wait, and while its geometry changes.

use std::time::Duration;

use proptest::prelude::*;

use windrow::clock::Manual;
use windrow::{
    Gate, Timestamp,
    gate::{Admission, RationedGate},
};

use crate::oracle::config;

fn nanos(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

/// The times and weights of the admitted calls, in the order in which they asked.
type Grants = Vec<(u64, u64)>;

/// Returns the most in any span of `interval` nanoseconds. One that holds the most begins with a
/// grant.
fn most_in_a_span(granted: &Grants, interval: u64) -> u64 {
    let from = |begin: u64| {
        let within = granted.iter().filter(|(at, _)| *at >= begin && at - begin < interval);
        within.map(|(_, n)| n).sum()
    };
    granted.iter().map(|(begin, _)| from(*begin)).max().unwrap_or(0)
}

/// Asks, and notes when the caller goes on: at once, or exactly where its wait ends.
fn admit(gate: &Gate<Manual>, now: u64, n: u64, wait: u64, granted: &mut Grants) {
    note(gate.admit(n, nanos(wait)), now, n, granted);
}

fn note(answer: Admission, now: u64, n: u64, granted: &mut Grants) {
    match answer {
        Admission::Now => granted.push((now, n)),
        Admission::After(wait) => granted.push((now + wait.as_nanos() as u64, n)),
        Admission::Refused { .. } => {}
    }
}

/// The last wait ends more than two of the shorter intervals behind another one.
#[test]
fn a_wait_is_not_forgotten_before_it_has_begun() {
    let clock = Manual::default();
    let at = |now: u64| clock.set(Timestamp::from_nanos(now));
    let gate = Gate::builder(6).interval(nanos(12)).buckets(3).strict().clock(clock.clone());
    let gate = gate.build().unwrap();
    at(201);
    assert!(gate.try_admit(1));
    at(204);
    assert!(gate.try_admit(1));
    gate.reconfigure(nanos(18), 3).unwrap();
    at(210);
    assert_eq!(gate.admit(5, nanos(12)), Admission::After(nanos(12)));
    at(211);
    assert_eq!(gate.admit(1, nanos(17)), Admission::After(nanos(17)));
    at(217);
    gate.reconfigure(nanos(2), 2).unwrap();
    at(219);
    gate.reconfigure(nanos(10), 1).unwrap();
    at(221);
    assert!(!gate.try_admit(2), "5 go on in a nanosecond");
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_strict_gate_keeps_its_limit_in_every_span_of_time_with_waits(
        length in 1..9_u64, buckets in 1..6_u64, limit in 1..10_u64,
        steps in prop::collection::vec((0..12_u64, 0..6_u64, 0..80_u64), 0..200)
    ) {
        let clock = Manual::default();
        let gate = Gate::builder(limit).interval(nanos(length * buckets)).buckets(buckets as usize);
        let gate = gate.strict().clock(clock.clone()).build().unwrap();
        let (mut now, mut granted) = (0, Grants::new());
        for (step, n, wait) in steps {
            now += step;
            clock.set(Timestamp::from_nanos(now));
            admit(&gate, now, n, wait, &mut granted);
        }
        let most = most_in_a_span(&granted, length * buckets);
        prop_assert!(most <= limit, "{} in a span: {:?}", most, granted);
    }

    /// A clock that steps back, and otherwise goes on, is behind by more and more. The spans are
    /// those of real time.
    #[test]
    fn and_in_real_time_while_its_clock_steps_back(
        length in 1..9_u64, buckets in 1..6_u64, limit in 1..10_u64,
        steps in prop::collection::vec(
            (0..12_u64, 0..6_u64, 0..80_u64, prop::option::weighted(0.1, 1..60_u64)), 0..200,
        )
    ) {
        let clock = Manual::default();
        let gate = Gate::builder(limit).interval(nanos(length * buckets)).buckets(buckets as usize);
        let gate = gate.strict().clock(clock.clone()).build().unwrap();
        let (mut now, mut behind, mut granted) = (0, 0, Grants::new());
        for (step, n, wait, back) in steps {
            now += step;
            behind = now.min(behind + back.unwrap_or(0));
            clock.set(Timestamp::from_nanos(now - behind));
            admit(&gate, now, n, wait, &mut granted);
        }
        let most = most_in_a_span(&granted, length * buckets);
        prop_assert!(most <= limit, "{} in a span: {:?}", most, granted);
    }

    /// Grants before a change count after it, at the latest time possible: so no span of the
    /// shortest interval has more.
    #[test]
    fn and_while_its_geometry_changes(
        limit in 1..10_u64,
        steps in prop::collection::vec(
            (0..12_u64, 0..6_u64, 0..60_u64, prop::option::weighted(0.1, (1..15_u64, 1..7_u64))),
            0..200,
        )
    ) {
        let clock = Manual::default();
        let mut shortest = 12;
        let gate = Gate::builder(limit).interval(nanos(shortest)).buckets(3);
        let gate = gate.strict().clock(clock.clone()).build().unwrap();
        let (mut now, mut granted) = (0, Grants::new());
        for (step, n, wait, change) in steps {
            now += step;
            clock.set(Timestamp::from_nanos(now));
            admit(&gate, now, n, wait, &mut granted);
            if let Some((length, buckets)) = change {
                gate.reconfigure(nanos(length * buckets), buckets as usize).unwrap();
                shortest = shortest.min(length * buckets);
            }
        }
        let most = most_in_a_span(&granted, shortest);
        prop_assert!(most <= limit, "{} in {}: {:?}", most, shortest, granted);
    }

    /// Grants used out of rations, until these end, keep the promise too.
    #[test]
    fn and_out_of_rations(
        (limit, most) in (1..60_u64, 1..12_u64),
        steps in prop::collection::vec(
            (0..12_u64, 0..6_u64, 0..60_u64, prop::option::weighted(0.1, (1..15_u64, 1..7_u64))),
            0..200,
        )
    ) {
        let clock = Manual::default();
        let mut shortest = 12;
        let gate = Gate::builder(limit).interval(nanos(shortest)).buckets(3);
        let gate: RationedGate<_> = gate.strict().clock(clock.clone()).build_rationed(most).unwrap();
        let (mut now, mut granted) = (0, Grants::new());
        for (step, n, wait, change) in steps {
            now += step;
            clock.set(Timestamp::from_nanos(now));
            let wait = if wait < 40 { 0 } else { wait };
            note(gate.admit(n, nanos(wait)), now, n, &mut granted);
            if let Some((length, buckets)) = change {
                gate.gate().reconfigure(nanos(length * buckets), buckets as usize).unwrap();
                shortest = shortest.min(length * buckets);
            }
        }
        let most = most_in_a_span(&granted, shortest);
        prop_assert!(most <= limit, "{} in {}: {:?}", most, shortest, granted);
    }
}
