//! The twins must fail: by random schedules, or by some that are aimed at what those hardly meet.

use super::faults::Fault;
use super::random::Random;
use super::schedules::{plan, run, told};
use super::twin::Twin;
use super::world::{LENGTH, Plan, World};

/// Schedules in which rations are used to the last moment, by clocks as slow as is allowed for, and
/// the limit is asked for again right after: an end that comes late by one part in a thousand is
/// seen.
fn at_the_end(seed: u64) -> Plan {
    let mut random = Random::of(seed);
    let slow = (-1_000, 200.0);
    let late = (-1_000, random.pick(&[40_000.0, 60_000.0]));
    Plan {
        buckets: 1,
        limit: random.pick(&[100, 1_000]),
        way: 20.0,
        loss: 0.0,
        weight: 1,
        clients: vec![slow, late, (0, 300.0)],
        attempts: 4,
        puts_back: 0.0,
        lag: 100_000.0,
        faults: Vec::new(),
        steps: vec![0],
        end: Plan::at(40.0),
    }
}

/// Schedules in which an ask whose answers are lost is repeated past a failover, to a replica that
/// knows the answer, and whose clock is behind.
fn across_a_failover(seed: u64) -> Plan {
    let mut random = Random::of(seed);
    let length = LENGTH.cast_signed();
    let mut plan = Plan {
        buckets: 1,
        limit: random.pick(&[3, 10, 100]),
        way: 3_000.0,
        loss: 0.6,
        weight: 1,
        clients: vec![(0, 2_000.0); 3],
        attempts: 12,
        puts_back: 0.0,
        lag: 2_000.0,
        faults: Vec::new(),
        steps: vec![130_000, 2 * length, 3 * length],
        end: Plan::at(40.0),
    };
    plan.faults.extend(some(Fault::Failover, &mut random));
    plan
}

/// Schedules in which a replica that lacks the latest grants takes over, with a clock that shows
/// their bucket again once it is warm: permits that are given back of the earlier bucket with that
/// number must not be taken off the later one.
fn the_same_bucket_again(seed: u64) -> Plan {
    let mut random = Random::of(seed);
    let mut plan = Plan {
        buckets: 1,
        limit: random.pick(&[100, 1_000]),
        way: 500.0,
        loss: 0.0,
        weight: 1,
        clients: vec![(0, 300.0), (0, 2_000.0), (0, 300.0), (0, 10_000.0)],
        attempts: 4,
        puts_back: 0.0,
        lag: 150_000.0,
        faults: Vec::new(),
        steps: vec![3 * LENGTH.cast_signed()],
        end: Plan::at(40.0),
    };
    plan.faults.extend(some(Fault::Failover, &mut random));
    plan
}

/// Returns four of these faults, eight buckets apart and each up to four late.
fn some(fault: Fault, random: &mut Random) -> [(u64, Fault); 4] {
    [5.0, 13.0, 21.0, 29.0].map(|at| (Plan::at(at + random.below(1_000) as f64 / 250.0), fault))
}

/// Schedules in which an ask whose answers are lost is repeated past a fall of the engine's clock
/// that is too short for an epoch.
fn across_a_fall(seed: u64) -> Plan {
    let mut random = Random::of(seed);
    let mut plan = Plan {
        limit: 10,
        weight: 5,
        clients: vec![(0, 5_000.0); 4],
        loss: 0.4,
        faults: Vec::new(),
        ..across_a_failover(seed)
    };
    plan.faults.extend(some(Fault::FallBack, &mut random));
    plan
}

/// Returns the schedules for a twin, and the number of them that is enough to see it fail.
fn against(twin: Twin) -> (fn(u64) -> Plan, u64) {
    match twin {
        Twin::NoDrift => (at_the_end, 1_000),
        Twin::OldAnswer => (across_a_failover, 2_000),
        Twin::NoNewest => (across_a_fall, 2_000),
        Twin::NoToken => (the_same_bucket_again, 4_000),
        _ => (plan, 5_000),
    }
}

#[test]
fn each_twin_is_over() {
    for twin in Twin::ALL {
        let (plan, most) = against(twin);
        let failed = (0..most).find(|seed| World::run(plan(*seed), *seed, twin).over > 0);
        println!("{twin:?}: over in schedule {failed:?}");
        assert!(failed.is_some(), "{twin:?} was not over in {most} schedules");
    }
}

#[test]
fn no_aimed_schedule_is_over() {
    for plan in [at_the_end, across_a_failover, across_a_fall, the_same_bucket_again] {
        let (all, over) = run(0..told("SHARED_AIMED", 500), plan, Twin::None);
        println!("{all:?}");
        assert!(over.is_empty(), "over by up to {} in schedules {over:?}", all.over);
    }
}
