//! Programs that mean it ill: clocks that step back and leap, the end of time, many threads, panics
//! in calls and in the clock.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use windrow::breaker::{Settings, State};
use windrow::{Breaker, Timestamp};

use crate::{SECOND, TICK, Tested, before};

#[test]
fn a_clock_that_leaps_ahead_and_back_keeps_it_open_for_one_opening_at_most() {
    let tested = Tested::new(Settings::last_calls(1).trials(1));
    tested.clock.set(Timestamp::from_secs(1_000_000));
    tested.fail(1);
    tested.clock.set(Timestamp::from_secs(10));
    let open = tested.breaker.try_call().expect_err("open");
    assert_eq!(open.retry_after, Some(5 * SECOND));
    tested.clock.advance(5 * SECOND);
    tested.succeed(1);
    assert_eq!(tested.state(), State::Closed);
}

#[test]
fn a_clock_that_steps_back_keeps_it_half_open_for_one_timeout_at_most() {
    let tested = Tested::new(Settings::last_calls(1).trials(1));
    tested.clock.set(Timestamp::from_secs(1_000_000));
    tested.fail(1);
    tested.clock.advance(5 * SECOND);
    std::mem::forget(tested.call());
    tested.clock.set(Timestamp::from_secs(10));
    assert!(tested.refuses());
    tested.clock.advance(before(60 * SECOND));
    assert!(tested.refuses());
    assert_eq!(tested.state(), State::HalfOpen);
    tested.clock.advance(TICK);
    assert!(tested.refuses());
    assert_eq!(tested.state(), State::Open);
}

#[test]
fn an_interval_goes_on_after_a_leap_and_back() {
    let tested = Tested::new(Settings::interval(10 * SECOND, 10).minimum_calls(4));
    tested.clock.set(Timestamp::from_nanos(u64::MAX - 1));
    tested.fail(3);
    tested.clock.set(Timestamp::from_secs(100));
    tested.fail(3); // begun anew
    assert_eq!((tested.state(), tested.totals()), (State::Closed, (3, 3, 0)));
    tested.clock.set(Timestamp::from_secs(95)); // within the interval
    tested.fail(1);
    assert_eq!(tested.state(), State::Open);
}

#[test]
fn a_clock_that_steps_back_during_a_call_makes_it_no_slower() {
    let tested = Tested::new(Settings::last_calls(1).slow_percent(1, TICK));
    tested.clock.set(Timestamp::from_secs(100));
    let call = tested.call();
    tested.clock.set(Timestamp::from_secs(1));
    call.success();
    assert_eq!((tested.state(), tested.totals()), (State::Closed, (1, 0, 0)));
}

#[test]
fn at_the_end_of_time_nothing_overflows() {
    let longest = Duration::from_nanos(1 << 62);
    let settings =
        Settings::interval(longest, 32).minimum_calls(1).trials(1).trial_timeout(longest);
    let tested = Tested::new(settings.open_for(longest).up_to(longest).slow_percent(100, longest));
    for at in [0, 1, u64::MAX / 2, u64::MAX - 1, u64::MAX] {
        tested.clock.set(Timestamp::from_nanos(at));
        if let Ok(call) = tested.breaker.try_call() {
            call.failure();
        }
        let _ = (tested.totals(), tested.refuses(), tested.breaker.counts(), tested.state());
    }
    // Openings in a row beyond all doublings.
    let settings = Settings::last_calls(1).trials(1).open_for(TICK).up_to(longest);
    let tested = Tested::new(settings);
    tested.fail(1);
    for _ in 0..200 {
        tested.clock.set(Timestamp::from_nanos(u64::MAX));
        tested.fail(1);
        tested.clock.set(Timestamp::from_nanos(0));
        assert!(tested.breaker.try_call().is_err());
    }
}

#[test]
fn a_panic_of_the_clock_leaves_a_breaker_that_works() {
    let panics = AtomicBool::new(false);
    let seconds = AtomicU64::new(0);
    let clock = (
        || {
            assert!(!panics.load(Ordering::Relaxed), "as it is meant");
            Timestamp::from_secs(seconds.load(Ordering::Relaxed))
        },
        Duration::ZERO,
    );
    let breaker = Breaker::with_clock(Settings::last_calls(1).trials(1), clock).expect("sound");
    let call = breaker.try_call().expect("closed");
    panics.store(true, Ordering::Relaxed);
    let told = catch_unwind(AssertUnwindSafe(|| call.failure()));
    let asked = catch_unwind(AssertUnwindSafe(|| breaker.try_call().is_ok()));
    assert!(told.is_err() && asked.is_err());
    panics.store(false, Ordering::Relaxed);
    breaker.try_call().expect("still closed").failure();
    seconds.store(5, Ordering::Relaxed);
    let trial = breaker.try_call().expect("a trial");
    panics.store(true, Ordering::Relaxed);
    assert!(catch_unwind(AssertUnwindSafe(|| trial.success())).is_err());
    panics.store(false, Ordering::Relaxed);
    breaker.try_call().expect("the place was given back").success();
    assert_eq!(breaker.state(), State::Closed);
}

#[test]
fn a_panic_in_a_trial_gives_its_place_back() {
    let tested = Tested::new(Settings::last_calls(1).trials(1));
    tested.fail(1);
    tested.clock.advance(5 * SECOND);
    let panics = || {
        let _trial = tested.call();
        panic!("as it is meant");
    };
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    tested.succeed(1);
    assert_eq!(tested.state(), State::Closed);
}

/// Threads that succeed, fail, drop, forget, set the clock back and forth: trials are never more
/// than the most, every call and transition is counted, and it closes once the threads are done.
#[test]
fn all_calls_are_counted_whatever_threads_do() {
    const TRIALS: u64 = 3;
    let settings = Settings::last_calls(20).trials(TRIALS).open_for(TICK).up_to(4 * TICK);
    let tested = Tested::new(settings.trial_timeout(50 * TICK).failed_percent(30));
    let told = [const { AtomicU64::new(0) }; 5];
    let count = |of: usize| told[of].fetch_add(1, Ordering::Relaxed);
    std::thread::scope(|scope| {
        for thread in 0..4_u64 {
            let (tested, count) = (&tested, &count);
            scope.spawn(move || {
                let mut random = thread;
                for _ in 0..20_000 {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
                    match random >> 61 {
                        0 => tested.clock.advance(3 * TICK),
                        1 if random >> 50 & 63 == 1 => tested.clock.set(Timestamp::from_nanos(7)),
                        _ => {}
                    }
                    let Ok(call) = tested.breaker.try_call() else {
                        count(3);
                        continue;
                    };
                    match random >> 40 & 31 {
                        0..16 => (count(0), call.success()).1,
                        16..24 => (count(1), call.failure()).1,
                        24..31 => (count(2), drop(call)).1,
                        _ => (count(4), std::mem::forget(call)).1,
                    }
                }
            });
        }
    });
    let told = told.map(AtomicU64::into_inner);
    assert_eq!(told.iter().sum::<u64>(), 80_000);
    let counts = tested.breaker.counts();
    assert_eq!([counts.succeeded, counts.failed, counts.ignored, counts.refused], told[..4]);
    // Each time that it was open but the present one, it half-opened.
    let is_open = u64::from(tested.state() == State::Open);
    assert_eq!(counts.opened, counts.half_opened + is_open, "{counts:?}");
    // Opened: first from closed, or from half open. Closed: from half open alone.
    assert!(counts.opened <= counts.half_opened + 1 + counts.closed);
    assert!(counts.closed <= counts.half_opened && counts.half_opened <= counts.opened);
    // It lives: whatever was forgotten is overdue some time.
    let mut steps = 0;
    while tested.state() != State::Closed || tested.totals().1 > 0 {
        tested.clock.advance(60 * TICK);
        if let Ok(call) = tested.breaker.try_call() {
            call.success();
        }
        steps += 1;
        assert!(steps < 1_000, "{:?}", tested.breaker);
    }
}

/// Six threads ask at once for three trials.
#[test]
fn trials_are_never_more_than_the_most() {
    for round in 0..300 {
        let tested = Tested::new(Settings::last_calls(1).trials(3));
        tested.fail(1);
        tested.clock.advance(5 * SECOND);
        let calls: Vec<_> = std::thread::scope(|scope| {
            let ask = || scope.spawn(|| tested.breaker.try_call().ok());
            let asked: Vec<_> = (0..6).map(|_| ask()).collect();
            asked.into_iter().filter_map(|call| call.join().expect("no panic")).collect()
        });
        assert_eq!((calls.len(), tested.breaker.counts().half_opened), (3, 1), "{round}");
    }
}
