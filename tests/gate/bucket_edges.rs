//! Threads at the edges of short buckets. Each records its grants with their buckets; then each run
//! of buckets is checked.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use testkit::{Finish, Rng, race};
use windrow::clock::Precise;
use windrow::{Clock, Gate, Timestamp};

use crate::most_in_a_run;

const THREADS: usize = 4;
const CALLS: usize = 20_000;

fn nanos(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

/// Returns a clock of which each reading is later than the one before, by any thread; at times much
/// later.
fn counting() -> impl Clock {
    let readings = AtomicU64::new(0);
    let now = move || {
        let reading = readings.fetch_add(1, Ordering::Relaxed);
        Timestamp::from_nanos(reading + reading / 1_000 * 100)
    };
    (now, Duration::ZERO)
}

fn gate<C: Clock>(limit: u64, length: u64, buckets: u64, clock: C) -> Gate<C> {
    Gate::builder(limit)
        .interval(nanos(length * buckets))
        .buckets(buckets as usize)
        .clock(clock)
        .allow_coarse_clock()
        .build()
        .unwrap()
}

/// Asks from all threads, and returns the grants of each bucket.
fn storm<C: Clock + Sync>(gate: &Gate<C>, most: u64, max_wait: u64) -> BTreeMap<u64, u64> {
    let all = Mutex::new(BTreeMap::new());
    race(THREADS, |thread| {
        let mut random = Rng::with_seed(thread as u64);
        let mut granted = Vec::new();
        for _ in 0..CALLS {
            let (n, wait) = (random.u64(1..=most), random.u64(0..=max_wait));
            if let (_, Some(start)) = windrow::gate::admit_and_tell(gate, n, nanos(wait)) {
                granted.push((start.as_nanos(), n));
            }
        }
        let mut all = all.lock().unwrap();
        for (start, n) in granted {
            *all.entry(start).or_default() += n;
        }
    });
    all.into_inner().unwrap()
}

/// Runs a storm, whose runs of buckets must keep the limit. Returns whether one has reached it.
fn keeps_limit<C: Clock + Sync>(
    gate: &Gate<C>,
    (limit, length, buckets): (u64, u64, u64),
    max_wait: u64,
) -> bool {
    let granted = storm(gate, limit.min(3), max_wait);
    assert!(granted.len() > 10, "the storm has few buckets: {}", granted.len());
    let most = most_in_a_run(&granted, length, buckets);
    assert!(most <= limit, "{most} in {buckets} buckets of {length} ns; the limit is {limit}");
    most == limit
}

const NEVER: &str = "the limit was never reached";

#[test]
fn no_run_of_buckets_has_more_than_the_limit() {
    for (limit, length, buckets) in [(1, 1, 2), (2, 3, 1), (5, 2, 3), (40, 20, 4), (100, 7, 60)] {
        for max_wait in [0, length * buckets] {
            let gate = gate(limit, length, buckets, counting());
            assert!(keeps_limit(&gate, (limit, length, buckets), max_wait), "{NEVER}");
        }
    }
}

/// With less than a line of permits a gate never needs sheets.
#[test]
fn no_run_of_buckets_has_more_by_permits_alone() {
    for (limit, length, buckets) in [(1, 1, 2), (2, 3, 1), (5, 2, 3), (7, 5, 40)] {
        let gate = gate(limit, length, buckets, counting());
        let granted = storm(&gate, 1, 0);
        assert_eq!(most_in_a_run(&granted, length, buckets), limit);
    }
}

/// Threads meet at a gate's last permits, and where it spills: together they have the limit, no
/// more and no less, and the gate knows them.
#[test]
fn threads_have_the_whole_limit_across_a_spill() {
    for round in 0..3_000 {
        let limit = 1 + round % 12;
        let gate = gate(limit, 10, 2, windrow::clock::Manual::default());
        let granted = AtomicU64::new(0);
        race(THREADS, |thread| {
            for _ in 0..limit {
                granted.fetch_add(gate.try_admit(1).into(), Ordering::Relaxed);
            }
            if thread == 0 && round % 3 == 0 {
                gate.reconfigure(nanos(30), 3).unwrap();
            }
        });
        assert_eq!((granted.into_inner(), gate.granted(), gate.left()), (limit, limit, 0));
    }
}

#[test]
fn no_run_of_buckets_has_more_by_the_systems_clock() {
    for (limit, shortest, buckets) in [(1, 100, 2), (20, 1_000, 5), (500, 10_000, 10)] {
        // A slow machine reaches the limit in longer buckets only.
        let lengths = || (0..6).map(|times| shortest * 4_u64.pow(times));
        for intervals in 0..2 {
            let reached = lengths().any(|length| {
                let gate = gate(limit, length, buckets, Precise::default());
                keeps_limit(&gate, (limit, length, buckets), intervals * length * buckets)
            });
            assert!(reached, "{NEVER}");
        }
    }
}

/// Each thread's time steps back and leaps.
#[test]
fn no_run_of_buckets_has_more_if_the_clock_steps_back() {
    let readings = AtomicU64::new(0);
    let now = move || {
        let reading = readings.fetch_add(1, Ordering::Relaxed);
        let back = (reading.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) % 200;
        Timestamp::from_nanos(reading.saturating_sub(back))
    };
    let clock = (now, Duration::ZERO);
    assert!(keeps_limit(&gate(9, 4, 6, clock), (9, 4, 6), 24), "{NEVER}");
}

/// Returns a gate by a clock of which each reading is another one; `tick` reads it too.
fn ticking(ticks: &AtomicU64) -> impl Clock {
    (|| Timestamp::from_nanos(tick(ticks)), Duration::ZERO)
}

fn tick(ticks: &AtomicU64) -> u64 {
    ticks.fetch_add(1, Ordering::SeqCst)
}

/// Asks for one at a time from all threads, and returns the greatest number of granted calls that
/// began and ended in one span of this length.
fn most_in_a_span<C: Clock + Sync>(gate: &Gate<C>, ticks: &AtomicU64, span: u64) -> usize {
    let all = Mutex::new(Vec::new());
    race(THREADS, |_| {
        let mut granted = Vec::new();
        for _ in 0..CALLS / 4 {
            let begun = tick(ticks);
            if gate.try_admit(1) {
                granted.push((begun, tick(ticks)));
            }
        }
        all.lock().unwrap().extend(granted);
    });
    let mut granted = all.into_inner().unwrap();
    assert!(granted.len() > 100, "the storm had few grants: {}", granted.len());
    granted.sort_unstable();
    let from = |(index, (begun, _)): (usize, &(u64, u64))| {
        let later = granted[index..].iter().take_while(|(next, _)| next - begun < span);
        later.filter(|(_, ended)| ended - begun < span).count()
    };
    granted.iter().enumerate().map(from).max().unwrap_or(0)
}

/// By the instants before and after each call.
#[test]
fn a_strict_gate_keeps_its_limit_in_every_span_of_time() {
    let ticks = AtomicU64::new(0);
    let gate = Gate::builder(7).interval(nanos(60)).buckets(3).strict().clock(ticking(&ticks));
    let most = most_in_a_span(&gate.build().unwrap(), &ticks, 60);
    assert!(most <= 7, "{most} in a span");
}

/// Limits rise and fall meanwhile; no run has more than the highest, and no reading is beyond it.
#[test]
fn no_run_of_buckets_has_more_while_the_limit_changes() {
    let (length, buckets) = (500, 4);
    let gate = gate(3, length, buckets, counting());
    let finished = AtomicBool::new(false);
    let granted = thread::scope(|scope| {
        scope.spawn(|| {
            let mut random = Rng::with_seed(9);
            while !finished.load(Ordering::Acquire) {
                gate.set_limit(random.u64(3..=8)).unwrap();
                assert!(gate.granted() <= 8 && gate.left() <= 8);
            }
        });
        let _finish = Finish(&finished);
        storm(&gate, 3, length * buckets)
    });
    let most = most_in_a_run(&granted, length, buckets);
    assert!(most <= 8, "{most} in a run");
}

/// Once `set_limit` has returned, nothing more is granted where the new limit is used up.
#[test]
fn a_lower_limit_holds_at_once() {
    for round in 0..20 {
        let gate = gate(1_000_000, 10, 2, windrow::clock::Manual::default());
        let finished = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !finished.load(Ordering::Acquire) {
                        let _ = gate.try_admit(1);
                    }
                });
            }
            let _finish = Finish(&finished);
            while gate.granted() < 100 + round {
                thread::yield_now();
            }
            gate.set_limit(10).unwrap();
            let granted = gate.granted();
            thread::sleep(Duration::from_micros(50));
            assert_eq!(gate.granted(), granted);
        });
    }
}

/// The geometry changes meanwhile: no span of time that is a bucket shorter than an interval,
/// whichever, has more than the limit.
#[test]
fn no_run_of_buckets_has_more_while_the_geometry_changes() {
    let ticks = AtomicU64::new(0);
    let gate = gate(6, 40, 4, ticking(&ticks));
    let finished = AtomicBool::new(false);
    let most = thread::scope(|scope| {
        scope.spawn(|| {
            let mut random = Rng::with_seed(5);
            while !finished.load(Ordering::Acquire) {
                let (length, buckets) = (40 * random.u64(1..=3), random.u64(4..=8));
                gate.reconfigure(nanos(length * buckets), buckets as usize).unwrap();
                thread::yield_now();
            }
        });
        let _finish = Finish(&finished);
        most_in_a_span(&gate, &ticks, 3 * 40)
    });
    assert!(most <= 6, "{most} in a span");
}
