//! Settings that a breaker can have, and those that are refused.

use std::time::Duration;

use windrow::breaker::{Settings, State};
use windrow::clock::{Coarse, Manual};
use windrow::{Breaker, BuildError, LimitError};

use crate::{SECOND, TICK, Tested, before};

fn refused(settings: Settings) -> LimitError {
    Breaker::with_clock(settings, Manual::default()).expect_err("refused")
}

#[test]
fn a_setting_that_can_never_open_is_an_error() {
    let last = Settings::last_calls(10);
    assert_eq!(refused(last.minimum_calls(11)), LimitError::MinimumCalls { calls: 11, most: 10 });
    assert_eq!(refused(last.minimum_calls(0)), LimitError::MinimumCalls { calls: 0, most: 10 });
    assert_eq!(refused(last.failed_percent(101)), LimitError::Percent { percent: 101 });
    assert_eq!(refused(last.failed_percent(0)), LimitError::Percent { percent: 0 });
    assert_eq!(refused(last.slow_percent(0, SECOND)), LimitError::Percent { percent: 0 });
    assert_eq!(
        refused(last.slow_percent(u32::MAX, SECOND)),
        LimitError::Percent { percent: u32::MAX }
    );
    let window = Settings::interval(SECOND, 10);
    let most = 1_000_000;
    assert_eq!(
        refused(window.minimum_calls(u64::MAX)),
        LimitError::MinimumCalls { calls: u64::MAX, most }
    );
}

#[test]
fn a_setting_that_can_never_close_again_is_an_error() {
    let last = Settings::last_calls(10);
    assert_eq!(refused(last.trials(0)), LimitError::Trials { trials: 0, most: 1000 });
    assert_eq!(refused(last.trials(u64::MAX)), LimitError::Trials { trials: u64::MAX, most: 1000 });
    for time in [Duration::ZERO, Duration::MAX, Duration::from_nanos((1 << 62) + 1)] {
        assert_eq!(refused(last.open_for(time)), LimitError::Time { time });
        assert_eq!(refused(last.up_to(time)), LimitError::Time { time });
        assert_eq!(refused(last.trial_timeout(time)), LimitError::Time { time });
        assert_eq!(refused(last.slow_percent(50, time)), LimitError::Time { time });
        assert_eq!(refused(Settings::interval(time, 1)), LimitError::Time { time });
    }
    let (up_to, open_for) = (before(5 * SECOND), 5 * SECOND);
    assert_eq!(refused(last.up_to(up_to)), LimitError::UpTo { up_to, open_for });
}

#[test]
fn a_window_has_bounds() {
    for calls in [0, 1025, usize::MAX] {
        assert_eq!(
            refused(Settings::last_calls(calls)),
            LimitError::LastCalls { calls, most: 1024 }
        );
    }
    for buckets in [0, 33, usize::MAX] {
        let error = refused(Settings::interval(SECOND, buckets));
        assert_eq!(error, LimitError::BucketCount { buckets, most: 32 });
    }
    let error = refused(Settings::interval(SECOND, 7));
    assert_eq!(
        error,
        LimitError::Buckets(BuildError::UnevenBuckets { interval: SECOND, buckets: 7 })
    );
    assert!(
        Breaker::with_clock(
            Settings::interval(Duration::from_nanos(1 << 62), 32),
            Manual::default()
        )
        .is_ok()
    );
}

#[test]
fn a_clock_that_is_too_coarse_for_a_time_is_an_error() {
    let clock = || (|| windrow::Timestamp::from_nanos(0), Duration::from_millis(10));
    let is_refused = |settings: Settings| {
        let error = Breaker::with_clock(settings, clock()).err();
        matches!(error, Some(LimitError::ClockTooCoarse { .. }))
    };
    let (short, long) = (Duration::from_millis(99), Duration::from_millis(100));
    let last = Settings::last_calls(10);
    assert!(is_refused(last.open_for(short)) && !is_refused(last.open_for(long)));
    assert!(is_refused(last.trial_timeout(short)) && !is_refused(last.trial_timeout(long)));
    assert!(is_refused(last.slow_percent(1, short)) && !is_refused(last.slow_percent(1, long)));
    assert!(
        is_refused(Settings::interval(SECOND, 20)) && !is_refused(Settings::interval(SECOND, 10))
    );
}

#[test]
fn the_minimum_is_twenty_or_the_number_of_last_calls() {
    for (settings, minimum) in [
        (Settings::last_calls(5), 5),
        (Settings::last_calls(100), 20),
        (Settings::interval(SECOND, 10), 20),
    ] {
        let tested = Tested::new(settings);
        tested.fail(minimum - 1);
        assert_eq!(tested.state(), State::Closed);
        tested.fail(1);
        assert_eq!(tested.state(), State::Open);
    }
}

static STATIC: Breaker = Breaker::of(Settings::interval(SECOND, 10).minimum_calls(1).trials(1));

#[test]
fn one_in_a_static_opens_as_any_other() {
    STATIC.try_call().expect("closed").failure();
    let open = STATIC.try_call().expect_err("open");
    assert_eq!(STATIC.state(), State::Open);
    assert!(open.retry_after > Some(4 * SECOND));
}

#[test]
fn errors_name_the_value_and_the_rule() {
    let text = |error: LimitError| error.to_string();
    let last = Settings::last_calls(10);
    assert_eq!(text(refused(last.trials(0))), "the number of trials is 0; it must be 1 to 1000");
    assert_eq!(
        text(refused(last.failed_percent(120))),
        "the share is 120 per cent; it must be 1 to 100"
    );
    assert_eq!(
        text(refused(last.up_to(SECOND))),
        "the breaker is open for up to 1s; it must not be shorter than the first time of 5s"
    );
    let error = Breaker::with_clock(last.open_for(TICK), Coarse::default()).expect_err("too short");
    assert!(error.to_string().starts_with("the clock's resolution of"), "{error}");
}
