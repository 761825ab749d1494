//! Paces that change while threads ask, and what a change keeps.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use testkit::race;
use windrow::LimitError;
use windrow::clock::Manual;
use windrow::gate::Admission;
use windrow::{Pace, Paces, Timestamp};

use crate::pace::Stepping;

const fn nanos(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

fn pace(period: u64, burst: u64) -> (Manual, Pace<Manual>) {
    let clock = Manual::default();
    let pace = Pace::builder(nanos(period)).burst(burst).clock(clock.clone()).build();
    (clock, pace.unwrap())
}

#[test]
fn what_is_in_use_is_rounded_up() {
    let (clock, pace) = pace(3, 10);
    assert!(pace.try_admit(1));
    clock.advance(nanos(1));
    pace.set_rate(nanos(10)).unwrap(); // two thirds of a period
    assert_eq!(pace.idle_after(), nanos(7));
    pace.set_rate(nanos(3)).unwrap();
    assert_eq!(pace.idle_after(), nanos(3));
}

#[test]
fn told_moments_stay_and_later_calls_come_behind_them() {
    let (_, pace) = pace(100, 1);
    let turns: Vec<_> = (0..5).map(|_| pace.reserve(1, Duration::MAX).unwrap()).collect();
    pace.reconfigure(nanos(10), 3).unwrap();
    assert_eq!(turns.last().unwrap().wait(), nanos(400));
    assert_eq!(pace.admit(3, Duration::MAX), Admission::After(nanos(430)));
    pace.set_rate(nanos(1_000)).unwrap(); // at 430 ns, 3 units are in use
    assert_eq!(pace.admit(1, Duration::MAX), Admission::After(nanos(430 + 1_000)));
}

/// Until the last moment that a caller was told, no more than the burst is in use: whatever number
/// of short periods that time has.
#[test]
fn a_rate_that_is_raised_while_a_caller_waits_and_lowered_again_is_the_old_one() {
    let second = Duration::from_secs(1);
    let clock = Manual::default();
    let pace = Pace::builder(second).clock(clock.clone()).build().unwrap();
    let paces = Paces::builder().limit_with_burst(1, second, 1).clock(clock.clone());
    let paces = paces.build().unwrap();
    for _ in 0..=10 {
        assert!(pace.admit(1, Duration::MAX).is_granted());
        assert!(paces.admit(1, Duration::MAX).is_granted());
    }
    for period in [second / 1_000, second, nanos(1), second] {
        pace.set_rate(period).unwrap();
        let limit = (second.as_nanos() / period.as_nanos()) as u64;
        paces.set_limit_with_burst(0, limit, second, 1).unwrap();
    }
    assert_eq!(pace.admit(1, Duration::MAX), Admission::After(11 * second));
    assert_eq!(paces.admit(1, Duration::MAX), Admission::After(11 * second));
}

/// The end is again what a reservation has made, but under other terms.
#[test]
fn a_turn_from_before_a_change_is_passed_on() {
    for is_pace in [true, false] {
        let clock = Manual::default();
        let second = Duration::from_secs(1);
        let pace = Pace::builder(2 * second).clock(clock.clone()).build().unwrap();
        let paces = Paces::builder().limit_with_burst(1, 2 * second, 1).clock(clock.clone());
        let paces = paces.build().unwrap();
        let reserve = || {
            let longest = Duration::MAX;
            if is_pace { pace.reserve(1, longest) } else { paces.reserve(1, longest) }.unwrap()
        };
        let set = |period| {
            if is_pace {
                pace.set_rate(period)
            } else {
                paces.set_limit_with_burst(0, 1, period, 1)
            }
        };
        let idle = || if is_pace { pace.idle_after() } else { paces.idle_after() };
        set(second).unwrap();
        reserve().keep();
        reserve().keep();
        let last = reserve(); // at 2 s: the end is 3 s
        set(second / 2).unwrap(); // and now 2.5 s
        reserve().keep();
        assert_eq!(idle(), 3 * second);
        assert!(last.settle(0));
        assert_eq!(idle(), 3 * second);
        let (next, last) = (reserve(), reserve());
        assert_eq!((next.wait(), last.wait()), (2 * second, 3 * second));
    }
}

#[test]
fn what_cannot_be_is_refused_and_changes_nothing() {
    let (clock, pace) = pace(1_000, 4);
    let show = |pace: &Pace<Manual>| (pace.quota(), pace.idle_after());
    for is_changed in [false, true] {
        if is_changed {
            pace.set_burst(5).unwrap();
        }
        assert!(pace.try_admit(2));
        let (before, burst) = (show(&pace), pace.quota().burst);
        assert_eq!(pace.set_rate(Duration::ZERO), Err(LimitError::ZeroPeriod));
        assert_eq!(pace.set_burst(0), Err(LimitError::ZeroBurst));
        let too_long = |period, burst| Err(LimitError::TooLong { period, burst });
        assert_eq!(pace.set_rate(nanos(1 << 62)), too_long(nanos(1 << 62), burst));
        assert_eq!(pace.set_burst(u64::MAX), too_long(nanos(1_000), u64::MAX));
        assert_eq!(pace.reconfigure(Duration::MAX, 1), too_long(Duration::MAX, 1));
        assert_eq!(pace.set_rate(nanos(1_000)), Ok(()));
        assert_eq!(show(&pace), before);
    }
    let error = pace.reconfigure(nanos(1 << 62), 1).unwrap_err();
    assert_eq!(error, LimitError::TooMuchInUse { in_use: 4, period: nanos(1 << 62) });
    clock.set(Timestamp::from_nanos(i64::MAX as u64));
    assert_eq!(pace.reconfigure(nanos(1 << 62), 1), Ok(()));
    assert!(pace.retire());
    assert_eq!(pace.set_rate(nanos(1)), Err(LimitError::Retired));
    assert_eq!(pace.set_burst(1), Err(LimitError::Retired));

    let clock = Stepping(Manual::default(), 10);
    let coarse = Pace::builder(nanos(1)).clock(clock.clone()).allow_coarse_clock().build().unwrap();
    let error = LimitError::ClockTooCoarse { resolution: nanos(10), span: nanos(99) };
    assert_eq!(coarse.set_rate(nanos(99)), Err(error.clone()));
    let paces = Paces::builder().limit(1, nanos(100)).clock(clock).build().unwrap();
    assert_eq!(paces.set_limit(0, 1, nanos(99)), Err(error));
    let no_limit = LimitError::NoSuchLimit { at: 1, limits: 1 };
    assert_eq!(paces.set_limit(1, 1, nanos(100)), Err(no_limit));
    assert_eq!(paces.set_limit(0, 0, nanos(100)), Err(LimitError::ZeroLimit));
    assert!(paces.retire());
    assert_eq!(paces.set_limit(0, 2, nanos(100)), Err(LimitError::Retired));
}

#[test]
fn a_changed_pace_is_retired_when_it_is_idle_and_for_ever() {
    let (clock, pace) = pace(100, 2);
    pace.set_rate(nanos(200)).unwrap();
    assert!(pace.try_admit(2) && !pace.retire());
    clock.advance(nanos(399));
    assert!(!pace.retire() && !pace.is_retired());
    clock.advance(nanos(1));
    assert!(pace.retire() && pace.is_retired() && pace.retire());
    for time in [0, 400, i64::MAX as u64, u64::MAX] {
        clock.set(Timestamp::from_nanos(time));
        assert_eq!(pace.admit(1, Duration::MAX), Admission::Refused { retry_after: None });
        assert!(pace.try_admit(0));
        assert_eq!(pace.left(), 0);
    }
}

/// In each round the clock stands still. Each unit that was admitted is in use, whatever the rate
/// is meanwhile; and no more than the greatest burst is admitted.
#[test]
fn threads_that_change_a_pace_lose_no_unit() {
    const SECOND: u64 = 1_000_000_000;
    for is_pace in [true, false] {
        let clock = Manual::default();
        let pace = Pace::builder(nanos(SECOND)).burst(20).clock(clock.clone()).build().unwrap();
        let paces = Paces::builder().limit_with_burst(1, nanos(SECOND), 20);
        let paces = paces.limit(1_000, nanos(SECOND)).clock(clock.clone()).build().unwrap();
        for round in 0..300 {
            let admitted = AtomicU64::new(0);
            race(4, |thread| {
                for call in 0..10_u64 {
                    let (period, burst) = (SECOND * (1 + call % 3), 10 + (call + round) % 11);
                    match (thread, is_pace) {
                        (0, true) => pace.reconfigure(nanos(period), burst).unwrap(),
                        (0, false) => {
                            paces.set_limit_with_burst(0, 1, nanos(period), burst).unwrap();
                        }
                        (1, true) if call == 5 => pace.set_rate(nanos(7 * SECOND)).unwrap(),
                        (1, true) if call == 7 => pace.set_burst(15).unwrap(),
                        (_, true) => {
                            admitted.fetch_add(pace.try_admit(1).into(), Ordering::Relaxed);
                        }
                        (_, false) => {
                            admitted.fetch_add(paces.try_admit(1).into(), Ordering::Relaxed);
                        }
                    }
                }
            });
            let admitted = admitted.into_inner();
            assert!((10..=20).contains(&admitted), "{admitted}");
            let in_use = |idle: Duration, period: Duration| {
                assert_eq!(idle.as_nanos() % period.as_nanos(), 0);
                (idle.as_nanos() / period.as_nanos()) as u64
            };
            if is_pace {
                let period = pace.quota().refill / pace.quota().burst as u32;
                assert_eq!(in_use(pace.idle_after(), period), admitted, "round {round}");
            } else {
                let first = paces.quotas().next().unwrap();
                assert_eq!(in_use(paces.idle_after(), first.refill / first.burst as u32), admitted);
            }
            clock.advance(Duration::from_secs(1_000));
        }
        assert!(if is_pace { pace.retire() } else { paces.retire() });
    }
}

/// A limit that has all its burst left keeps it when a slower one changes.
#[test]
fn limits_that_are_not_waited_for_move_no_other() {
    let second = Duration::from_secs(1);
    let paces = Paces::builder().limit(4, 4 * second).limit(5, 10 * second);
    let paces = paces.clock(Manual::default()).build().unwrap();
    assert!(paces.try_admit(1));
    paces.set_limit(1, 3, 10 * second).unwrap();
    assert!(paces.quotas().map(|quota| quota.left).eq([3, 2]));
}

/// Clocks that leap and step back, extreme terms and weights, turns that are dropped and moved up,
/// and the end of it all. Nothing panics or hangs; and what is retired stays so.
#[test]
fn threads_do_everything_at_once() {
    for round in 0..40 {
        let clock = Manual::default();
        let pace = Pace::builder(nanos(100)).burst(3).clock(clock.clone()).build().unwrap();
        let paces = Paces::builder().limit(3, nanos(100)).limit(7, nanos(1_000));
        let paces = paces.clock(clock.clone()).build().unwrap();
        race(4, |thread| {
            let mut number = round * 4 + thread as u64 + 1;
            let mut random = |below: u64| {
                number ^= number << 13;
                number ^= number >> 7;
                number ^= number << 17;
                number % below
            };
            let extremes = [0, 1, 2, 99, 1 << 31, 1 << 61, 1 << 62, u64::MAX / 2, u64::MAX];
            for _ in 0..300 {
                let extreme = extremes[random(9) as usize];
                let (small, longest) = (1 + random(5), nanos(random(2_000)));
                match random(12) {
                    0 => _ = pace.set_rate(nanos(extreme)),
                    1 => _ = pace.set_burst(extreme),
                    2 => _ = pace.reconfigure(nanos(1 + random(500)), small),
                    3 => _ = paces.set_limit(random(3) as usize, small, nanos(1 + random(5_000))),
                    4 => {
                        let interval = nanos(1 + extreme / 2);
                        _ = paces.set_limit_with_burst(0, extreme, interval, small);
                    }
                    5 => clock.set(Timestamp::from_nanos(extreme)),
                    6 => clock.set(Timestamp::from_nanos(random(100_000))),
                    7 => assert!(pace.left() <= u64::MAX / 2 && paces.quotas().count() == 2),
                    8 => _ = pace.admit(extreme, nanos(extreme)),
                    9 => _ = paces.admit(extreme, nanos(extreme)),
                    10 => {
                        let turns = [pace.reserve(small, longest), paces.reserve(small, longest)];
                        for mut turn in turns.into_iter().flatten() {
                            _ = (turn.move_up(), turn.settle(0));
                        }
                    }
                    _ => assert!(pace.try_admit(0) && paces.try_admit(0)),
                }
            }
        });
        clock.set(Timestamp::from_nanos(u64::MAX));
        assert!(pace.retire() && paces.retire());
        race(3, |thread| {
            clock.set(Timestamp::from_nanos(thread as u64 * 1_000));
            assert!(!pace.try_admit(1) && !paces.try_admit(1));
            assert_eq!(pace.set_rate(nanos(thread as u64 + 1)), Err(LimitError::Retired));
            assert_eq!(paces.set_limit(0, 1, nanos(10)), Err(LimitError::Retired));
        });
        assert!(pace.is_retired() && paces.is_retired());
    }
}
