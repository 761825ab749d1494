//! The cases that resilience4j's `CircuitBreaker` and sony's `gobreaker` test, restated for this
//! breaker.
//!
//! | cases | origin | commit |
//! |---|---|---|
//! | `r01` to `r13`, `r18` | resilience4j: `CircuitBreakerStateMachineTest` | `06b25fbd` |
//! | `r14` to `r17`, `r19` | resilience4j: its documentation | - |
//! | `g01` to `g11` | gobreaker: the tests of `v2/gobreaker_test.go` | `0a18939f` |
//!
//! A case that ends otherwise here says so.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use windrow::Breaker;
use windrow::breaker::{Call, CallError, Settings, State};
use windrow::clock::Manual;

use crate::{SECOND, TICK, Tested, before};

/// The breaker of resilience4j's tests: five seconds, five calls, four trials.
fn by_time() -> Tested {
    Tested::new(
        Settings::interval(5 * SECOND, 5).minimum_calls(5).slow_percent(50, 4 * SECOND).trials(4),
    )
}

/// The breaker of these tests, by number of calls.
fn by_number() -> Tested {
    Tested::new(Settings::last_calls(5).slow_percent(50, 4 * SECOND).trials(4))
}

/// A breaker that was opened by five failures, and whose time is over.
fn half_open() -> Tested {
    let tested = by_time();
    tested.fail(5);
    assert_eq!(tested.state(), State::Open);
    tested.clock.advance(5 * SECOND);
    tested
}

#[test]
fn r01_an_open_breaker_refuses_and_counts_what_it_refused() {
    let tested = by_time();
    tested.fail(5);
    assert!(tested.refuses());
    assert_eq!(tested.breaker.counts().refused, 1);
}

#[test]
fn r02_a_trial_that_is_released_gives_its_place_back() {
    let tested = half_open();
    let mut trials: Vec<_> = (0..4).map(|_| tested.call()).collect();
    assert!(tested.refuses() && tested.refuses());
    drop(trials.pop().expect("four trials"));
    trials.push(tested.call());
    assert!(tested.refuses());
}

#[test]
fn r03_half_open_lets_the_permitted_number_through_each_time() {
    let tested = half_open();
    for _ in 0..2 {
        let trials: Vec<_> = (0..4).map(|_| tested.call()).collect();
        assert_eq!(tested.state(), State::HalfOpen);
        assert!(tested.refuses() && tested.refuses());
        trials.into_iter().take(2).for_each(Call::failure);
        assert_eq!(tested.state(), State::Open);
        tested.clock.advance(5 * SECOND);
    }
}

#[test]
fn r04_opens_with_the_call_that_fills_the_minimum_also_if_that_call_succeeds() {
    for tested in [by_time(), by_number()] {
        tested.fail(3);
        tested.succeed(1);
        assert_eq!((tested.state(), tested.totals()), (State::Closed, (4, 3, 0)));
        tested.succeed(1);
        assert_eq!((tested.state(), tested.totals()), (State::Open, (5, 3, 0)));
        assert!(tested.refuses());
    }
}

#[test]
fn r05_opens_by_the_share_of_slow_calls() {
    let tested = by_number();
    tested.take(5 * SECOND, 2);
    tested.take(Duration::from_millis(100), 2);
    assert_eq!(tested.state(), State::Closed);
    tested.take(5 * SECOND, 1);
    assert_eq!((tested.state(), tested.totals()), (State::Open, (5, 0, 3)));
}

#[test]
fn r06_a_call_that_takes_the_threshold_exactly_is_slow() {
    let tested = Tested::new(Settings::last_calls(1).slow_percent(100, 4 * SECOND));
    tested.take(before(4 * SECOND), 1);
    assert_eq!(tested.state(), State::Closed);
    tested.take(4 * SECOND, 1);
    assert_eq!(tested.state(), State::Open);
}

#[test]
fn r07_half_open_after_the_wait_and_the_refusals_before_are_counted() {
    let tested = by_time();
    tested.fail(5);
    assert!(tested.refuses());
    tested.clock.advance(before(5 * SECOND));
    assert!(tested.refuses());
    assert_eq!(tested.state(), State::Open);
    tested.clock.advance(TICK);
    drop(tested.call());
    assert_eq!((tested.state(), tested.breaker.counts().refused), (State::HalfOpen, 2));
}

/// There by a factor that is chosen, 1.5 by default; here it doubles.
#[test]
fn r08_each_opening_from_half_open_is_longer_up_to_the_longest() {
    let settings = Settings::last_calls(1).trials(1).open_for(5 * SECOND).up_to(18 * SECOND);
    let tested = Tested::new(settings);
    tested.fail(1);
    for seconds in [5, 10, 18, 18] {
        tested.clock.advance(before(seconds * SECOND));
        assert!(tested.refuses(), "{seconds}");
        tested.clock.advance(TICK);
        tested.fail(1);
    }
    tested.clock.advance(18 * SECOND);
    tested.succeed(1);
    assert_eq!(tested.state(), State::Closed);
    tested.fail(1); // and begins anew when it was closed
    tested.clock.advance(5 * SECOND);
    tested.succeed(1);
}

/// There all four trials are made; here the second failure of four decides.
#[test]
fn r09_back_to_open_by_the_share_of_failed_trials() {
    let tested = half_open();
    tested.fail(1);
    tested.succeed(1);
    assert_eq!(tested.state(), State::HalfOpen);
    tested.fail(1);
    assert_eq!(tested.state(), State::Open);
    assert!(tested.refuses());
}

#[test]
fn r10_back_to_open_by_the_share_of_slow_trials() {
    let tested = half_open();
    let trials = [(); 4].map(|()| tested.call());
    let [first, second, third, fourth] = trials;
    first.success();
    second.success();
    tested.clock.advance(5 * SECOND);
    third.success();
    assert_eq!(tested.state(), State::HalfOpen);
    fourth.success();
    assert_eq!(tested.state(), State::Open);
}

#[test]
fn r11_closed_again_below_the_shares_and_the_measurements_begin_anew() {
    let tested = half_open();
    tested.fail(1);
    tested.succeed(2);
    assert_eq!(tested.state(), State::HalfOpen);
    tested.succeed(1);
    assert_eq!((tested.state(), tested.totals()), (State::Closed, (0, 0, 0)));
    tested.succeed(1);
    assert_eq!(tested.totals(), (1, 0, 0));
}

#[test]
fn r12_an_ignored_error_is_no_outcome_when_closed() {
    let tested = by_number();
    (0..9).for_each(|_| drop(tested.call()));
    assert_eq!((tested.state(), tested.totals()), (State::Closed, (0, 0, 0)));
    assert_eq!(tested.breaker.counts().ignored, 9);
}

#[test]
fn r13_ignored_trials_decide_nothing() {
    let tested = half_open();
    (0..9).for_each(|_| drop(tested.call()));
    assert_eq!(tested.state(), State::HalfOpen);
    tested.succeed(3);
    assert_eq!(tested.state(), State::HalfOpen);
    drop(tested.call());
    assert_eq!(tested.state(), State::HalfOpen);
    tested.succeed(1);
    assert_eq!(tested.state(), State::Closed);
}

#[test]
fn r14_no_share_before_the_minimum_of_calls() {
    let tested = Tested::new(Settings::last_calls(20).minimum_calls(10).failed_percent(50));
    tested.fail(9);
    assert_eq!(tested.state(), State::Closed);
    tested.fail(1);
    assert_eq!(tested.state(), State::Open);
}

#[test]
fn r15_the_last_calls_push_out_the_calls_before() {
    let tested = Tested::new(Settings::last_calls(4).failed_percent(75));
    tested.fail(2);
    tested.succeed(2);
    assert_eq!(tested.totals(), (4, 2, 0));
    tested.succeed(1);
    assert_eq!(tested.totals(), (4, 1, 0));
    tested.fail(2);
    assert_eq!((tested.state(), tested.totals()), (State::Closed, (4, 2, 0)));
    tested.fail(1);
    assert_eq!(tested.state(), State::Open);
}

#[test]
fn r16_the_interval_forgets_what_is_older() {
    let tested = by_time();
    tested.fail(4);
    tested.clock.advance(5 * SECOND);
    assert_eq!(tested.totals(), (0, 0, 0));
    tested.fail(4);
    assert_eq!((tested.state(), tested.totals()), (State::Closed, (4, 4, 0)));
    tested.clock.advance(4 * SECOND);
    tested.fail(1);
    assert_eq!(tested.state(), State::Open);
}

/// There a timer opens it, or closes it; here the next call finds that the time is over.
#[test]
fn r17_trials_that_do_not_end_open_it_again() {
    let tested = Tested::new(Settings::last_calls(1).trials(2).trial_timeout(20 * SECOND));
    tested.fail(1);
    tested.clock.advance(5 * SECOND);
    std::mem::forget(tested.call());
    tested.succeed(1);
    tested.clock.advance(before(20 * SECOND));
    assert!(tested.refuses());
    assert_eq!(tested.state(), State::HalfOpen);
    tested.clock.advance(TICK);
    assert!(tested.refuses());
    assert_eq!(tested.state(), State::Open);
    tested.clock.advance(5 * SECOND);
    tested.succeed(2);
    assert_eq!(tested.state(), State::Closed);
}

#[test]
fn r18_transitions_are_counted() {
    let tested = half_open();
    tested.fail(2);
    tested.clock.advance(5 * SECOND);
    tested.succeed(4);
    let counts = tested.breaker.counts();
    assert_eq!((counts.opened, counts.half_opened, counts.closed), (2, 2, 1));
    assert_eq!((counts.succeeded, counts.failed), (4, 7));
}

#[test]
fn r19_settings_out_of_range_are_refused() {
    let is_refused = |settings: Settings| Breaker::with_clock(settings, Manual::default()).is_err();
    assert!(is_refused(Settings::last_calls(0)));
    assert!(is_refused(Settings::last_calls(9).minimum_calls(0)));
    assert!(is_refused(Settings::last_calls(9).failed_percent(0)));
    assert!(is_refused(Settings::last_calls(9).failed_percent(101)));
    assert!(is_refused(Settings::last_calls(9).slow_percent(0, SECOND)));
    assert!(is_refused(Settings::last_calls(9).slow_percent(101, SECOND)));
    assert!(is_refused(Settings::last_calls(9).slow_percent(50, Duration::ZERO)));
    assert!(is_refused(Settings::last_calls(9).trials(0)));
    assert!(is_refused(Settings::last_calls(9).open_for(Duration::ZERO)));
    // There the minimum is lowered to the number of calls.
    assert!(is_refused(Settings::last_calls(9).minimum_calls(10)));
}

/// gobreaker's default: more than five failures in a row, one trial, a minute.
fn gobreaker() -> Tested {
    let settings = Settings::last_calls(6).failed_percent(100).trials(1).open_for(60 * SECOND);
    Tested::new(settings)
}

/// The breaker of `TestCustomCircuitBreaker`: three calls, six of ten, three trials.
fn custom() -> Tested {
    let settings = Settings::interval(30 * SECOND, 10).minimum_calls(3).failed_percent(60);
    Tested::new(settings.open_for(90 * SECOND).trials(3))
}

#[test]
fn g01_failures_in_a_row_open_it() {
    let tested = gobreaker();
    tested.fail(5);
    tested.succeed(1);
    tested.fail(5);
    assert_eq!(tested.state(), State::Closed);
    tested.fail(1);
    assert_eq!(tested.state(), State::Open);
    assert!(tested.refuses());
    tested.clock.advance(59 * SECOND);
    assert!(tested.refuses());
    tested.clock.advance(SECOND);
    tested.fail(1); // half open, and open again
    assert_eq!(tested.state(), State::Open);
    tested.clock.advance(60 * SECOND);
    tested.succeed(1);
    assert_eq!((tested.state(), tested.totals()), (State::Closed, (0, 0, 0)));
}

#[test]
fn g02_a_share_of_a_minimum_of_calls_opens_it() {
    let tested = custom();
    for _ in 0..5 {
        tested.succeed(1);
        tested.fail(1);
    }
    assert_eq!((tested.state(), tested.totals()), (State::Closed, (10, 5, 0)));
    tested.clock.advance(30 * SECOND);
    tested.fail(1);
    assert_eq!(tested.totals(), (1, 1, 0));
    tested.succeed(1);
    tested.fail(1);
    assert_eq!(tested.state(), State::Open);
}

/// There the share is asked at failures alone. Here a success that makes the minimum full opens it
/// as well, as in resilience4j.
#[test]
fn g03_buckets_leave_one_by_one() {
    let tested = custom();
    tested.succeed(7);
    tested.fail(3);
    tested.clock.advance(27 * SECOND);
    tested.fail(4);
    assert_eq!((tested.state(), tested.totals()), (State::Closed, (14, 7, 0)));
    tested.clock.advance(3 * SECOND);
    assert_eq!(tested.totals(), (4, 4, 0));
    tested.succeed(1);
    assert_eq!(tested.state(), State::Open);
}

#[test]
fn g04_trials_beyond_the_most_are_refused_while_they_run() {
    let tested = custom();
    tested.fail(3);
    tested.clock.advance(90 * SECOND);
    tested.succeed(2);
    assert_eq!(tested.state(), State::HalfOpen);
    let third = tested.call();
    assert!(tested.refuses());
    third.success();
    assert_eq!(tested.state(), State::Closed);
}

#[test]
fn g05_one_failed_trial_of_three_opens_it_if_the_share_is_a_third() {
    let settings = Settings::last_calls(1).failed_percent(33).trials(3);
    let tested = Tested::new(settings);
    tested.fail(1);
    tested.clock.advance(5 * SECOND);
    tested.succeed(2);
    tested.fail(1);
    assert_eq!(tested.state(), State::Open);
}

#[test]
fn g06_a_panic_of_the_call_is_a_failure_and_goes_on() {
    let tested = gobreaker();
    let panics = || tested.breaker.call(|| -> Result<(), ()> { panic!("as it is meant") });
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    assert_eq!(tested.totals(), (1, 1, 0));
}

#[test]
fn g07_a_call_from_before_the_opening_says_nothing_after_the_closing() {
    let tested = gobreaker();
    let [late, later] = [tested.call(), tested.call()];
    tested.fail(6);
    late.failure(); // while it is open
    tested.clock.advance(60 * SECOND);
    tested.succeed(1);
    later.failure();
    assert_eq!((tested.state(), tested.totals()), (State::Closed, (0, 0, 0)));
    assert_eq!(tested.breaker.counts().failed, 8);
}

#[test]
fn g08_a_trial_of_an_earlier_half_open_time_says_nothing_in_a_later_one() {
    let settings = Settings::last_calls(1).failed_percent(50).trials(2);
    let tested = Tested::new(settings);
    tested.fail(1);
    tested.clock.advance(5 * SECOND);
    let early = tested.call();
    tested.fail(1);
    tested.clock.advance(5 * SECOND);
    let trial = tested.call();
    early.failure();
    assert_eq!(tested.state(), State::HalfOpen);
    trial.success();
    tested.succeed(1);
    assert_eq!(tested.state(), State::Closed);
}

#[test]
fn g09_calls_of_many_threads_are_all_counted() {
    let tested = Tested::new(Settings::last_calls(1000));
    std::thread::scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|| tested.succeed(100));
        }
    });
    assert_eq!(tested.totals(), (1000, 0, 0));
}

/// There a function decides about an error; here the caller does.
#[test]
fn g10_the_caller_says_what_a_success_is() {
    let tested = gobreaker();
    let call = tested.call();
    let answer: Result<(), &str> = Err("not found");
    if matches!(answer, Ok(()) | Err("not found")) {
        call.success();
    } else {
        call.failure();
    }
    assert_eq!(tested.totals(), (1, 0, 0));
}

#[test]
fn g11_a_closure_is_called_or_refused() {
    let tested = gobreaker();
    assert_eq!(tested.breaker.call(|| Ok::<_, ()>(7)), Ok(7));
    for _ in 0..6 {
        let result = tested.breaker.call(|| Err::<(), _>("down"));
        assert_eq!(result, Err(CallError::Failed("down")));
    }
    let result = tested.breaker.call(|| -> Result<(), &str> { unreachable!("it is open") });
    assert!(matches!(result, Err(CallError::Open(_))));
}
