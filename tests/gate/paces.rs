//! Paces of one limit and of several: random histories beside limits that are counted one by one,
//! in full precision, from the promises.

use std::time::Duration;

use proptest::prelude::*;
use windrow::clock::Manual;
use windrow::gate::Admission;
use windrow::pace::{RefusedError, Reservation};
use windrow::{LimitError, Pace, Paces, Timestamp};

use crate::pace::Stepping;

mod model;

use model::{Expected, Limit, Model, Undo};

#[derive(Clone, Debug)]
enum Op {
    Admit {
        weight: u64,
        longest: u64,
        is_reserved: bool,
    },
    /// Gives the reservation of this number back, from the latest.
    Cancel(usize),
    Keep(usize),
    MoveUp(usize),
    /// Changes one of the limits.
    Change(usize, Limit),
    /// Forward, or back if negative, in thousandths of the shortest interval.
    Step(i64),
    /// To any time.
    Leap(u64),
}

fn op() -> impl Strategy<Value = Op> {
    let longest = prop_oneof![Just(0), 0..4_000_u64, Just(u64::MAX)];
    let leap = prop_oneof![
        Just(0),
        Just(u64::MAX),
        (0..2_000_000_000_u64).prop_map(|back| u64::MAX - back),
        0..u64::MAX / 4
    ];
    prop_oneof![
        30 => (0..5_u64, longest, any::<bool>())
            .prop_map(|(weight, longest, is_reserved)| Op::Admit { weight, longest, is_reserved }),
        8 => (0..6_usize).prop_map(Op::Cancel),
        4 => (0..6_usize).prop_map(Op::Keep),
        6 => (0..6_usize).prop_map(Op::MoveUp),
        15 => prop_oneof![
            6 => 0..400_i64,
            2 => 0..20_000_i64,
            1 => -300..0_i64,
            1 => -20_000..0_i64,
        ].prop_map(Op::Step),
        1 => leap.prop_map(Op::Leap),
        4 => (0..4_usize, limit()).prop_map(|(at, limit)| Op::Change(at, limit)),
    ]
}

fn limit() -> impl Strategy<Value = Limit> {
    let interval = prop_oneof![Just(1_000), Just(60_000), Just(86_400_000), 500..5_000_u64];
    let count = prop_oneof![4 => 1..40_u64, 1 => Just(1_000_003), 1 => Just(999_999_937)];
    (count, interval, 0..40_u64).prop_map(|(count, millis, burst)| Limit {
        count,
        interval: millis * 1_000_000,
        burst: if burst == 0 { count } else { burst },
    })
}

/// Either of the two types; a [`Pace`] if there is one limit with a period of whole nanoseconds.
#[allow(clippy::large_enum_variant)] // one of each test
enum Limiter {
    One(Pace<Stepping>),
    Several(Paces<Stepping>),
}

impl Limiter {
    fn new(limits: &[Limit], clock: Stepping, is_pace: bool) -> Limiter {
        if let (true, [Limit { count, interval, burst }]) = (is_pace, limits)
            && interval.is_multiple_of(*count)
        {
            let builder = Pace::builder(Duration::from_nanos(interval / count)).burst(*burst);
            return Limiter::One(builder.clock(clock).allow_coarse_clock().build().unwrap());
        }
        let builder = limits.iter().fold(Paces::builder(), |builder, limit| {
            let Limit { count, interval, burst } = *limit;
            builder.limit_with_burst(count, Duration::from_nanos(interval), burst)
        });
        Limiter::Several(builder.clock(clock).allow_coarse_clock().build().unwrap())
    }

    fn admit(&self, weight: u64, longest: Duration) -> Admission {
        match self {
            Limiter::One(pace) => pace.admit(weight, longest),
            Limiter::Several(paces) => paces.admit(weight, longest),
        }
    }

    /// Returns false if the kind cannot have the limit.
    fn change(&self, at: usize, limit: Limit) -> Option<Result<(), LimitError>> {
        let Limit { count, interval, burst } = limit;
        match self {
            Limiter::One(pace) if limit.is_whole() => {
                let (period, now) = (Duration::from_nanos(interval / count), pace.quota());
                if now.burst == burst {
                    return Some(pace.set_rate(period));
                }
                if now.refill.as_nanos() == period.as_nanos() * u128::from(now.burst) {
                    return Some(pace.set_burst(burst));
                }
                Some(pace.reconfigure(period, burst))
            }
            Limiter::One(_) => None,
            Limiter::Several(paces) => {
                let interval = Duration::from_nanos(interval);
                Some(paces.set_limit_with_burst(at, count, interval, burst))
            }
        }
    }

    fn try_admit(&self, weight: u64) -> bool {
        match self {
            Limiter::One(pace) => pace.try_admit(weight),
            Limiter::Several(paces) => paces.try_admit(weight),
        }
    }

    fn reserve(
        &self,
        weight: u64,
        longest: Duration,
    ) -> Result<Reservation<'_, Stepping>, RefusedError> {
        match self {
            Limiter::One(pace) => pace.reserve(weight, longest),
            Limiter::Several(paces) => paces.reserve(weight, longest),
        }
    }

    fn left(&self) -> u64 {
        match self {
            Limiter::One(pace) => pace.left(),
            Limiter::Several(paces) => paces.left(),
        }
    }

    fn idle_after(&self) -> Duration {
        match self {
            Limiter::One(pace) => pace.idle_after(),
            Limiter::Several(paces) => paces.idle_after(),
        }
    }
}

/// A reservation that is held.
struct Held<'a> {
    turn: Reservation<'a, Stepping>,
    weight: u64,
    moment: u64,
    /// Its turn did not come at once.
    waits: bool,
    undo: Option<Undo>,
}

/// Returns what a caller is told to wait for a moment that is this far from the clock's reading.
fn until(distance: u64, resolution: u64) -> Duration {
    let told = Duration::from_nanos(distance) + Duration::from_nanos(resolution);
    if distance > 0 { told } else { Duration::ZERO }
}

/// Checks what a limiter says to be left, and the time until all is.
fn check_rest(
    limiter: &Limiter,
    model: &Model,
    now: u64,
    resolution: u64,
) -> Result<(), TestCaseError> {
    let most = model.limits.iter().map(|limit| limit.burst).min().expect("there is one");
    let is_now = |n: u64| n == 0 || model.behind(now, n).is_some_and(|(_, due)| due == now);
    let left = limiter.left();
    prop_assert!(is_now(left) && (left == most || !is_now(left + 1)), "{}", left);
    let ends = model.ends.iter().zip(&model.limits);
    let ends = ends.map(|(end, limit)| -(-end).div_euclid(i128::from(limit.count)));
    let idle = ends.max().expect("there is one") - i128::from(now);
    let idle = u64::try_from(idle).unwrap_or(0);
    prop_assert_eq!(limiter.idle_after(), until(idle, resolution));
    Ok(())
}

/// Changes a limit of both, and checks that they agree.
fn check_change(
    limiter: &Limiter,
    model: &mut Model,
    (now, resolution): (u64, u64),
    at: usize,
    limit: Limit,
) -> Result<(), TestCaseError> {
    let span = u128::from(limit.burst) * u128::from(limit.interval);
    let is_fine = u128::from(resolution) <= span.div_ceil(u128::from(limit.count)) / 10;
    match limiter.change(at, limit) {
        None => {}
        Some(Err(LimitError::ClockTooCoarse { .. })) => prop_assert!(!is_fine),
        Some(changed) => {
            let is_too_much = matches!(changed, Err(LimitError::TooMuchInUse { .. }));
            prop_assert_eq!(model.change(now, at, limit), changed.is_ok());
            prop_assert_eq!(is_too_much, changed.is_err());
        }
    }
    Ok(())
}

fn history(
    limits: &[Limit],
    is_pace: bool,
    origin: u64,
    resolution: u64,
    ops: Vec<Op>,
) -> Result<(), TestCaseError> {
    let clock = Stepping(Manual::default(), resolution);
    clock.0.set(Timestamp::from_nanos(origin));
    let limiter = Limiter::new(limits, clock.clone(), is_pace);
    let shortest = limits.iter().map(|limit| limit.interval).min().expect("there is one");
    let mut model = Model::new(limits, matches!(limiter, Limiter::One(_)));
    let mut held: Vec<Held<'_>> = Vec::new();
    let (mut now, mut has_stepped_back) = (origin, false);
    for op in ops {
        let at = |from_latest: usize| held.len().checked_sub(from_latest + 1);
        let before = now;
        match op {
            Op::Step(by) => {
                now = now.saturating_add_signed(by * (shortest / 1_000).cast_signed());
                clock.0.set(Timestamp::from_nanos(now));
            }
            Op::Leap(to) => {
                now = to;
                clock.0.set(Timestamp::from_nanos(now));
            }
            Op::Admit { weight, longest, is_reserved } => {
                let longest = longest.saturating_mul(shortest / 1_000);
                let max_wait = Duration::from_nanos(longest);
                // What a caller is told has the clock's resolution, too.
                let within = (longest > 0).then_some(longest.saturating_sub(resolution));
                let expected = model.call(now, weight, within);
                let told = |wait| until(wait, resolution);
                let moment = match expected {
                    Expected::Taken { moment, .. } | Expected::Vacant { moment } => Ok(moment),
                    Expected::Refused(wait) => Err(wait.map(told)),
                };
                let wait = |moment| told(moment - now);
                if is_reserved {
                    let reserved = limiter.reserve(weight, max_wait);
                    let found = reserved.as_ref().map(Reservation::wait);
                    prop_assert_eq!(found.map_err(|error| error.retry_after), moment.map(wait));
                    if let (Ok(turn), Ok(moment)) = (reserved, moment) {
                        let undo = match expected {
                            Expected::Taken { undo, .. } => undo,
                            _ => None,
                        };
                        held.push(Held { turn, weight, moment, waits: moment > now, undo });
                    }
                    continue;
                }
                if longest == 0 {
                    prop_assert_eq!(limiter.try_admit(weight), moment.is_ok());
                } else {
                    let expected = match moment {
                        Ok(moment) if moment == now => Admission::Now,
                        Ok(moment) => Admission::After(wait(moment)),
                        Err(retry_after) => Admission::Refused { retry_after },
                    };
                    prop_assert_eq!(limiter.admit(weight, max_wait), expected);
                }
            }
            Op::Cancel(from_latest) => {
                let Some(at) = at(from_latest) else { continue };
                let mut it = held.remove(at);
                let is_early = it.waits && it.moment > now.saturating_add(resolution);
                let turn = (it.moment, it.weight);
                let is_given_back = is_early && model.give_back(now, turn, it.undo.take());
                if is_early {
                    prop_assert_eq!(it.turn.settle(0), is_given_back);
                } else {
                    drop(it.turn); // it counts as used
                }
            }
            Op::Keep(from_latest) => {
                let Some(at) = at(from_latest) else { continue };
                held.remove(at).turn.keep();
            }
            Op::MoveUp(from_latest) => {
                let Some(at) = at(from_latest) else { continue };
                let it = &mut held[at];
                if it.waits && it.moment > now {
                    let earlier = now..=it.moment - 1;
                    if let Some(earlier) = model.take_vacant(it.weight, earlier) {
                        model.give_back(now, (it.moment, it.weight), it.undo.take());
                        it.moment = earlier;
                    }
                }
                let rest = it.moment.saturating_sub(now);
                prop_assert_eq!(it.turn.move_up(), until(rest, resolution));
            }
            Op::Change(at, limit) => {
                check_change(&limiter, &mut model, (now, resolution), at % limits.len(), limit)?;
            }
        }
        has_stepped_back |= now < before;
        check_rest(&limiter, &model, now, resolution)?;
    }
    for it in held {
        it.turn.keep();
    }
    model.judge(!has_stepped_back);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn histories_have_what_limits_in_full_precision_have(
        limits in prop::collection::vec(limit(), 1..=4),
        is_pace in any::<bool>(),
        origin in prop_oneof![Just(0), Just(1_790_000_000_000_000_000_u64)],
        resolution in prop_oneof![Just(0_u64), Just(4_000_000), Just(1_000_000_000)],
        ops in prop::collection::vec(op(), 0..80),
    ) {
        history(&limits, is_pace, origin, resolution, ops)?;
    }
}
