//! Paces of one limit and of several: random histories beside limits that are counted one by one,
//! in full precision, from the promises.

use std::ops::RangeInclusive;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use windrow::clock::Manual;
use windrow::gate::Admission;
use windrow::pace::{PaceError, RefusedError, Reservation};
use windrow::{Pace, Paces, Timestamp};

use crate::pace::Stepping;

/// A limit, an interval in nanoseconds, and a burst.
#[derive(Clone, Copy, Debug)]
struct Limit {
    count: u64,
    interval: u64,
    burst: u64,
}

/// The end of each limit, in the unit that makes its period a whole number: a nanosecond divided by
/// the limit.
type Ends = Vec<i128>;

/// The limits, and the calls that they have admitted.
#[derive(Debug)]
struct Model {
    limits: Vec<Limit>,
    ends: Ends,
    /// The moment and the weight of each turn whose caller has given up.
    vacant: Vec<(u64, u64)>,
    /// The latest moment of a turn that was ever vacant.
    latest_vacant: u64,
    /// The moment and the weight of each call that has come at once or keeps its turn.
    calls: Vec<(u64, u64)>,
}

/// The answer to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Expected {
    /// By its own call, which moved the ends from these.
    Taken {
        moment: u64,
        from: Ends,
    },
    Vacant {
        moment: u64,
    },
    Refused(Option<u64>),
}

impl Model {
    /// Returns the ends behind a call, and its moment; `None` if it never fits.
    fn behind(&self, now: u64, n: u64) -> Option<(Ends, u64)> {
        let (mut behind, mut due) = (self.ends.clone(), i128::from(now));
        for (limit, end) in self.limits.iter().zip(&mut behind) {
            let count = i128::from(limit.count);
            if n > limit.burst {
                return None;
            }
            *end = (*end).max(i128::from(now) * count);
            *end += i128::from(n) * i128::from(limit.interval);
            if *end > i128::from(u64::MAX) * count {
                return None;
            }
            let over = *end - i128::from(limit.burst) * i128::from(limit.interval);
            due = due.max(-(-over).div_euclid(count)); // rounded up
        }
        Some((behind, u64::try_from(due).expect("no earlier than now")))
    }

    /// Answers a call that may wait for `longest` by a reading of the clock.
    fn call(&mut self, now: u64, n: u64, longest: Option<u64>) -> Expected {
        if n == 0 {
            return Expected::Taken { moment: now, from: self.ends.clone() };
        }
        let Some((behind, due)) = self.behind(now, n) else { return Expected::Refused(None) };
        if due > now {
            let Some(longest) = longest else { return Expected::Refused(Some(due - now)) };
            let latest = now.saturating_add(longest);
            if let Some(moment) = self.take_vacant(n, now + 1..=latest.min(due - 1)) {
                return Expected::Vacant { moment };
            }
            if due > latest {
                return Expected::Refused(Some(due - now));
            }
        }
        let from = std::mem::replace(&mut self.ends, behind);
        Expected::Taken { moment: due, from }
    }

    /// Takes a weight of the earliest vacant turn that has it, with a moment in `moments`. Forgets
    /// earlier ones, which may come again if the clock steps back; but if all are earlier, there is
    /// no look at them.
    fn take_vacant(&mut self, n: u64, moments: RangeInclusive<u64>) -> Option<u64> {
        if self.latest_vacant < *moments.start() {
            return None;
        }
        self.vacant.retain(|turn| turn.0 >= *moments.start());
        let has_it = |turn: &&mut (u64, u64)| turn.0 <= *moments.end() && turn.1 >= n;
        let turn = self.vacant.iter_mut().filter(has_it).min_by_key(|turn| turn.0)?;
        turn.1 -= n;
        let moment = turn.0;
        self.vacant.retain(|turn| turn.1 > 0);
        Some(moment)
    }

    /// Gives a turn back: as if it had never been, if no call is behind it.
    /// Otherwise it is vacant, unless it is at the end of time. Returns whether it is given back.
    fn give_back(&mut self, now: u64, held: &mut Held<'_>) -> bool {
        match held.undo.take() {
            Some((from, to)) if self.ends == to => self.ends = from,
            _ if held.moment == u64::MAX => return false,
            _ => {
                self.latest_vacant = self.latest_vacant.max(held.moment);
                self.vacant.retain(|turn| turn.0 >= now);
                match self.vacant.iter_mut().find(|turn| turn.0 == held.moment) {
                    Some(turn) => turn.1 += held.weight,
                    None => self.vacant.push((held.moment, held.weight)),
                }
            }
        }
        true
    }

    /// Panics if the calls of some span are above some limit.
    fn judge(mut self) {
        self.calls.sort_unstable();
        for limit in &self.limits {
            for first in 0..self.calls.len() {
                let mut weight = 0;
                for (moment, n) in &self.calls[first..] {
                    weight += n;
                    let span = u128::from(moment - self.calls[first].0) + 1; // both included
                    // A moment is rounded up, but not that of one limit of whole periods.
                    let is_whole = limit.interval.is_multiple_of(limit.count);
                    let span = if is_whole && self.limits.len() == 1 { span - 1 } else { span };
                    let periods = span * u128::from(limit.count) / u128::from(limit.interval);
                    let most = u128::from(limit.burst) + periods;
                    assert!(u128::from(weight) <= most, "{weight} in {span} ns under {limit:?}");
                }
            }
        }
    }
}

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
    /// The ends before its own call, and behind it.
    undo: Option<(Ends, Ends)>,
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
    let idle = if idle > 0 { idle.saturating_add(resolution) } else { 0 };
    prop_assert_eq!(limiter.idle_after(), Duration::from_nanos(idle));
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
    let mut model = Model {
        ends: vec![0; limits.len()],
        limits: limits.to_vec(),
        vacant: Vec::new(),
        latest_vacant: 0,
        calls: Vec::new(),
    };
    let mut held: Vec<Held<'_>> = Vec::new();
    let mut now = origin;
    for op in ops {
        let at = |from_latest: usize| held.len().checked_sub(from_latest + 1);
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
                let told = |wait: u64| Duration::from_nanos(wait.saturating_add(resolution));
                let moment = match expected {
                    Expected::Taken { moment, .. } | Expected::Vacant { moment } => Ok(moment),
                    Expected::Refused(wait) => Err(wait.map(told)),
                };
                let wait = |moment| if moment > now { told(moment - now) } else { Duration::ZERO };
                if is_reserved {
                    let reserved = limiter.reserve(weight, max_wait);
                    let found = reserved.as_ref().map(Reservation::wait);
                    prop_assert_eq!(found.map_err(|error| error.retry_after), moment.map(wait));
                    if let (Ok(turn), Ok(moment)) = (reserved, moment) {
                        let undo = match expected {
                            Expected::Taken { from, .. } => Some((from, model.ends.clone())),
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
                model.calls.extend(moment.ok().map(|moment| (moment, weight)));
            }
            Op::Cancel(from_latest) => {
                let Some(at) = at(from_latest) else { continue };
                let mut it = held.remove(at);
                let is_early = it.waits && it.moment > now.saturating_add(resolution);
                let is_given_back = is_early && model.give_back(now, &mut it);
                if !is_given_back {
                    model.calls.push((it.moment, it.weight));
                }
                prop_assert_eq!(it.turn.cancel(), is_given_back);
            }
            Op::Keep(from_latest) => {
                let Some(at) = at(from_latest) else { continue };
                let Held { turn, weight, moment, .. } = held.remove(at);
                turn.keep();
                model.calls.push((moment, weight));
            }
            Op::MoveUp(from_latest) => {
                let Some(at) = at(from_latest) else { continue };
                let it = &mut held[at];
                if it.waits && it.moment > now {
                    let earlier = now..=it.moment - 1;
                    if let Some(earlier) = model.take_vacant(it.weight, earlier) {
                        model.give_back(now, it);
                        it.moment = earlier;
                    }
                }
                let rest = it.moment.saturating_sub(now);
                let rest = if rest > 0 { rest.saturating_add(resolution) } else { 0 };
                prop_assert_eq!(it.turn.move_up(), Duration::from_nanos(rest));
            }
        }
        check_rest(&limiter, &model, now, resolution)?;
    }
    model.calls.extend(held.iter().map(|it| (it.moment, it.weight)));
    for it in held {
        it.turn.keep();
    }
    model.judge();
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

/// Threads share two limits: nothing is taken by what one of them refuses.
#[test]
fn threads_get_exactly_what_both_limits_permit() {
    const THREADS: usize = 4;
    let (clock, second) = (Manual::default(), Duration::from_secs(1));
    let builder = Paces::builder().limit(10, second).limit(200, 60 * second);
    let paces = builder.clock(clock.clone()).build().unwrap();
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

/// Sixteen threads exchange at once, so more sheets are needed than there are at first.
#[test]
fn many_threads_get_each_moment_once() {
    let builder = Paces::builder().limit_with_burst(10, Duration::from_secs(1), 1);
    let paces = builder.limit(1_000_000, Duration::from_secs(60)).clock(Manual::default());
    let paces = paces.build().unwrap();
    let work = || {
        let reserve = || paces.reserve(1, Duration::MAX).unwrap();
        let turns = (0..500).map(|_| reserve());
        turns.map(|turn| (turn.wait(), turn.keep()).0).collect::<Vec<_>>()
    };
    let mut all: Vec<Duration> = thread::scope(|scope| {
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    all.sort_unstable();
    assert!(all.into_iter().eq((0..16 * 500).map(|at| at * Duration::from_millis(100))));
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
    let long = Duration::from_nanos((1 << 62) + 1);
    let too_long = PaceError::TooLong { period: long, burst: 1 };
    assert_eq!(error(Paces::builder().limit(1, long)), too_long);
    let coarse = Paces::builder().limit(1, Duration::from_nanos(100));
    assert!(matches!(error(coarse), PaceError::ClockTooCoarse { .. }));
    // The clock is too coarse for the burst, not for the interval.
    let small = Paces::builder().limit_with_burst(1_000, second, 1);
    assert!(matches!(error(small), PaceError::ClockTooCoarse { .. }));
}

/// Every usual set of limits can be built: none depends on how numbers divide.
#[test]
fn limits_of_all_usual_sets_are_built() {
    let intervals = [1, 60, 3_600, 86_400].map(Duration::from_secs);
    let counts = [1, 2, 3, 7, 10, 997, 1_009, 200_000, 10_000_000, 999_999_937, 1_000_000_000];
    for first in counts {
        for second in counts {
            let limits = [first, second, second / 2 + 1, first / 2 + 1];
            for length in 1..=4 {
                let limits = limits.into_iter().zip(intervals).take(length);
                let add = |builder: windrow::pace::PacesBuilder, (count, interval)| {
                    builder.limit(count, interval)
                };
                let paces = limits.fold(Paces::builder(), add).build().unwrap();
                assert!(paces.try_admit(1));
            }
        }
    }
}

/// A clock that is behind the time of the building is like any other, and one that has leapt is,
/// too.
#[test]
fn a_clock_that_was_set_does_not_stop_limits() {
    let in_the_year = |year: u64| Timestamp::from_secs((year - 1970) * 31_556_952);
    for (built, set) in [(2026, 2025), (2026, 1970), (1970, 2026), (1970, 2500), (2026, 2027)] {
        let (clock, second) = (Manual::default(), Duration::from_secs(1));
        clock.set(in_the_year(built));
        let builder = Paces::builder().limit(10, second).limit(200, 60 * second);
        let paces = builder.clock(clock.clone()).build().unwrap();
        clock.set(in_the_year(set));
        let mut admitted = 0;
        for _ in 0..60 {
            admitted += (0..20).filter(|_| paces.try_admit(1)).count();
            clock.advance(second);
        }
        assert_eq!(admitted, 200 + 59 * 10 / 3, "built in {built}, set to {set}");
    }
}

/// At the end of time, no call is admitted that would go beyond it.
#[test]
fn the_end_of_time_admits_no_more() {
    let clock = Manual::default();
    clock.set(Timestamp::from_nanos(u64::MAX));
    let builder = Paces::builder().limit(10, Duration::from_secs(1)).clock(clock.clone());
    let paces = builder.limit(200, Duration::from_secs(60)).build().unwrap();
    assert_eq!(paces.admit(1, Duration::MAX), Admission::Refused { retry_after: None });
    clock.set(Timestamp::from_nanos(u64::MAX - 1));
    assert!(!paces.try_admit(1));
}
