//! The breaker's own promises.

use std::sync::Arc;
use std::time::Duration;

use windrow::breaker::{Call, Settings, State};
use windrow::clock::Manual;
use windrow::family::Metric;
use windrow::{Breaker, Clock, Family, Timestamp, labels};

use crate::{SECOND, Tested, before};

fn opened() -> Tested {
    let tested = Tested::new(Settings::last_calls(1).trials(2).up_to(20 * SECOND));
    tested.fail(1);
    tested
}

#[test]
fn a_refusal_tells_the_time_until_a_trial() {
    let tested = opened();
    tested.clock.advance(SECOND);
    let open = tested.breaker.try_call().expect_err("open");
    assert_eq!((tested.state(), open.retry_after), (State::Open, Some(4 * SECOND)));
    tested.clock.advance(4 * SECOND);
    let _trials = [tested.call(), tested.call()];
    let half = tested.breaker.try_call().expect_err("no trial left");
    assert_eq!((tested.state(), half.retry_after), (State::HalfOpen, None));
}

#[test]
fn a_refused_caller_that_comes_when_told_is_let_through() {
    let clock = Manual::default();
    let shown = clock.clone();
    // Shows the start of each tenth of a second.
    let coarse = (
        move || Timestamp::from_millis(shown.now().as_nanos() / 1_000_000 / 100 * 100),
        Duration::from_millis(100),
    );
    let breaker = Breaker::with_clock(Settings::last_calls(1), coarse).expect("sound");
    clock.advance(Duration::from_millis(199));
    breaker.try_call().expect("closed").failure();
    let retry_after = breaker.try_call().expect_err("open").retry_after.expect("open");
    clock.advance(retry_after);
    assert!(breaker.try_call().is_ok());
}

#[test]
fn a_dropped_trial_gives_its_place_back_and_says_nothing() {
    let tested = opened();
    tested.clock.advance(5 * SECOND);
    for _ in 0..100 {
        let (one, other) = (tested.call(), tested.call());
        assert!(tested.state() == State::HalfOpen && tested.refuses());
        drop(one);
        drop(other);
    }
    tested.succeed(2);
    assert_eq!(tested.state(), State::Closed);
    assert_eq!((tested.breaker.counts().ignored, tested.breaker.counts().failed), (200, 1));
}

#[test]
fn a_trial_that_never_ends_holds_it_half_open_for_the_timeout_alone() {
    let tested = opened();
    tested.clock.advance(5 * SECOND);
    std::mem::forget(tested.call());
    // Trials that come and go beside it do not move its deadline.
    for _ in 0..59 {
        tested.clock.advance(SECOND);
        drop(tested.call());
    }
    tested.clock.advance(SECOND);
    assert_eq!(tested.breaker.try_call().expect_err("open").retry_after, Some(10 * SECOND));
    assert_eq!(tested.state(), State::Open);
}

#[test]
fn trials_that_are_overdue_say_nothing_any_more() {
    let tested = opened();
    tested.clock.advance(5 * SECOND);
    let overdue = tested.call();
    tested.clock.advance(60 * SECOND);
    assert!(tested.refuses());
    overdue.success();
    assert_eq!(tested.state(), State::Open);
    tested.clock.advance(10 * SECOND);
    tested.succeed(2);
    assert_eq!(tested.state(), State::Closed);
}

/// One call an hour: each trial ends, so none is overdue.
#[test]
fn rare_calls_close_it_too() {
    let tested = opened();
    for _ in 0..2 {
        tested.clock.advance(3600 * SECOND);
        tested.succeed(1);
    }
    assert_eq!(tested.state(), State::Closed);
}

#[test]
fn it_opens_as_soon_as_the_trials_that_run_can_change_nothing() {
    let tested = Tested::new(Settings::last_calls(1).failed_percent(50).trials(4));
    tested.fail(1);
    tested.clock.advance(5 * SECOND);
    let running = [tested.call(), tested.call()];
    tested.fail(1);
    assert_eq!(tested.state(), State::HalfOpen);
    tested.fail(1);
    assert_eq!(tested.state(), State::Open);
    running.into_iter().for_each(Call::success);
    assert_eq!(tested.state(), State::Open);
}

#[test]
fn a_call_of_the_closed_time_is_no_trial_and_counts_as_none() {
    let tested = Tested::new(Settings::last_calls(2).trials(1));
    let [early, late] = [tested.call(), tested.call()];
    tested.fail(2);
    tested.clock.advance(5 * SECOND);
    let trial = tested.call();
    early.failure();
    assert_eq!(tested.state(), State::HalfOpen);
    trial.success();
    late.failure();
    assert_eq!((tested.state(), tested.totals()), (State::Closed, (0, 0, 0)));
}

#[test]
fn a_late_outcome_does_not_join_a_window_that_has_begun_anew() {
    let tested = Tested::new(Settings::last_calls(3).minimum_calls(2).trials(1));
    let late = [tested.call(), tested.call()];
    tested.fail(2);
    tested.clock.advance(5 * SECOND);
    tested.succeed(2); // a trial, and the first call of the second closed time
    late.into_iter().for_each(Call::failure);
    assert_eq!((tested.state(), tested.totals()), (State::Closed, (1, 0, 0)));
}

#[test]
fn a_share_is_reached_exactly() {
    // 33 of 100, and not 32: 33 per cent; the order does not matter.
    for percent in 1..=100 {
        let settings = Settings::last_calls(100).minimum_calls(100).failed_percent(percent);
        let tested = Tested::new(settings);
        tested.fail(u64::from(percent) - 1);
        tested.succeed(100 - u64::from(percent));
        assert_eq!(tested.state(), State::Closed, "{percent}");
        tested.fail(1);
        assert_eq!(tested.state(), State::Open, "{percent}");
    }
}

/// A list and a sum say after each call whether it opens.
#[test]
fn the_call_that_opens_is_that_of_a_list() {
    for size in [1_usize, 2, 63, 64, 65, 200, 1024] {
        let minimum = size.div_ceil(3);
        let settings = Settings::last_calls(size).minimum_calls(minimum as u64).failed_percent(60);
        let tested = Tested::new(settings.slow_percent(70, SECOND).trials(1));
        let (mut list, mut random) = (std::collections::VecDeque::new(), 7_u64);
        for _ in 0..5 * size {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (failed, slow) = (random >> 60 < 9, random >> 54 & 15 < 11);
            let call = tested.call();
            tested.clock.advance(if slow { SECOND } else { before(SECOND) });
            if failed {
                call.failure();
            } else {
                call.success();
            }
            list.push_back((failed, slow));
            if list.len() > size {
                list.pop_front();
            }
            let count = |of: fn(&(bool, bool)) -> bool| list.iter().filter(|call| of(call)).count();
            let (failed, slow) = (count(|call| call.0), count(|call| call.1));
            assert_eq!(tested.totals(), (list.len() as u64, failed as u64, slow as u64));
            let is_bad = 100 * failed >= 60 * list.len() || 100 * slow >= 70 * list.len();
            let opens = list.len() >= minimum && is_bad;
            assert_eq!(tested.state() == State::Open, opens, "{size}: {list:?}");
            if opens {
                tested.clock.advance(5 * SECOND);
                tested.succeed(1);
                list.clear();
            }
        }
    }
}

#[test]
fn a_breaker_of_a_family_is_owned_by_its_calls() {
    labels! { pub struct Upstream { host: str } }
    static BREAKERS: Family<Upstream, Breaker> =
        Family::with_constructor(|| Breaker::of(Settings::last_calls(1)));

    let a = Call::begin(BREAKERS.handle(Upstream { host: "a" })).expect("closed");
    let b = Call::begin(BREAKERS.handle(Upstream { host: "b" })).expect("closed");
    a.failure();
    b.success();
    assert_eq!(BREAKERS.with(Upstream { host: "a" }).state(), State::Open);
    assert_eq!(BREAKERS.with(Upstream { host: "b" }).state(), State::Closed);
    let all = BREAKERS.lifetime();
    assert_eq!((all.failed, all.succeeded, all.opened), (1, 1, 1));
    assert_eq!(all, {
        // as the totals of each add up
        let mut sum = BREAKERS.with(Upstream { host: "a" }).total();
        <Breaker>::merge(&mut sum, BREAKERS.with(Upstream { host: "b" }).total());
        sum
    });
}

#[test]
fn an_owned_call_goes_to_another_thread() {
    let breaker = Arc::new(Breaker::of(Settings::last_calls(1)));
    let call = Call::begin(Arc::clone(&breaker)).expect("closed");
    std::thread::spawn(move || call.failure()).join().expect("no panic");
    assert_eq!(breaker.state(), State::Open);
}

#[test]
fn a_breaker_knows_since_when_it_has_its_state() {
    let tested = opened();
    assert_eq!(tested.breaker.since(), Some(Timestamp::from_nanos(0)));
    tested.clock.advance(7 * SECOND);
    tested.succeed(2);
    assert_eq!(tested.breaker.since(), Some(Timestamp::from_secs(7)));
    assert_eq!(Tested::new(Settings::last_calls(1)).breaker.since(), None);
}

#[test]
fn full_buckets_keep_their_shares() {
    let settings = Settings::interval(SECOND, 1).minimum_calls(1_000_000).failed_percent(26);
    let tested = Tested::new(settings);
    for _ in 0..1_500_000 {
        tested.succeed(3);
        tested.fail(1);
    }
    let (calls, failed, _) = tested.totals();
    assert_eq!(tested.state(), State::Closed);
    assert!((1 << 20..1 << 21).contains(&calls), "{calls}");
    assert!(failed.abs_diff(calls / 4) <= 8, "{failed} of {calls}");
}

/// The documentation of the type says so.
#[cfg(target_pointer_width = "64")]
#[test]
fn a_breaker_takes_2_kilobytes() {
    assert!((1_700..2_100).contains(&size_of::<Breaker>()), "{}", size_of::<Breaker>());
}
