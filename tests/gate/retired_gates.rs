//! Gates of a family that come and go while threads ask them.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use testkit::race;
use windrow::clock::Manual;
use windrow::{Clock, Family, Gate, Timestamp, gate::RationedGate, labels};

use crate::most_in_a_run;

labels! { struct Client { client: u64 } }

const LIMIT: u64 = 3;
const LENGTH: u64 = 5;
const BUCKETS: u64 = 3;

/// Admits as the documentation of `Gate::retire` says. Returns the start of the bucket of the
/// grant.
fn try_admit<C: Clock + Send + Sync + 'static, F: Fn() -> Gate<C>>(
    gates: &Family<Client, Gate<C>, F>,
    labels: Client,
) -> Option<u64> {
    loop {
        let gate = gates.with(labels);
        let (_, start) = windrow::gate::admit_and_tell(&gate, 1, Duration::ZERO);
        if start.is_some() || gate.limit() > 0 {
            return start.map(Timestamp::as_nanos);
        }
        drop(gate);
        gates.remove_if(labels, |gate| gate.limit() == 0);
    }
}

/// Each reading is later than the one before; and every fourth by two intervals, so that there are
/// idle gates.
fn leaping() -> impl Clock {
    static READINGS: AtomicU64 = AtomicU64::new(0);
    let now = || {
        let reading = READINGS.fetch_add(1, Ordering::SeqCst);
        Timestamp::from_nanos(reading + reading / 4 * (2 * LENGTH * BUCKETS))
    };
    (now, Duration::ZERO)
}

#[test]
fn a_gate_and_its_successor_together_keep_the_limit() {
    let gates = Family::<Client, Gate<_>, _>::with_constructor(|| {
        let builder = Gate::builder(LIMIT).interval(Duration::from_nanos(LENGTH * BUCKETS));
        builder.buckets(BUCKETS as usize).clock(leaping()).allow_coarse_clock().build().unwrap()
    });
    let (all, removed) = (Mutex::new(BTreeMap::new()), AtomicUsize::new(0));
    race(3, |thread| {
        for call in 0..10_000 {
            if thread == 0 && call % 4 == 0 {
                let gone = gates.retain(|gate, _| !gate.retire());
                removed.fetch_add(gone, Ordering::Relaxed);
            }
            if let Some(start) = try_admit(&gates, Client { client: 7 }) {
                *all.lock().unwrap().entry(start).or_default() += 1;
            }
        }
    });
    let removed = removed.into_inner();
    assert!(removed > 0, "only {removed} gates were removed");
    assert!(most_in_a_run(&all.into_inner().unwrap(), LENGTH, BUCKETS) <= LIMIT);
}

/// A gate without sheets grants what is asked for, or is retired, and not both.
#[test]
fn a_grant_and_the_end_exclude_each_other() {
    for _ in 0..5_000 {
        let clock = Manual::default();
        let gate = Gate::builder(LIMIT).clock(clock.clone()).build().unwrap();
        assert!(gate.try_admit(1));
        clock.advance(Duration::from_secs(1));
        let (granted, retired) = (AtomicUsize::new(0), AtomicUsize::new(0));
        race(3, |thread| match thread {
            0 => _ = granted.fetch_add(gate.try_admit(1).into(), Ordering::Relaxed),
            _ => _ = retired.fetch_add(gate.retire().into(), Ordering::Relaxed),
        });
        let (granted, retired) = (granted.into_inner(), retired.into_inner());
        assert!(matches!((granted, retired), (1, 0) | (0, 1..)), "{granted}, {retired}");
        assert_eq!(gate.limit() == 0, retired > 0);
    }
}

#[test]
fn who_has_found_a_gate_before_it_left_is_refused() {
    let gates = Family::<Client, Gate<Manual>, _>::with_constructor(|| {
        Gate::builder(LIMIT).clock(Manual::default()).build().unwrap()
    });
    let client = Client { client: 7 };
    let found = gates.with(client);
    assert_eq!(gates.retain(|gate, _| !gate.retire()), 1);
    assert!(gates.with(client).try_admit(LIMIT));
    assert!(!found.try_admit(1));
    drop(found);
    assert_eq!((gates.retain(|gate, _| !gate.retire()), gates.lifetime()), (0, LIMIT));
}

/// Each thread asks for both clients in each interval, and the gates leave the family in between.
/// What lies in a row's ration when a gate leaves was granted by that gate alone.
#[test]
fn gates_with_rations_come_and_go_in_a_family() {
    const LIMIT: u64 = 100;
    const MAX_RATION: u64 = 7;
    let clock = Manual::default();
    let gates = Family::<Client, RationedGate<Manual>, _>::with_constructor(|| {
        Gate::builder(LIMIT).clock(clock.clone()).build_rationed(MAX_RATION).unwrap()
    });
    for round in 0..50 {
        let let_through = [AtomicU64::new(0), AtomicU64::new(0)];
        race(3, |thread| {
            for call in 0..200_u64 {
                let client = u64::from(call % 3 == 0);
                if gates.with(Client { client }).try_admit(1) {
                    let_through[client as usize].fetch_add(1, Ordering::Relaxed);
                }
                if thread == 0 && call % 50 == 0 {
                    assert_eq!(gates.retain(|gate, _| !gate.gate().retire()), 0, "round {round}");
                }
            }
        });
        let all = let_through.map(AtomicU64::into_inner);
        for (client, let_through) in all.into_iter().enumerate() {
            let gate = gates.with(Client { client: client as u64 });
            assert!(let_through <= LIMIT, "round {round}: {let_through}");
            assert_eq!(gate.gate().granted(), let_through + gate.unused(), "round {round}");
        }
        assert_eq!(gates.lifetime(), gates.iter().map(|gate| gate.gate().granted()).sum::<u64>());
        assert!(gates.lifetime() >= all.iter().sum());
        clock.advance(Duration::from_secs(1));
        assert_eq!(gates.retain(|gate, _| !gate.gate().retire()), 2, "round {round}");
        assert_eq!((gates.len(), gates.lifetime()), (0, 0), "round {round}");
    }
}
