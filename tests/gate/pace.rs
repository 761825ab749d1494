//! Paces: random histories beside a list of moments, and threads that take and give back at once.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use windrow::clock::Manual;
use windrow::gate::Admission;
use windrow::pace::{PaceError, Reservation};
use windrow::{Clock, Pace, Timestamp};

/// The moment and the weight of each call that was admitted and not given back, in their order.
///
/// It knows the promise alone: in each span that ends with a call, the calls weigh at most the
/// burst, and one for each period.
struct Moments {
    period: u64,
    burst: u64,
    calls: Vec<(u64, u64)>,
}

impl Moments {
    /// Returns the earliest moment at which a call may come behind all others.
    fn earliest(&self, now: u64, weight: u64) -> u64 {
        let (mut earliest, mut sum) = (i128::from(now), i128::from(weight));
        for &(moment, n) in self.calls.iter().rev() {
            sum += i128::from(n);
            let over = (sum - i128::from(self.burst)) * i128::from(self.period);
            earliest = earliest.max(i128::from(moment) + over);
        }
        u64::try_from(earliest).expect("no earlier than now")
    }

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

#[derive(Clone, Debug)]
enum Op {
    Admit {
        weight: u64,
        longest: u64,
    },
    Reserve {
        weight: u64,
        longest: u64,
    },
    /// Drops the reservation of this number, from the latest.
    Drop(usize),
    /// Keeps it.
    Keep(usize),
    /// Forward, or back if negative.
    Step(i64),
}

fn op() -> impl Strategy<Value = Op> {
    let longest = prop_oneof![Just(0), 0..60_u64, Just(u64::MAX)];
    prop_oneof![
        3 => (0..6_u64, longest.clone()).prop_map(|(weight, longest)| Op::Admit { weight, longest }),
        4 => (0..6_u64, longest).prop_map(|(weight, longest)| Op::Reserve { weight, longest }),
        3 => (0..4_usize).prop_map(Op::Drop),
        1 => (0..4_usize).prop_map(Op::Keep),
        3 => prop_oneof![4 => 0..40_i64, 1 => -20..0_i64].prop_map(Op::Step),
    ]
}

/// A manual clock with a resolution.
#[derive(Clone)]
struct Stepping(Manual, u64);

impl Clock for Stepping {
    fn now(&self) -> Timestamp {
        self.0.now()
    }

    fn resolution(&self) -> Duration {
        Duration::from_nanos(self.1)
    }
}

/// A reservation that is held: its number among all calls, its moment, its weight.
struct Held<'a> {
    turn: Reservation<'a, Stepping>,
    number: usize,
    moment: u64,
    waits: bool,
}

fn histories(period: u64, burst: u64, resolution: u64, ops: Vec<Op>) -> Result<(), TestCaseError> {
    let clock = Stepping(Manual::default(), resolution);
    let builder = Pace::builder(Duration::from_nanos(period)).burst(burst);
    let pace = builder.clock(clock.clone()).allow_coarse_clock().build().unwrap();
    let mut moments = Moments { period, burst, calls: Vec::new() };
    let mut held: Vec<Held<'_>> = Vec::new();
    let mut now = 1_000;
    clock.0.set(Timestamp::from_nanos(now));
    for op in ops {
        match op {
            Op::Step(by) => {
                now = now.saturating_add_signed(by);
                clock.0.set(Timestamp::from_nanos(now));
            }
            Op::Admit { weight, longest } | Op::Reserve { weight, longest } => {
                let moment = if weight == 0 { now } else { moments.earliest(now, weight) };
                let wait = moment - now;
                let longest_wait = Duration::from_nanos(longest);
                let expected = if weight > burst {
                    Admission::Refused { retry_after: None }
                } else if wait > longest {
                    Admission::Refused { retry_after: Some(Duration::from_nanos(wait)) }
                } else if wait == 0 {
                    Admission::Now
                } else {
                    Admission::After(Duration::from_nanos(wait))
                };
                let number = moments.calls.len();
                if matches!(op, Op::Reserve { .. }) {
                    match pace.reserve(weight, longest_wait) {
                        Ok(turn) => {
                            prop_assert!(expected.is_granted());
                            prop_assert_eq!(turn.wait(), Duration::from_nanos(wait));
                            held.push(Held { turn, number, moment, waits: wait > 0 });
                        }
                        Err(refused) => {
                            let retry_after = refused.retry_after;
                            prop_assert_eq!(Admission::Refused { retry_after }, expected);
                        }
                    }
                } else if longest == 0 {
                    prop_assert_eq!(pace.try_admit(weight), expected.is_granted());
                } else {
                    prop_assert_eq!(pace.admit(weight, longest_wait), expected);
                }
                if expected.is_granted() && weight > 0 {
                    moments.calls.push((moment, weight));
                }
            }
            Op::Drop(from_latest) => {
                let Some(at) = held.len().checked_sub(from_latest + 1) else { continue };
                let Held { turn, number, moment, waits } = held.remove(at);
                // As if it had never been, if nothing is behind it and its turn is still to come.
                let is_last = number + 1 == moments.calls.len();
                let is_given_back = waits && is_last && moment > now + resolution;
                prop_assert_eq!(turn.cancel(), is_given_back);
                if is_given_back {
                    moments.calls.pop();
                }
            }
            Op::Keep(from_latest) => {
                if let Some(at) = held.len().checked_sub(from_latest + 1) {
                    held.remove(at).turn.keep();
                }
            }
        }
        let left = (0..=burst).rev().find(|n| *n == 0 || moments.earliest(now, *n) == now);
        prop_assert_eq!(Some(pace.left()), left);
    }
    for held in held {
        held.turn.keep();
    }
    moments.judge();
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn histories_have_the_moments_that_a_list_has(
        period in 1..20_u64,
        burst in 1..6_u64,
        resolution in prop_oneof![Just(0_u64), 0..10_u64],
        ops in prop::collection::vec(op(), 0..60),
    ) {
        histories(period, burst, resolution, ops)?;
    }
}

const PERIOD: u64 = 1_000;

/// In each round the clock stands still. Threads reserve, give some back and keep others.
#[test]
fn threads_that_give_back_leave_exactly_what_was_kept() {
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
                        turn.cancel()
                    };
                    if !is_given_back {
                        kept.push((moment, 1));
                    }
                }
                barrier.wait();
                // At rest, the end is that of the calls of this round that were not given back.
                let own = kept.iter().filter(|(moment, _)| *moment >= now).count() as u64;
                let ends = pace.idle_after().as_nanos() as u64;
                assert!(ends >= own * PERIOD && ends.is_multiple_of(PERIOD), "{ends} after {own}");
            }
            kept
        };
        let all: Vec<Vec<(u64, u64)>> = thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|n| scope.spawn(move || work(n))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let now = (ROUNDS - 1) * 1_000_000;
        let calls: Vec<_> = all.into_iter().flatten().collect();
        let last = calls.iter().filter(|(moment, _)| *moment >= now).count() as u64;
        assert_eq!(pace.idle_after(), Duration::from_nanos(last * PERIOD));
        Moments { period: PERIOD, burst, calls }.judge();
    }
}

#[test]
fn what_a_pace_cannot_be_is_an_error() {
    let of = |period, burst| Pace::builder(period).burst(burst).build().map(|_| ());
    let second = Duration::from_secs(1);
    assert_eq!(of(Duration::ZERO, 1), Err(PaceError::ZeroPeriod));
    assert_eq!(of(second, 0), Err(PaceError::ZeroBurst));
    let too_long = |period, burst| Err(PaceError::TooLong { period, burst });
    assert_eq!(of(second, u64::MAX), too_long(second, u64::MAX));
    assert_eq!(of(Duration::MAX, 1), too_long(Duration::MAX, 1));
    assert_eq!(of(Duration::from_nanos(1 << 62), 1), Ok(()));
    assert_eq!(of(Duration::from_nanos(1), 1 << 62).err(), None);
    let short = Duration::from_nanos(9);
    let builder = Pace::builder(short).clock(Stepping(Manual::default(), 1));
    let error = builder.clone().build().map(|_| ()).unwrap_err();
    let resolution = Duration::from_nanos(1);
    assert_eq!(error, PaceError::ClockTooCoarse { resolution, span: short });
    assert_eq!(builder.burst(2).build().map(|_| ()), Ok(()));
}

/// The ends of numbers refuse, and do not wrap around.
#[test]
fn time_ends_without_admitting_too_much() {
    let clock = Manual::default();
    let builder = Pace::builder(Duration::from_nanos(1 << 62)).clock(clock.clone());
    let pace = builder.build().unwrap();
    assert!(pace.try_admit(1));
    let wait = Duration::from_nanos(1 << 62);
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
    assert_eq!(pace.idle_after(), Duration::from_nanos(110));

    let turn = pace.reserve(1, Duration::MAX).unwrap();
    clock.0.set(Timestamp::from_nanos(189));
    drop(turn);
    assert_eq!(pace.idle_after(), Duration::from_nanos(11));
}
