//! Random schedules of one thread, whose answers are judged only by the promises.

use std::time::Duration;

use proptest::prelude::*;

use windrow::clock::Manual;
use windrow::{Gate, Timestamp};

use crate::judge::Judge;
use crate::oracle::config;

#[derive(Clone, Copy, Debug)]
enum Op {
    Ask(u64, u64),
    /// Forward, or back if negative.
    Step(i64),
    SetLimit(u64),
    /// A change of the length of buckets, if any, and of their number, if any.
    Change(Option<u64>, Option<u64>),
}

#[derive(Clone, Copy, Debug)]
struct Terms {
    limit: u64,
    length: u64,
    buckets: u64,
    is_strict: bool,
}

fn terms() -> impl Strategy<Value = Terms> {
    let terms = (1..20_u64, 1..15_u64, 1..12_u64, any::<bool>());
    terms.prop_map(|(limit, length, buckets, is_strict)| Terms {
        limit,
        length,
        buckets,
        is_strict,
    })
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        8 => (0..8_u64, prop_oneof![Just(0), 0..200_u64, Just(u64::MAX / 2)])
            .prop_map(|(n, wait)| Op::Ask(n, wait)),
        4 => (0..25_i64).prop_map(Op::Step),
        1 => (-60..400_i64).prop_map(Op::Step),
        1 => (1..20_u64).prop_map(Op::SetLimit),
        2 => (prop::option::of(1..30_u64), prop::option::of(1..12_u64))
            .prop_map(|(length, buckets)| Op::Change(length, buckets)),
    ];
    prop::collection::vec(op, 0..80)
}

fn nanos(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

fn judged(terms: Terms, ops: &[Op]) -> Result<(), String> {
    let Terms { mut limit, mut length, mut buckets, is_strict } = terms;
    let spare = u64::from(is_strict);
    let clock = Manual::default();
    let builder = Gate::builder(limit).interval(nanos(length * buckets)).buckets(buckets as usize);
    let builder = if is_strict { builder.strict() } else { builder };
    let gate = builder.clock(clock.clone()).build().unwrap();
    let mut judge = Judge::new(length, buckets + spare, limit);
    let mut now = 0_u64;
    for op in ops {
        match *op {
            Op::Ask(n, wait) => {
                judge.asked(now, n, wait, gate.admit(n, nanos(wait)))?;
            }
            Op::Step(step) => {
                now = now.saturating_add_signed(step);
                clock.set(Timestamp::from_nanos(now));
            }
            Op::SetLimit(new) => {
                limit = new;
                gate.set_limit(limit).unwrap();
                judge.set_limit(limit);
            }
            Op::Change(new_length, new_buckets) => {
                length = new_length.unwrap_or(length);
                buckets = new_buckets.unwrap_or(buckets);
                gate.reconfigure(nanos(length * buckets), buckets as usize).unwrap();
                judge.reconfigured(now, length, buckets + spare);
                assert_eq!(gate.buckets() as u64, buckets + spare, "strict: {is_strict}");
                assert_eq!(gate.interval(), nanos(length * (buckets + spare)));
            }
        }
    }
    Ok(())
}

/// Judges the admissions of rations, and the gate's statistics. The clock does not step back.
fn judged_rations(terms: Terms, most: u64, ops: &[Op]) -> Result<(), String> {
    let Terms { limit, mut length, mut buckets, is_strict } = terms;
    let spare = u64::from(is_strict);
    let clock = Manual::default();
    let builder = Gate::builder(limit).interval(nanos(length * buckets)).buckets(buckets as usize);
    let builder = if is_strict { builder.strict() } else { builder };
    let gate = builder.clock(clock.clone()).build_rationed(most).unwrap();
    let mut judge = Judge::new(length, buckets + spare, limit).rationed();
    let mut now = 0_u64;
    for op in ops {
        match *op {
            Op::Ask(0, _) => assert!(gate.try_admit(0), "zero always fits"),
            Op::Ask(n, 0..5) => {
                let answer = gate.gate().admit(n, nanos(0));
                if answer.is_granted() {
                    judge.let_through(now, n, true, 0)?;
                }
            }
            Op::Ask(n, _) => {
                let is_granted = gate.try_admit(n);
                judge.let_through(now, n, is_granted, gate.gate().left())?;
            }
            Op::Step(step) => {
                now += step.unsigned_abs();
                clock.set(Timestamp::from_nanos(now));
            }
            Op::SetLimit(_) => gate.gate().set_limit(limit).unwrap(),
            Op::Change(new_length, new_buckets) => {
                length = new_length.unwrap_or(length);
                buckets = new_buckets.unwrap_or(buckets);
                let unused = gate.unused();
                gate.gate().reconfigure(nanos(length * buckets), buckets as usize).unwrap();
                judge.reconfigured(now, length, buckets + spare);
                judge.kept(unused);
            }
        }
        let exact = gate.gate();
        judge.counts(now, exact.granted() + exact.waiting(), exact.left(), gate.unused())?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn no_schedule_is_over_nor_refused_needlessly(terms in terms(), ops in ops()) {
        let judged = judged(terms, &ops);
        prop_assert!(judged.is_ok(), "{}", judged.unwrap_err());
    }

    #[test]
    fn nor_out_of_rations(terms in terms(), (factor, most) in (1..200_u64, 1..100_u64), ops in ops()) {
        let terms = Terms { limit: terms.limit * factor, ..terms };
        let judged = judged_rations(terms, most, &ops);
        prop_assert!(judged.is_ok(), "{}", judged.unwrap_err());
    }
}
