//! Random schedules: clients with drifting clocks, suspended or dead; messages lost, repeated and
//! late; the engine started again, replaced by a copy that lags, its clock set back; weights,
//! permits that are put back, and changes of the limit.
//!
//! `SHARED_SCHEDULES` sets their number, and `SHARED_SEED` the first one.

use super::faults::Fault;
use super::random::Random;
use super::twin::Twin;
use super::world::{LENGTH, Outcome, Plan, World};

/// Returns the plan of a seed.
pub(super) fn plan(seed: u64) -> Plan {
    let mut random = Random::of(seed);
    let r = &mut random;
    let buckets = r.pick(&[1, 1, 2, 2, 5, 10]);
    let limit = r.pick(&[1, 3, 10, 100, 1000]);
    let length = LENGTH.cast_signed();
    let whole = buckets as f64 * 2.0 + 8.0;
    let mut plan = Plan {
        buckets,
        limit,
        way: r.pick(&[500.0, 3_000.0, 60_000.0]),
        loss: r.pick(&[0.0, 0.05, 0.3]),
        weight: r.pick(&[1, 1, limit.min(5)]),
        clients: Vec::new(),
        attempts: 4,
        puts_back: r.pick(&[0.0, 0.1]),
        lag: 100_000.0,
        faults: Vec::new(),
        steps: vec![0, 7_000, -7_000, 130_000, -130_000, 3 * length, -3 * length],
        end: Plan::at(whole),
    };
    let sometime = |r: &mut Random| Plan::at(r.below((whole * 1_000.0) as u64) as f64 / 1_000.0);
    for client in 0..1 + r.below(5) as usize {
        plan.clients.push((r.around(1_000), r.pick(&[1_000.0, 5_000.0, 30_000.0])));
        if r.is(0.3) {
            plan.faults.push((sometime(r), Fault::Die { client }));
        }
        if r.is(0.3) {
            plan.faults.push((sometime(r), Fault::Suspend { client }));
        }
        if r.is(0.1) {
            let limit = 1 + r.below(2 * limit);
            plan.faults.push((sometime(r), Fault::Change { client, limit }));
        }
    }
    for (probability, fault) in
        [(0.2, Fault::Restart), (0.2, Fault::Failover), (0.15, Fault::FallBack)]
    {
        if r.is(probability) {
            plan.faults.push((sometime(r), fault));
        }
    }
    plan
}

/// Runs schedules, and returns what came of them together, and the seeds that were over.
pub(super) fn run(
    seeds: impl Iterator<Item = u64>,
    plan: impl Fn(u64) -> Plan,
    twin: Twin,
) -> (Outcome, Vec<u64>) {
    let (mut all, mut over) = (Outcome::default(), Vec::new());
    for seed in seeds {
        let outcome = World::run(plan(seed), seed, twin);
        if outcome.over > 0 {
            over.push(seed);
        }
        all.over = all.over.max(outcome.over);
        all.used += outcome.used;
        all.cold += outcome.cold;
        all.asks += outcome.asks;
    }
    (all, over)
}

/// Returns a number from the environment.
pub(super) fn told(name: &str, default: u64) -> u64 {
    let told = std::env::var(name).ok();
    told.map_or(default, |text| text.parse().expect(name))
}

#[test]
fn no_schedule_is_over() {
    let (first, count) = (told("SHARED_SEED", 0), told("SHARED_SCHEDULES", 2_000));
    let (all, over) = run(first..first + count, plan, Twin::None);
    println!("{count} schedules: {} over, {all:?}", over.len());
    assert!(over.is_empty(), "over by up to {} in schedules {over:?}", all.over);
    assert!(all.used > 100 * count, "too little was used: {all:?}");
    assert!(all.cold > 0, "no engine was cold: {all:?}");
}
