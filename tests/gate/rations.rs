//! Rations: never over the limit, and all that was granted is used, or lies in rows, or is granted
//! again.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use testkit::{Finish, Rng, alone, race};
use windrow::clock::Manual;
use windrow::{
    Clock, Gate, LimitError, Timestamp,
    gate::{Admission, RationedGate},
};

use crate::most_in_a_run;

const THREADS: usize = 4;

const fn nanos(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

fn rationed<C: Clock>(
    limit: u64,
    length: u64,
    buckets: u64,
    most: u64,
    clock: C,
) -> RationedGate<C> {
    let builder = Gate::builder(limit).interval(nanos(length * buckets)).buckets(buckets as usize);
    builder.clock(clock).build_rationed(most).unwrap()
}

/// Returns a gate with so large a limit that each ration is as large as it may be, and its clock.
fn roomy(most: u64) -> (RationedGate<Manual>, Manual) {
    let clock = Manual::default();
    (rationed(1 << 20, 10, 2, most, clock.clone()), clock)
}

/// Checks that each grant is used, or lies in rations, if all are of one interval. (Otherwise the
/// rest that a thread has left on another core no longer counts, and lies there.)
fn assert_adds_up(gate: &RationedGate<Manual>, used: u64) {
    assert_eq!(gate.gate().granted(), used + gate.unused());
}

#[test]
fn a_ration_of_nothing_is_refused() {
    let error = Gate::builder(1).build_rationed(0).unwrap_err();
    assert_eq!(error, LimitError::ZeroRation);
    assert_eq!(error.to_string(), "the maximum ration is 0; it must be at least 1");
    assert!(Gate::builder(0).build_rationed(1).is_err());
}

#[test]
fn a_rationed_gate_is_shown_and_shared() {
    fn shared<T: Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>(_: &T) {}
    let (gate, _) = roomy(10);
    shared(&gate);
    let shown =
        format!("RationedGate {{ gate: {:?}, max_ration: 10, unused: 0, .. }}", gate.gate());
    assert_eq!(format!("{gate:?}"), shown);
}

#[test]
fn a_ration_is_used_up_before_the_gate_is_asked_again() {
    let (gate, _) = roomy(10);
    for used in 1..=100 {
        assert!(gate.try_admit(1));
        assert_adds_up(&gate, used);
        assert!(gate.unused() < 10 * 64);
    }
    assert!(gate.try_admit(0) && gate.try_admit(7));
    assert_eq!(gate.admit(9, Duration::ZERO), Admission::Now);
    assert_adds_up(&gate, 116);
}

#[test]
fn more_than_a_ration_is_asked_of_the_gate() {
    let (gate, _) = roomy(10);
    assert!(gate.try_admit(11) && !gate.try_admit(1 << 20));
    assert_eq!((gate.gate().granted(), gate.unused()), (11, 0));
    assert_eq!(gate.admit(u64::MAX, Duration::MAX), Admission::Refused { retry_after: None });
}

#[test]
fn near_the_limit_each_call_is_granted_by_itself() {
    let gate = rationed(3, 10, 2, 1_000, Manual::default());
    assert!((0..3).all(|_| gate.try_admit(1)));
    assert!(!gate.try_admit(1) && gate.try_admit(0));
    let refused = Admission::Refused { retry_after: Some(nanos(20)) };
    assert_eq!(gate.admit(1, Duration::ZERO), refused);
    assert_eq!(gate.admit(1, nanos(20)), Admission::After(nanos(20)));
    assert_eq!((gate.gate().granted(), gate.gate().waiting(), gate.unused()), (3, 1, 0));
}

#[test]
fn what_has_ended_is_not_used() {
    let clock = Manual::default();
    let gate = rationed(1_000, 10, 2, 10, clock.clone());
    for round in 0..10 {
        clock.set(Timestamp::from_nanos(100 * round));
        assert!(gate.try_admit(1));
        clock.set(Timestamp::from_nanos(100 * round + 50));
        let used = (0..2_000).filter(|_| gate.try_admit(1)).count();
        assert!((900..=1_000).contains(&used), "{used} of 1000 used");
    }
}

/// And it is as if it had never been granted.
#[test]
fn what_is_left_when_a_bucket_ends_is_granted_again() {
    alone::in_each_strategy("rations::what_is_left_is_granted_again_here");
}

#[test]
#[ignore = "run by the test above, in processes of its own"]
fn what_is_left_is_granted_again_here() {
    let (gate, clock) = roomy(1_000);
    for bucket in 0..20 {
        clock.set(Timestamp::from_nanos(10 * bucket));
        assert!(gate.try_admit(3));
        clock.set(Timestamp::from_nanos(10 * bucket + 9));
        assert!(gate.try_admit(2));
        let used = if bucket == 0 { 5 } else { 10 };
        assert!((used..=used + gate.unused()).contains(&gate.gate().granted()));
    }
    clock.set(Timestamp::from_nanos(10_000));
    assert_eq!((gate.gate().granted(), gate.gate().left()), (0, 1 << 20));
    assert!(gate.try_admit(1)); // the rest in the row has left with its bucket
    assert!((1..=1 + gate.unused()).contains(&gate.gate().granted()));
}

#[test]
fn a_clock_that_steps_back_finds_what_is_left() {
    let (gate, clock) = roomy(10);
    clock.set(Timestamp::from_nanos(1_000));
    assert!(gate.try_admit(1));
    clock.set(Timestamp::from_nanos(3));
    assert!((0..50).all(|_| gate.try_admit(1)));
    clock.set(Timestamp::from_nanos(1_010));
    assert_adds_up(&gate, 51);
}

#[test]
fn a_lower_limit_leaves_what_was_granted() {
    let (gate, clock) = roomy(10);
    assert!(gate.try_admit(1));
    let granted = gate.gate().granted();
    gate.gate().set_limit(5).unwrap();
    let more = (0..100).filter(|_| gate.try_admit(1)).count() as u64;
    assert_adds_up(&gate, 1 + more);
    assert_eq!(gate.gate().granted(), granted.max(5));
    clock.set(Timestamp::from_nanos(20));
    let used = (0..100).filter(|_| gate.try_admit(1)).count() as u64;
    assert!(used <= 5 && gate.gate().left() == 0);
}

/// It is as if the change came when the bucket ends.
#[test]
fn shorter_buckets_begin_when_a_ration_has_ended() {
    let clock = Manual::default();
    let gate = rationed(100, 500, 2, 10, clock.clone());
    let used = |at: u64| {
        clock.set(Timestamp::from_nanos(at));
        (0..200).filter(|_| gate.try_admit(1)).count() as u64
    };
    assert!(gate.try_admit(1));
    let unused = gate.unused();
    gate.gate().reconfigure(nanos(20), 2).unwrap();
    let in_rations = used(100) + used(489);
    assert_eq!(gate.unused(), unused - in_rations, "nothing is granted");
    let in_last = in_rations + used(490);
    assert_adds_up(&gate, 1 + in_last);
    assert_eq!(gate.gate().left(), 0);
    assert!(1 + in_last + used(509) <= 100);
    assert!((100 - gate.unused()..=100).contains(&used(510)));
}

/// No thread finds grants again that a change of the length has moved: they stay counted, and are
/// not subtracted from grants to others.
#[test]
fn after_two_changes_nothing_is_taken_off_another_bucket() {
    let clock = Manual::default();
    let gate = rationed(1_000, 4, 6, 100, clock.clone());
    assert!(gate.try_admit(1));
    let unused = gate.unused();
    gate.gate().reconfigure(nanos(60), 6).unwrap();
    gate.gate().reconfigure(nanos(21), 3).unwrap();
    clock.set(Timestamp::from_nanos(9));
    assert!(gate.try_admit(1));
    assert!(gate.gate().granted() >= 2);
    clock.set(Timestamp::from_nanos(1_000));
    assert!(gate.try_admit(1));
    assert!(unused < 100);
    assert!((1..=1 + gate.unused()).contains(&gate.gate().granted()));
}

/// A ration that is older than what the gate knew of, when it was given more buckets, is not given
/// back.
#[test]
fn after_more_buckets_of_one_length_what_has_left_is_not_taken_off() {
    const MILLISECOND: u64 = 1_000_000;
    let clock = Manual::default();
    let gate = rationed(10_000, 500 * MILLISECOND, 2, 1_000, clock.clone());
    assert!((0..3).all(|_| gate.try_admit(1)));
    clock.advance(Duration::from_secs(3));
    assert!(gate.gate().try_admit(1));
    gate.gate().reconfigure(Duration::from_secs(10), 20).unwrap();
    assert!(gate.try_admit(1));
    assert!((2..=2 + gate.unused()).contains(&gate.gate().granted()));
    let used = 2 + (0..20_000).filter(|_| gate.try_admit(1)).count() as u64;
    assert!((10_000 - gate.unused()..=10_000).contains(&used), "{used} used");
}

/// In each strategy: a weight above `most` is granted beside the row's own ration, or out of it.
#[test]
fn more_than_a_ration_has_what_lies_in_its_own_row() {
    alone::in_each_strategy("rations::what_lies_in_its_own_row_is_there_for_more_here");
}

#[test]
#[ignore = "run by the test above, in processes of its own"]
fn what_lies_in_its_own_row_is_there_for_more_here() {
    // A thread that is moved to another core leaves its ration behind: that happens to one gate,
    // not to all.
    let is_all_used = (0..50).any(|_| {
        let gate = rationed(1_000, 10, 2, 100, Manual::default());
        assert!(gate.try_admit(1));
        let is_granted = gate.try_admit(999);
        assert_adds_up(&gate, if is_granted { 1_000 } else { 1 });
        is_granted && gate.unused() == 0
    });
    assert!(is_all_used, "999 of 1000 never fit beside one");
    let (gate, _) = roomy(10);
    assert!(gate.try_admit(1) && gate.try_admit(500));
    assert!(!gate.try_admit(u64::MAX) && gate.try_admit(0));
    assert_adds_up(&gate, 501);
}

/// Columns are used again by the next gate.
#[test]
fn a_new_gate_has_nothing_in_its_rows() {
    for _ in 0..200 {
        let (gate, _) = roomy(100);
        assert_eq!(gate.unused(), 0);
        assert!(gate.try_admit(1));
        assert_adds_up(&gate, 1);
    }
}

/// One thread, of which the bucket of each grant is known.
#[test]
fn by_one_thread_no_run_of_buckets_has_more_than_the_limit() {
    let mut random = Rng::with_seed(1);
    for _ in 0..100 {
        let (limit, length) = (random.u64(1..=200), random.u64(1..=9));
        let (buckets, most) = (random.u64(1..=5), random.u64(1..=50));
        let clock = Manual::default();
        let gate = rationed(limit, length, buckets, most, clock.clone());
        let mut used = BTreeMap::<u64, u64>::new();
        for _ in 0..300 {
            clock.advance(nanos(random.u64(0..=1) * random.u64(0..=length)));
            let now = clock.now().as_nanos();
            let n = random.u64(0..=limit.min(5));
            let is_granted = gate.try_admit(n);
            if is_granted {
                *used.entry(now - now % length).or_default() += n;
            }
            let most = most_in_a_run(&used, length, buckets);
            assert!(most <= limit, "{most} of {limit} in {buckets} buckets of {length}");
            let first = (now - now % length).saturating_sub(length * (buckets - 1));
            let used: u64 = used.range(first..).map(|(_, n)| n).sum();
            let granted = gate.gate().granted();
            assert!((used..=used + gate.unused()).contains(&granted), "{granted}, {used}");
            assert!(is_granted || granted + n > limit, "{n} would fit beside {granted}");
        }
    }
}

#[test]
fn in_each_strategy_threads_keep_the_limit_and_lose_nothing() {
    for way in alone::WAYS.into_iter().chain([alone::BY_PROCESSOR]) {
        for test in ["at_rest_all_is_somewhere_here", "no_span_of_time_has_more_here"] {
            alone::run(&format!("rations::{test}"), &way);
            let [strategy, leases] = way;
            alone::run(&format!("rations::{test}"), &[strategy, leases, ("WINDROW_ROWS", "1")]);
        }
    }
}

/// Threads use up a bucket. Each grant is used or lies in rations, and no more lies there than is
/// reported.
#[test]
#[ignore = "run by the test above, in processes of its own"]
fn at_rest_all_is_somewhere_here() {
    const MOST: u64 = 50;
    for round in 0..50 {
        let limit = 100_000 + round;
        let clock = Manual::default();
        let gate = rationed(limit, 10, 2, MOST, clock.clone());
        let used = AtomicU64::new(0);
        race(THREADS, |thread| {
            let mut random = Rng::with_seed(thread as u64);
            let (mut mine, mut refused) = (0, 0);
            while refused < 100 {
                let n = random.u64(1..=3);
                if gate.try_admit(n) {
                    mine += n;
                } else {
                    refused += 1;
                }
            }
            used.fetch_add(mine, Ordering::Relaxed);
        });
        let used = used.into_inner();
        assert_adds_up(&gate, used);
        assert!(used <= limit, "{used} of {limit}");
        assert!(used > limit / 2, "{used} of {limit}");
        clock.advance(nanos(10));
        assert!((0..1_000).filter(|_| gate.try_admit(1)).count() as u64 <= limit - used);
        assert!(gate.gate().granted() <= limit);
    }
}

/// Threads at the edges of short buckets: a strict gate keeps its limit in every span of time, by
/// the instants before and after each call.
#[test]
#[ignore = "run by the test above, in processes of its own"]
fn no_span_of_time_has_more_here() {
    const INTERVAL: u64 = 3_000;
    const LIMIT: u64 = 300;
    let ticks = AtomicU64::new(0);
    let tick = || ticks.fetch_add(1, Ordering::SeqCst);
    let clock = (|| Timestamp::from_nanos(tick()), Duration::ZERO);
    let gate = Gate::builder(LIMIT).interval(nanos(INTERVAL)).buckets(10).strict().clock(clock);
    let gate = gate.build_rationed(20).unwrap();
    let (all, finished) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !finished.load(Ordering::Acquire) {
                gate.gate().set_limit(LIMIT).unwrap();
                std::thread::sleep(Duration::from_micros(50));
            }
        });
        let _finish = Finish(&finished);
        race(THREADS, |thread| {
            let mut random = Rng::with_seed(thread as u64);
            let mut granted = Vec::new();
            for _ in 0..20_000 {
                let begun = tick();
                if random.u64(..500) == 0 {
                    while tick() < begun + INTERVAL {} // the rest in the row has ended long ago
                    continue;
                }
                if gate.try_admit(1) {
                    granted.push((begun, tick()));
                }
            }
            all.lock().unwrap().extend(granted);
        });
    });
    let mut granted = all.into_inner().unwrap();
    assert!(granted.len() > 1_000, "{}", granted.len());
    granted.sort_unstable();
    for (index, (begun, _)) in granted.iter().enumerate() {
        let later = granted[index..].iter().take_while(|(next, _)| next - begun < INTERVAL);
        let within = later.filter(|(_, ended)| ended - begun < INTERVAL).count() as u64;
        assert!(within <= LIMIT, "{within} within {INTERVAL} from {begun}");
    }
}
