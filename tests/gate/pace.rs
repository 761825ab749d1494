//! A pace: threads that take and give back at once, and what it cannot be.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use windrow::LimitError;
use windrow::clock::Manual;
use windrow::gate::Admission;
use windrow::{Clock, Pace, Paces, Timestamp};

/// The moment and the weight of each call that was admitted and not given back.
struct Moments {
    period: u64,
    burst: u64,
    calls: Vec<(u64, u64)>,
}

impl Moments {
    /// Panics if some span has too much, in whichever order its calls were admitted.
    fn judge(mut self) {
        self.calls.sort_unstable();
        let mut end = 0;
        for (moment, n) in &self.calls {
            end = end.max(*moment) + n * self.period;
            assert!(end <= moment + self.burst * self.period, "at {moment} of {:?}", self.calls);
        }
    }
}

/// A manual clock with a resolution.
#[derive(Clone)]
pub(crate) struct Stepping(pub(crate) Manual, pub(crate) u64);

impl Clock for Stepping {
    fn now(&self) -> Timestamp {
        self.0.now()
    }

    fn resolution(&self) -> Duration {
        Duration::from_nanos(self.1)
    }
}

const PERIOD: u64 = 1_000;

/// In each round the clock stands still. Threads reserve, give some back and keep others. Then each
/// period before the end was kept, or is vacant: the end counts them all, and none is there twice.
#[test]
fn threads_that_give_back_leave_what_was_kept_and_what_is_vacant() {
    const THREADS: u64 = 4;
    const ROUNDS: u64 = 100;
    for burst in [1, 3] {
        let clock = Manual::default();
        let builder = Pace::builder(Duration::from_nanos(PERIOD)).burst(burst);
        let pace = builder.clock(clock.clone()).build().unwrap();
        let barrier = Barrier::new(THREADS as usize);
        let work = &|thread: u64| {
            let mut kept = Vec::new();
            for round in 0..ROUNDS {
                barrier.wait();
                // Each thread would set the same time: one that is behind all calls of the round.
                let now = round * 1_000_000;
                clock.set(Timestamp::from_nanos(now));
                barrier.wait();
                for call in 0..20 {
                    let turn = pace.reserve(1, Duration::MAX).unwrap();
                    let moment = now + turn.wait().as_nanos() as u64;
                    let is_given_back = if (call + thread + round).is_multiple_of(3) {
                        turn.keep();
                        false
                    } else {
                        turn.settle(0)
                    };
                    if !is_given_back {
                        kept.push((moment, 1));
                    }
                }
                barrier.wait();
            }
            kept
        };
        let all: Vec<Vec<(u64, u64)>> = thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|n| scope.spawn(move || work(n))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let now = (ROUNDS - 1) * 1_000_000;
        let mut calls: Vec<_> = all.into_iter().flatten().collect();
        let end = pace.idle_after();
        let last = end.saturating_sub(Duration::from_nanos(burst * PERIOD));
        while let Ok(vacant) = pace.reserve(1, last) {
            calls.push((now + vacant.wait().as_nanos() as u64, 1));
            vacant.keep();
        }
        let last = calls.iter().filter(|(moment, _)| *moment >= now).count() as u64;
        assert_eq!(end, Duration::from_nanos(last * PERIOD));
        Moments { period: PERIOD, burst, calls }.judge();
    }
}

#[test]
fn what_a_pace_cannot_be_is_an_error() {
    let of = |period, burst| Pace::builder(period).burst(burst).build().map(|_| ());
    let second = Duration::from_secs(1);
    assert_eq!(of(Duration::ZERO, 1), Err(LimitError::ZeroPeriod));
    assert_eq!(of(second, 0), Err(LimitError::ZeroBurst));
    let too_long = |period, burst| Err(LimitError::TooLong { period, burst });
    assert_eq!(of(second, u64::MAX), too_long(second, u64::MAX));
    assert_eq!(of(Duration::MAX, 1), too_long(Duration::MAX, 1));
    assert_eq!(of(Duration::from_nanos(1 << 62), 1), Ok(()));
    assert_eq!(of(Duration::from_nanos(1), 1 << 62).err(), None);
    let short = Duration::from_nanos(9);
    let builder = Pace::builder(short).clock(Stepping(Manual::default(), 1));
    let error = builder.clone().build().map(|_| ()).unwrap_err();
    let resolution = Duration::from_nanos(1);
    assert_eq!(error, LimitError::ClockTooCoarse { resolution, span: short });
    assert_eq!(builder.burst(2).build().map(|_| ()), Ok(()));
}

/// The ends of numbers refuse, and do not wrap around.
#[test]
fn time_ends_without_admitting_too_much() {
    let clock = Manual::default();
    let builder = Pace::builder(Duration::from_nanos(1 << 61)).clock(clock.clone());
    let pace = builder.build().unwrap();
    assert!(pace.try_admit(1));
    let wait = Duration::from_nanos(1 << 61);
    assert_eq!(pace.admit(1, Duration::MAX), Admission::After(wait));
    assert_eq!(pace.admit(1, Duration::MAX), Admission::After(2 * wait));
    assert_eq!(pace.admit(1, Duration::MAX), Admission::Refused { retry_after: None });
    assert_eq!(pace.admit(u64::MAX, Duration::MAX), Admission::Refused { retry_after: None });
    clock.set(Timestamp::from_nanos(u64::MAX));
    assert_eq!(pace.admit(1, Duration::MAX), Admission::Refused { retry_after: None });
    assert!(pace.try_admit(0));
}

/// A turn that has come by a finer clock gives nothing back.
#[test]
fn a_turn_that_may_have_come_is_not_given_back() {
    let clock = Stepping(Manual::default(), 10);
    let pace = Pace::builder(Duration::from_nanos(100)).clock(clock.clone()).build().unwrap();
    assert!(pace.try_admit(1));
    let turn = pace.reserve(1, Duration::MAX).unwrap();
    clock.0.set(Timestamp::from_nanos(90)); // in truth up to 100, and then the caller goes on
    drop(turn);
    assert_eq!(pace.idle_after(), Duration::from_nanos(110 + 10)); // until the clock shows it

    let turn = pace.reserve(1, Duration::MAX).unwrap();
    clock.0.set(Timestamp::from_nanos(189));
    drop(turn);
    assert_eq!(pace.idle_after(), Duration::from_nanos(11 + 10));
}

/// Callers that sleep exactly as long as they were told are admitted, wherever in the clock's steps
/// they come.
#[test]
fn retry_after_is_long_enough_for_a_clock_that_steps() {
    const STEP: u64 = 4_000_000;
    for phase in 0..400 {
        let real = Manual::default();
        let shown = real.clone();
        let stepping = move || Timestamp::from_nanos(shown.now().as_nanos() / STEP * STEP);
        let clock = (stepping, Duration::from_nanos(STEP));
        let pace = Pace::builder(Duration::from_millis(110)).clock(clock.clone()).build().unwrap();
        let paces = Paces::builder().limit_with_burst(9, Duration::from_secs(1), 1);
        let paces = paces.limit(100, Duration::from_secs(60)).clock(clock).build().unwrap();
        real.set(Timestamp::from_nanos(1_000_000_000 + 100_000 * phase));
        assert!(pace.try_admit(1) && paces.try_admit(1));
        real.advance(Duration::from_millis(50));
        let told = [pace.admit(1, Duration::ZERO), paces.admit(1, Duration::ZERO)];
        let refused = real.now();
        for (at, told) in told.into_iter().enumerate() {
            let Admission::Refused { retry_after: Some(wait) } = told else { panic!("{told:?}") };
            real.set(refused + wait);
            let admitted = if at == 0 { pace.try_admit(1) } else { paces.try_admit(1) };
            assert!(admitted, "after {wait:?}, from {phase}");
        }
        let rest = real.now() + pace.idle_after();
        real.set(rest);
        assert_eq!(pace.left(), 1);
        let rest = real.now() + paces.idle_after();
        real.set(rest);
        assert_eq!(paces.quotas().map(|quota| quota.burst - quota.left).sum::<u64>(), 0);
    }
}
