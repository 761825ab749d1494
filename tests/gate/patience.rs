//! Callers that give up: a limiter whose waits are longer than its callers' patience serves its
//! limit all the same.

use std::collections::BTreeMap;
use std::time::Duration;

use windrow::clock::Manual;
use windrow::pace::{RefusedError, Reservation};
use windrow::{Gate, Pace, Paces, Timestamp};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;
/// The limit for the minute in which callers come: 50 a second.
const LIMIT: u64 = 3_000;

type Turn<'a> = Result<Reservation<'a, Manual>, RefusedError>;

/// Callers: the times at which they come, and for which they stay, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Crowd {
    a_second: u64,
    /// All of these come at once, from time to time.
    at_once: u64,
    max_wait: u64,
    patience: Patience,
    /// Each asks to move up when a quarter of the rest of its wait is over.
    moves_up: bool,
}

#[derive(Clone, Copy, Debug)]
enum Patience {
    /// All stay for this time.
    Of(u64),
    /// Each stays for a random time, up to this.
    UpTo(u64),
    /// Each stays for half of the wait that it was told.
    HalfOfTheWait,
}

struct Waiting<'a> {
    turn: Reservation<'a, Manual>,
    gives_up_at: u64,
}

impl Crowd {
    /// Lets callers come for a minute, and returns the number that was served.
    fn served<'a>(self, clock: &Manual, reserve: impl Fn(Duration) -> Turn<'a>) -> u64 {
        let mut random = testkit::Rng::with_seed(7);
        // By the time at which they do something, and by their number.
        let mut waiting: BTreeMap<(u64, u64), Waiting<'a>> = BTreeMap::new();
        let (mut served, mut caller) = (0, 0);
        let between = SECOND * self.at_once / self.a_second;
        for coming in (0..60 * SECOND).step_by(between as usize) {
            while let Some(first) = waiting.first_entry().filter(|it| it.key().0 <= coming) {
                let ((now, caller), mut waiter) = first.remove_entry();
                clock.set(Timestamp::from_nanos(now));
                let rest = waiter.turn.move_up().as_nanos() as u64;
                if rest == 0 {
                    waiter.turn.keep();
                    served += 1;
                } else if now < waiter.gives_up_at {
                    let next = (now + self.sleep(rest)).min(waiter.gives_up_at);
                    waiting.insert((next, caller), waiter);
                }
            }
            clock.set(Timestamp::from_nanos(coming));
            for _ in 0..self.at_once {
                let Ok(turn) = reserve(Duration::from_nanos(self.max_wait)) else { continue };
                let rest = turn.wait().as_nanos() as u64;
                let gives_up_at = coming
                    + match self.patience {
                        Patience::Of(time) => time,
                        Patience::UpTo(time) => random.u64(..time),
                        Patience::HalfOfTheWait => rest / 2,
                    };
                caller += 1;
                let next = (coming + self.sleep(rest)).min(gives_up_at);
                waiting.insert((next, caller), Waiting { turn, gives_up_at });
            }
        }
        for it in waiting.into_values() {
            it.turn.keep();
        }
        served
    }

    fn sleep(self, rest: u64) -> u64 {
        if self.moves_up { (rest / 4).max(rest.min(MS)) } else { rest }
    }
}

/// Returns the number that a pace serves, and limits of which one has the same rate, and a gate.
fn served(crowd: Crowd) -> [u64; 3] {
    let (clock, second) = (Manual::default(), Duration::from_secs(1));
    let pace = Pace::builder(second / 50).clock(clock.clone()).build().unwrap();
    let by_pace = crowd.served(&clock, |max_wait| pace.reserve(1, max_wait));
    let clock = Manual::default();
    let builder = Paces::builder().limit_with_burst(50, second, 1).limit(6_000, 60 * second);
    let paces = builder.clock(clock.clone()).build().unwrap();
    let by_paces = crowd.served(&clock, |max_wait| paces.reserve(1, max_wait));
    let clock = Manual::default();
    let gate = Gate::builder(50).interval(second).buckets(10).clock(clock.clone()).build().unwrap();
    [by_pace, by_paces, crowd.served(&clock, |max_wait| gate.reserve(1, max_wait))]
}

/// Lets a crowd come to each limiter, once without moving up and once with it. Prints and returns
/// the numbers that are served.
fn compare(a_second: u64, at_once: u64, max_wait: u64, patience: Patience) -> [[u64; 3]; 2] {
    let crowd = Crowd { a_second, at_once, max_wait: max_wait * MS, patience, moves_up: false };
    let both = [crowd, Crowd { moves_up: true, ..crowd }].map(served);
    let [sleep, move_up] = both;
    println!("{crowd:?}: {sleep:?} of {LIMIT} by a pace, limits, a gate; moving up {move_up:?}");
    both
}

/// All give up after half of the longest wait, or after a fifth.
#[test]
fn limiters_serve_their_limit_though_all_give_up_before_the_longest_wait() {
    for (a_second, at_once, max_wait) in [
        (53, 1, 1_000),
        (100, 1, 400),
        (100, 1, 1_000),
        (500, 1, 1_000),
        (1_000, 100, 1_000),
        (1_000, 1_000, 10_000),
    ] {
        for part in [2, 5] {
            let patience = Patience::Of(max_wait * MS / part);
            for served in compare(a_second, at_once, max_wait, patience).as_flattened() {
                assert!((LIMIT * 9 / 10..=LIMIT + 50).contains(served), "{served}");
            }
        }
    }
}

/// Callers that move up, and give up at any time.
#[test]
fn limiters_serve_their_limit_though_callers_give_up_at_any_time() {
    for (a_second, at_once, max_wait) in [
        (100, 1, 400),
        (100, 1, 1_000),
        (500, 1, 1_000),
        (1_000, 100, 1_000),
        (1_000, 1_000, 10_000),
    ] {
        for patience in [Patience::UpTo(max_wait * MS / 2), Patience::HalfOfTheWait] {
            let [_, move_up] = compare(a_second, at_once, max_wait, patience);
            for served in move_up {
                assert!((LIMIT * 8 / 10..=LIMIT + 50).contains(&served), "{served}");
            }
        }
    }
}

/// A vacant turn of a gate is granted to all of its callers, until its bucket ends.
#[test]
fn a_gate_with_rations_grants_vacant_turns() {
    let (clock, second) = (Manual::default(), Duration::from_secs(1));
    let builder = Gate::builder(4).interval(second).buckets(2).clock(clock.clone());
    let rationed = builder.build_rationed(1).unwrap();
    let gate = rationed.gate();
    assert!(gate.try_admit(4));
    let turns = [(); 4].map(|()| gate.reserve(1, second).unwrap());
    drop(turns);
    clock.advance(second);
    let admitted = (0..9).filter(|_| rationed.try_admit(1)).count();
    assert_eq!(admitted, 4);
}
