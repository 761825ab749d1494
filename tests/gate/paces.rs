//! Several limits at once: random histories beside limits that are counted one by one, in full
//! precision.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use windrow::clock::Manual;
use windrow::gate::Admission;
use windrow::pace::{PaceError, Quota, Reservation};
use windrow::{Paces, Timestamp};

/// A limit, an interval in nanoseconds, and a burst.
#[derive(Clone, Copy, Debug)]
struct Limit {
    count: u64,
    interval: u64,
    burst: u64,
}

/// The end of each limit, in the unit that makes its period a whole number: a nanosecond divided by
/// the limit.
#[derive(Clone, Debug)]
struct Ends {
    limits: Vec<Limit>,
    ends: Vec<i128>,
}

impl Ends {
    /// Returns the ends behind a call, and its moment in quanta; `None` if it is above a burst.
    fn behind(&self, now: u64, quantum: u64, n: u64) -> Option<(Ends, u64)> {
        let (mut behind, mut due) = (self.clone(), i128::from(now));
        for (limit, end) in self.limits.iter().zip(&mut behind.ends) {
            if n > limit.burst {
                return None;
            }
            let per_quantum = i128::from(limit.count) * i128::from(quantum);
            *end = (*end).max(i128::from(now) * per_quantum);
            *end += i128::from(n) * i128::from(limit.interval);
            let over = *end - i128::from(limit.burst) * i128::from(limit.interval);
            due = due.max(-(-over).div_euclid(per_quantum)); // rounded up
        }
        Some((behind, u64::try_from(due).expect("no earlier than now")))
    }
}

/// Panics if the calls of some span, by their moments in quanta, are above some limit.
fn judge(limits: &[Limit], quantum: u64, mut calls: Vec<(u64, u64)>) {
    calls.sort_unstable();
    for limit in limits {
        for first in 0..calls.len() {
            let mut weight = 0;
            for (moment, n) in &calls[first..] {
                weight += n;
                let span = u128::from(moment - calls[first].0 + 1); // in quanta, both included
                let periods = (span + 1) * u128::from(quantum) * u128::from(limit.count);
                let most = u128::from(limit.burst) + periods / u128::from(limit.interval);
                assert!(u128::from(weight) <= most, "{weight} in {span} quanta under {limit:?}");
            }
        }
    }
}

#[derive(Clone, Debug)]
enum Op {
    Admit {
        weight: u64,
        longest: u64,
        is_kept: bool,
    },
    /// Gives the reservation of this number back, from the latest.
    Cancel(usize),
    /// Forward, or back if negative, in thousandths of the shortest interval.
    Step(i64),
}

fn op() -> impl Strategy<Value = Op> {
    let longest = prop_oneof![Just(0), 0..400_u64, Just(u64::MAX)];
    prop_oneof![
        6 => (0..5_u64, longest, any::<bool>())
            .prop_map(|(weight, longest, is_kept)| Op::Admit { weight, longest, is_kept }),
        2 => (0..3_usize).prop_map(Op::Cancel),
        3 => prop_oneof![6 => 0..400_i64, 2 => 0..20_000_i64, 1 => -300..0_i64].prop_map(Op::Step),
    ]
}

fn limit() -> impl Strategy<Value = Limit> {
    let interval = prop_oneof![Just(1_000), Just(60_000), 500..5_000_u64];
    (1..40_u64, interval, 0..40_u64).prop_map(|(count, millis, burst)| Limit {
        count,
        interval: millis * 1_000_000,
        burst: if burst == 0 { count } else { burst },
    })
}

/// Returns limits on a manual clock; `None` if they do not fit one word.
fn paces(limits: &[Limit], clock: &Manual) -> Option<Paces<Manual>> {
    let builder = limits.iter().fold(Paces::builder(), |builder, limit| {
        let Limit { count, interval, burst } = *limit;
        builder.limit_with_burst(count, Duration::from_nanos(interval), burst)
    });
    match builder.clock(clock.clone()).build() {
        Ok(paces) => Some(paces),
        Err(error) => {
            assert!(matches!(error, PaceError::TooFine { .. }), "{error}");
            None
        }
    }
}

fn history(limits: &[Limit], origin: u64, ops: Vec<Op>) -> Result<(), TestCaseError> {
    let clock = Manual::default();
    clock.set(Timestamp::from_nanos(origin));
    let Some(paces) = paces(limits, &clock) else { return Ok(()) };
    let quantum = paces.quantum().as_nanos() as u64;
    let shortest = limits.iter().map(|limit| limit.interval).min().expect("there is one");
    let mut ends = Ends { ends: vec![0; limits.len()], limits: limits.to_vec() };
    // The calls, each with the ends before it; and the reservations that are held, by number.
    let mut calls: Vec<(u64, u64, Ends)> = Vec::new();
    let mut held: Vec<(usize, u64, Reservation<'_, Manual>)> = Vec::new();
    let mut now = origin;
    for op in ops {
        match op {
            Op::Step(by) => {
                let by = by * (shortest / 1_000).cast_signed();
                now = now.saturating_add_signed(by).max(origin);
                clock.set(Timestamp::from_nanos(now));
            }
            Op::Admit { weight, longest, is_kept } => {
                let longest = longest.saturating_mul(shortest / 1_000);
                let quanta = (now - origin) / quantum;
                let expected = match ends.behind(quanta, quantum, weight) {
                    _ if weight == 0 => Ok(0),
                    None => Err(None),
                    Some((_, due)) if due == quanta => Ok(0),
                    Some((_, due)) => {
                        let wait = origin + due * quantum - now;
                        if wait > longest.min(shortest) { Err(Some(wait)) } else { Ok(wait) }
                    }
                };
                let max_wait = Duration::from_nanos(longest);
                if is_kept {
                    let admission = match expected {
                        Ok(0) => Admission::Now,
                        Ok(wait) => Admission::After(Duration::from_nanos(wait)),
                        Err(wait) => {
                            Admission::Refused { retry_after: wait.map(Duration::from_nanos) }
                        }
                    };
                    prop_assert_eq!(paces.admit(weight, max_wait), admission);
                } else {
                    let reserved = paces.reserve(weight, max_wait);
                    let found = reserved.as_ref().map(|turn| turn.wait().as_nanos() as u64);
                    let found = found.map_err(|error| error.retry_after);
                    prop_assert_eq!(found, expected.map_err(|wait| wait.map(Duration::from_nanos)));
                    if let Ok(turn) = reserved {
                        let moment =
                            if turn.wait().is_zero() { 0 } else { now + found.unwrap_or(0) };
                        held.push((calls.len(), moment, turn));
                    }
                }
                if expected.is_ok() && weight > 0 {
                    let (behind, due) = ends.behind(quanta, quantum, weight).expect("it fits");
                    calls.push((due, weight, std::mem::replace(&mut ends, behind)));
                }
            }
            Op::Cancel(from_latest) => {
                let Some(at) = held.len().checked_sub(from_latest + 1) else { continue };
                let (number, moment, turn) = held.remove(at);
                let is_given_back = number + 1 == calls.len() && moment > now;
                prop_assert_eq!(turn.cancel(), is_given_back);
                if is_given_back {
                    ends = calls.pop().expect("it is the last").2;
                }
            }
        }
        let quanta = (now - origin) / quantum;
        let is_now =
            |n: &u64| ends.behind(quanta, quantum, *n).is_some_and(|(_, due)| due == quanta);
        let left = (1..=40).take_while(is_now).last().unwrap_or(0);
        prop_assert_eq!(paces.left(), left);
        let quotas: Vec<Quota> = paces.quotas().collect();
        prop_assert_eq!(quotas.iter().map(|quota| quota.left).min(), Some(left));
        for (quota, limit) in quotas.iter().zip(limits) {
            let refill = u128::from(limit.burst) * u128::from(limit.interval);
            let refill = refill.div_ceil(u128::from(limit.count));
            prop_assert_eq!((quota.burst, quota.refill.as_nanos()), (limit.burst, refill));
        }
    }
    for (_, _, turn) in held {
        turn.keep();
    }
    judge(limits, quantum, calls.into_iter().map(|(due, n, _)| (due, n)).collect());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn histories_have_what_limits_in_full_precision_have(
        limits in prop::collection::vec(limit(), 1..4),
        origin in prop_oneof![Just(0), Just(1_790_000_000_000_000_000_u64)],
        ops in prop::collection::vec(op(), 0..60),
    ) {
        history(&limits, origin, ops)?;
    }
}

/// Threads share two limits: nothing is taken by what one of them refuses.
#[test]
fn threads_get_exactly_what_both_limits_permit() {
    const THREADS: usize = 4;
    let clock = Manual::default();
    let second = Limit { count: 10, interval: 1_000_000_000, burst: 10 };
    let minute = Limit { count: 200, interval: 60_000_000_000, burst: 200 };
    let paces = paces(&[second, minute], &clock).expect("they fit");
    let barrier = Barrier::new(THREADS);
    let work = &|| {
        let mut admitted = 0;
        for round in 0..60 {
            barrier.wait();
            clock.set(Timestamp::from_secs(round));
            barrier.wait();
            admitted += (0..20).filter(|_| paces.try_admit(1)).count();
        }
        admitted
    };
    let admitted: usize = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(admitted, 200 + 59 * 10 / 3);
}

#[test]
fn what_limits_cannot_be_is_an_error() {
    let second = Duration::from_secs(1);
    let error = |builder: windrow::pace::PacesBuilder| builder.build().map(|_| ()).unwrap_err();
    assert_eq!(error(Paces::builder()), PaceError::NoLimits);
    assert_eq!(error(Paces::builder().limit(0, second)), PaceError::ZeroLimit);
    assert_eq!(error(Paces::builder().limit(1, Duration::ZERO)), PaceError::ZeroPeriod);
    assert_eq!(error(Paces::builder().limit_with_burst(1, second, 0)), PaceError::ZeroBurst);
    let five = (1..=5).fold(Paces::builder(), |builder, limit| builder.limit(limit, second));
    assert_eq!(error(five), PaceError::TooManyLimits { limits: 5, most: 4 });
    let days = Paces::builder().limit(7, second).limit(1_000_003, 86_399 * second);
    let too_fine = PaceError::TooFine { shortest: second, max_wait: second };
    assert_eq!(error(days.limit(1_000_003, 86_399 * second)), too_fine);
    let coarse = Paces::builder().limit(1, Duration::from_nanos(100));
    assert!(matches!(error(coarse), PaceError::ClockTooCoarse { .. }));
}

/// After its time the word refuses, and does not wrap around.
#[test]
fn a_word_that_has_ended_refuses() {
    let clock = Manual::default();
    let limit = Limit { count: 10, interval: 1_000_000_000, burst: 10 };
    let paces = paces(&[limit], &clock).expect("it fits");
    clock.set(Timestamp::from_secs(30 * 365 * 86_400));
    assert!(paces.try_admit(10));
    clock.set(Timestamp::from_nanos(u64::MAX));
    assert_eq!(paces.admit(1, Duration::MAX), Admission::Refused { retry_after: None });
    assert_eq!(paces.left(), 0);
}
