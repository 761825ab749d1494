//! Calls of paces that are settled at what they have cost.
//!
//! The model has each call with its moment, and the weight at which it was settled. It checks each
//! span of time; and that a pace is never ahead of one whose calls had asked for these weights.

use std::time::Duration;

use testkit::{Rng, clock_at, ns, rounds};
use windrow::clock::Manual;
use windrow::gate::{Admission, Reservation};
use windrow::{Clock, Pace, Paces};

/// A call, in the order of exchanges.
#[derive(Clone, Copy, Debug)]
struct Call {
    read: u64,
    moment: u64,
    /// The weight that was reserved.
    weight: u64,
    /// The periods that it takes, in nanoseconds: those of its cost, and of what was not given
    /// back.
    takes: u64,
    /// It was charged: it comes one unit after the other.
    is_charge: bool,
}

/// Returns the end that a pace would have if its calls had asked for these weights.
fn as_if(calls: &[Call]) -> u64 {
    calls.iter().filter(|it| it.takes > 0).fold(0, |end: u64, it| end.max(it.read) + it.takes)
}

/// Checks each span of time.
fn check_spans(calls: &[Call], period: u64, burst: u64) -> Result<(), String> {
    let mut calls: Vec<_> = calls.iter().filter(|it| !it.is_charge && it.takes > 0).collect();
    calls.sort_by_key(|it| it.moment);
    for (at, first) in calls.iter().enumerate() {
        let mut takes = 0;
        for last in &calls[at..] {
            takes += last.takes;
            let most = burst * period + (last.moment - first.moment);
            if takes > most {
                return Err(format!("{takes} of {most} from {first:?} to {last:?}"));
            }
        }
    }
    Ok(())
}

struct Held<'a> {
    turn: Reservation<'a, Manual>,
    at: usize,
    waits: bool,
    gives_back: bool,
}

/// The end of a pace, by what it promises to give back.
struct Ends {
    end: u64,
    given: u64,
    told: u64,
}

impl Ends {
    /// Gives back at most `most` of a call, by the end that it made and what was given back until
    /// then. Returns what it has given back.
    fn give_back(&mut self, (end, given): (u64, u64), most: u64, now: u64) -> u64 {
        let since = self.given - given;
        if since == 0 && end == self.end {
            self.end -= most;
            return most;
        }
        let free = end.saturating_sub(since).saturating_sub(now.max(self.told)).min(most);
        self.end -= free;
        self.given += free;
        free
    }
}

fn schedule(seed: u64) -> Result<(), String> {
    let mut random = Rng::with_seed(seed);
    let (period, burst) = (random.u64(1..20), random.u64(1..30));
    let waits = random.bool();
    let clock = Manual::default();
    let pace = Pace::builder(ns(period)).burst(burst).clock(clock.clone());
    let pace = pace.allow_coarse_clock().build().expect("a valid pace");
    let mut ends = Ends { end: 0, given: 0, told: 0 };
    let (mut calls, mut made, mut held) = (vec![], vec![], Vec::<Held<'_>>::new());
    for _ in 0..random.u32(1..60) {
        let now = clock.now().as_nanos();
        match random.u32(..20) {
            0..8 => {
                let n = random.u64(1..=burst);
                let longest = if waits { random.u64(..=2 * burst * period) } else { 0 };
                let end = ends.end.max(now) + n * period;
                let due = now.max(end.saturating_sub(burst * period));
                let Ok(turn) = pace.reserve(n, ns(longest)) else {
                    if due <= now + longest {
                        return Err(format!("{n} at {now} is refused: due at {due}"));
                    }
                    continue;
                };
                let moment = now + turn.wait().as_nanos() as u64;
                if moment != due {
                    return Err(format!("{n} at {now} comes at {moment}, not {due}"));
                }
                ends.end = end;
                ends.told = ends.told.max(end.saturating_sub(burst * period));
                let gives_back = random.bool();
                let turn = if gives_back { turn.or_give_back() } else { turn };
                held.push(Held { turn, at: calls.len(), waits: moment > now, gives_back });
                calls.push(Call {
                    read: now,
                    moment,
                    weight: n,
                    takes: n * period,
                    is_charge: false,
                });
                made.push((end, ends.given));
            }
            8..15 if !held.is_empty() => {
                let Held { turn, at, waits, gives_back } =
                    held.swap_remove(random.usize(..held.len()));
                if waits && calls[at].moment > now {
                    turn.keep(); // other tests have turns that are given back before they come
                    continue;
                }
                let weight = calls[at].weight;
                let most = if random.bool() { weight } else { 3 * burst };
                let (kind, mut actual) = (random.u32(..4), random.u64(..=most));
                match kind {
                    0 => {
                        actual = if gives_back { 0 } else { weight };
                        drop(turn);
                    }
                    1 => {
                        actual = 0;
                        turn.settle(0);
                    }
                    _ => _ = turn.settle(actual),
                }
                if let Some(more) = actual.checked_sub(weight) {
                    ends.end = if more > 0 { ends.end.max(now) } else { ends.end } + more * period;
                    calls.push(Call {
                        read: now,
                        moment: now,
                        weight: more,
                        takes: more * period,
                        is_charge: true,
                    });
                    made.push((0, 0));
                    continue;
                }
                calls[at].takes -= ends.give_back(made[at], (weight - actual) * period, now);
            }
            15 => clock.advance(ns(random.u64(..=3 * burst * period))),
            _ => clock.advance(ns(random.u64(..=2 * period))),
        }
        let now = clock.now().as_nanos();
        let end = now + pace.idle_after().as_nanos() as u64;
        if end != ends.end.max(now) {
            return Err(format!("ends at {end}, not {}", ends.end));
        }
        if ends.end.max(now) < as_if(&calls) {
            return Err(format!("{} is ahead of {}", ends.end, as_if(&calls)));
        }
        check_spans(&calls, period, burst)?;
    }
    for it in held {
        it.turn.keep();
    }
    Ok(())
}

#[test]
fn spans_of_time_keep_the_pace_whatever_is_settled() {
    for seed in 0..rounds(20_000) {
        assert_eq!(schedule(seed), Ok(()), "in the schedule of seed {seed}");
    }
}

const SECOND: Duration = Duration::from_secs(1);

/// Ten at once, and one a second.
fn pace(clock: &Manual) -> Pace<Manual> {
    Pace::builder(SECOND).burst(10).clock(clock.clone()).build().unwrap()
}

#[test]
fn what_others_have_given_back_since_is_not_given_back_again() {
    let clock = clock_at(1_000);
    let pace = pace(&clock);
    let first = pace.reserve(5, Duration::ZERO).unwrap();
    let second = pace.reserve(5, Duration::ZERO).unwrap();
    clock.advance(4 * SECOND);
    pace.reserve(4, Duration::ZERO).unwrap().keep();
    first.settle(0);
    second.settle(0);
    assert!(pace.left() <= 6, "ten and four in one span");
}

#[test]
fn what_is_charged_holds_the_next_back_until_the_end_of_time() {
    let clock = clock_at(1_000);
    let pace = pace(&clock);
    pace.reserve(2, Duration::ZERO).unwrap().settle(15);
    assert_eq!(pace.idle_after(), 15 * SECOND);
    let retry_after = Some(6 * SECOND);
    assert_eq!(pace.admit(1, Duration::ZERO), Admission::Refused { retry_after });
    pace.set_rate(2 * SECOND).unwrap();
    pace.reserve(0, Duration::ZERO).unwrap().settle(u64::MAX);
    assert_eq!(pace.admit(1, Duration::MAX), Admission::Refused { retry_after: None });
    assert!(!pace.is_retired());
}

#[test]
fn a_retired_pace_stays_retired() {
    let clock = clock_at(1_000);
    let pace = pace(&clock);
    let calls = [0, 20].map(|actual| (pace.reserve(2, Duration::ZERO).unwrap(), actual));
    clock.advance(10 * SECOND);
    assert!(pace.retire());
    for (call, actual) in calls {
        call.settle(actual);
    }
    assert!(pace.is_retired() && !pace.try_admit(1));
}

#[test]
fn a_call_from_before_a_change_gives_nothing_back() {
    let clock = clock_at(1_000);
    let pace = pace(&clock);
    let call = pace.reserve(4, Duration::ZERO).unwrap();
    pace.set_rate(SECOND / 2).unwrap();
    assert!(!call.settle(0));
    assert_eq!(pace.left(), 6);
}

#[test]
fn several_limits_give_back_what_the_last_call_has_not_used() {
    let clock = clock_at(1_000);
    let builder = Paces::builder().limit(10, SECOND).limit(100, 60 * SECOND);
    let paces = builder.clock(clock.clone()).build().unwrap();
    let left = || paces.quotas().map(|quota| quota.left).collect::<Vec<_>>();
    let call = paces.reserve(10, Duration::ZERO).unwrap();
    call.settle(3);
    assert_eq!(left(), [7, 97]);
    let [early, late] = [3, 4].map(|n| paces.reserve(n, Duration::ZERO).unwrap());
    assert!(!early.settle(0));
    assert!(late.settle(0));
    assert_eq!(left(), [4, 94]);
    paces.reserve(1, Duration::ZERO).unwrap().settle(51);
    assert_eq!(left(), [0, 43]);
    assert!(paces.idle_after() > 30 * SECOND);
    paces.reserve(0, Duration::ZERO).unwrap().settle(u64::MAX);
    assert_eq!(paces.admit(1, Duration::MAX), Admission::Refused { retry_after: None });
    assert!(!paces.is_retired());
}

/// A caller may go on at its moment, which the clock's resolution hides: what another gives back
/// then does not come before that moment.
#[test]
fn a_turn_within_the_resolution_is_settled_as_one_to_come() {
    let clock = crate::pace::Stepping(Manual::default(), 5);
    let builder = Pace::builder(Duration::from_nanos(10)).burst(5).clock(clock.clone());
    let pace = builder.build().unwrap();
    let first = pace.reserve(1, Duration::MAX).unwrap();
    let second = pace.reserve(5, Duration::MAX).unwrap(); // at 10
    clock.0.advance(Duration::from_nanos(5));
    second.settle(3);
    first.settle(0);
    let third = pace.reserve(3, Duration::MAX).unwrap();
    assert!(third.wait() >= Duration::from_nanos(20), "{:?}", third.wait()); // 6 from 10 until 15
}
