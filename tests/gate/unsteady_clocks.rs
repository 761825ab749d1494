//! Random schedules on unsteady clocks, which tick in coarse steps, step back, leap ahead, and come
//! back from there. The [judge](crate::judge) knows what the gate promises, and no more.
//!
//! `GATE_SCHEDULES` sets the number of schedules: 1 000 000 take a minute in release.

use std::time::Duration;

use testkit::{Rng, at_ns, ns, rounds};
use windrow::clock::Manual;
use windrow::gate::{Admission, Reservation};
use windrow::{Clock, Gate, Timestamp};

use crate::judge::Judge;

/// The number of schedules, if the environment does not tell another.
const SCHEDULES: u64 = 20_000;

/// The clock of a schedule shows `shown` by its last step: a multiple of the resolution.
fn stepping(shown: &Manual, resolution: u64) -> (impl Fn() -> Timestamp + use<>, Duration) {
    let shown = shown.clone();
    let step = resolution.max(1);
    (move || at_ns(shown.now().as_nanos() / step * step), ns(resolution))
}

/// A turn that is held.
struct Held<'a, C: Clock> {
    turn: Reservation<'a, C>,
    /// The start of its bucket, if it did not come at once.
    moment: Option<u64>,
    n: u64,
    /// The terms have not changed since.
    is_of_these_terms: bool,
}

struct Schedule<'a, C: Clock> {
    random: Rng,
    /// The time that the clock would show if it had no steps.
    shown: Manual,
    gate: &'a Gate<C>,
    judge: Judge,
    limit: u64,
    length: u64,
    buckets: u64,
    spare: u64,
    resolution: u64,
    held: Vec<Held<'a, C>>,
    /// Callers reserve turns, and may give them up. Then the geometry stays as it is.
    reserves: bool,
}

impl<C: Clock> Schedule<'_, C> {
    fn reading(&self) -> u64 {
        self.gate.clock().now().as_nanos()
    }

    fn ask(&mut self, n: u64, max_wait: Duration) -> Result<Admission, String> {
        let now = self.reading();
        let answer = self.gate.admit(n, max_wait);
        let max_wait = u64::try_from(max_wait.as_nanos()).unwrap_or(u64::MAX);
        self.judge.asked(now, n, max_wait, answer)?;
        Ok(answer)
    }

    fn try_admit(&mut self, n: u64) -> Result<(), String> {
        let now = self.reading();
        // The judge wants to be told when to come back; the same call tells it.
        if self.gate.try_admit(n) {
            return self.judge.asked(now, n, 0, Admission::Now);
        }
        match self.ask(n, Duration::ZERO)? {
            Admission::Refused { .. } => Ok(()),
            granted => Err(format!("refused at once, and then {granted:?}")),
        }
    }

    /// Asks; and if the call is refused, sleeps exactly as long as it was told, and asks again.
    fn ask_and_come_back(&mut self, n: u64) -> Result<(), String> {
        let refused = self.ask(n, Duration::ZERO)?;
        let Admission::Refused { retry_after: Some(told) } = refused else { return Ok(()) };
        self.shown.advance(told);
        match self.ask(n, Duration::ZERO)? {
            Admission::Now => Ok(()),
            again => Err(format!("came back after {told:?}, and {again:?}")),
        }
    }

    /// Reserves a turn and holds it; or gives one up that is held, or keeps it.
    fn reserve(&mut self, n: u64) -> Result<(), String> {
        let (random, now) = (&mut self.random, self.gate.clock().now().as_nanos());
        if random.bool() && !self.held.is_empty() {
            let Held { turn, moment, n, is_of_these_terms } =
                self.held.swap_remove(random.usize(..self.held.len()));
            let is_early = moment.is_some_and(|at| at > now + self.resolution);
            if random.u32(..4) == 0 || is_early && !is_of_these_terms {
                turn.keep(); // `settled` has turns from before a change that are given back
            } else if !is_early {
                drop(turn); // it counts as used
            } else if !turn.settle(0) {
                return Err(format!("a turn at {moment:?} is not given back at {now}"));
            } else if let Some(moment) = moment {
                self.judge.vacated(moment, n);
            }
            return Ok(());
        }
        let longest = random.u64(..=2 * self.length * self.buckets);
        let (answer, turn) = match self.gate.reserve(n, ns(longest)) {
            Err(refused) => (Admission::Refused { retry_after: refused.retry_after }, None),
            Ok(turn) if turn.wait().is_zero() => (Admission::Now, Some(turn)),
            Ok(turn) => (Admission::After(turn.wait()), Some(turn)),
        };
        self.judge.asked(now, n, longest, answer)?;
        if let Some(turn) = turn {
            let wait = turn.wait().as_nanos() as u64;
            let moment = (wait > 0).then(|| now + wait - self.resolution);
            self.held.push(Held { turn, moment, n, is_of_these_terms: true });
        }
        Ok(())
    }

    fn move_clock(&mut self) {
        let random = &mut self.random;
        let interval = self.length * (self.buckets + self.spare);
        let by = match random.u32(..6) {
            0 => 1,
            1 => self.length,
            2 => interval,
            3 => interval * random.u64(2..50),
            _ => random.u64(..=2 * self.length),
        };
        match random.u32(..8) {
            0..=1 => self.shown.set(at_ns(self.shown.now().as_nanos().saturating_sub(by))),
            _ => self.shown.advance(ns(by)),
        }
    }

    /// The clock shows a time far ahead to one call, or another time far behind.
    fn err(&mut self) -> Result<(), String> {
        let now = self.shown.now();
        let far = self.random.u64(..20 * self.length * self.buckets);
        let there = if self.random.bool() { now + ns(far) } else { at_ns(far) };
        self.shown.set(there);
        let _judged = self.ask(1, Duration::ZERO)?;
        self.shown.set(now);
        Ok(())
    }

    fn change(&mut self) -> Result<(), String> {
        let random = &mut self.random;
        let is_of_the_limit = self.reserves || random.u32(..3) == 0;
        match random.u32(..2) {
            _ if is_of_the_limit => {
                self.limit = random.u64(1..20);
                self.gate.set_limit(self.limit).map_err(|error| error.to_string())?;
                self.judge.set_limit(self.limit);
                self.held.iter_mut().for_each(|it| it.is_of_these_terms = false);
                return Ok(());
            }
            0 => self.buckets = random.u64(1..8),
            _ => (self.length, self.buckets) = (random.u64(1..40), random.u64(1..8)),
        }
        let now = self.reading();
        let (length, buckets) = (self.length, self.buckets);
        let changed = self.gate.reconfigure(ns(length * buckets), buckets as usize);
        if changed.is_ok() {
            self.judge.reconfigured(now, length, buckets + self.spare);
        } else {
            // The clock is too coarse for these buckets.
            (self.length, self.buckets) = (
                self.gate.interval().as_nanos() as u64 / self.gate.buckets() as u64,
                self.gate.buckets() as u64 - self.spare,
            );
        }
        Ok(())
    }

    fn run(mut self) -> Result<(), String> {
        for _ in 0..self.random.u32(1..60) {
            let n = if self.random.bool() { 1 } else { self.random.u64(..=self.limit + 1) };
            match self.random.u32(..40) {
                0..10 => {
                    let longest = 2 * self.length * self.buckets;
                    let waits = [0, self.random.u64(..=longest), u64::MAX / 2];
                    let wait = waits[self.random.usize(..3)];
                    let _judged = self.ask(n, ns(wait))?;
                }
                10..18 => self.try_admit(n)?,
                18..23 => self.ask_and_come_back(n)?,
                23..25 => self.err()?,
                25..28 => self.change()?,
                29..34 if self.reserves => self.reserve(n)?,
                28 => {
                    // The gate's time is known to it only if it was asked.
                    let _judged = self.ask(1, Duration::ZERO)?;
                    let now = self.reading();
                    let is_retired = self.gate.retire();
                    self.judge.retired(now, is_retired)?;
                    if is_retired {
                        return Ok(());
                    }
                }
                _ => self.move_clock(),
            }
            let gate = &self.gate;
            let (granted, waiting, left) = (gate.granted(), gate.waiting(), gate.left());
            self.judge.counts(self.reading(), granted + waiting, left, 0)?;
        }
        Ok(())
    }
}

fn schedule(seed: u64) -> Result<(), String> {
    let mut random = Rng::with_seed(seed);
    let resolution = [0, 1, 3, 10][random.usize(..4)];
    let (limit, length, buckets) = (random.u64(1..20), random.u64(1..40), random.u64(1..8));
    let shown = Manual::default();
    shown.set(at_ns(random.u64(..10_000)));
    let clock = stepping(&shown, resolution);
    let now = clock.now().as_nanos();
    let builder = Gate::builder(limit).interval(ns(length * buckets)).buckets(buckets as usize);
    let builder = builder.clock(clock).allow_coarse_clock();
    let builder = if random.bool() { builder.preallocate() } else { builder };
    let is_strict = random.bool();
    let builder = if is_strict { builder.strict() } else { builder };
    let spare = u64::from(is_strict);
    let judge = Judge::new(length, buckets + spare, limit).on_a_clock(now, resolution);
    let judge = if is_strict { judge.strict() } else { judge };
    let gate = &builder.build().expect("a valid gate");
    let (held, reserves) = (vec![], random.bool());
    let schedule = Schedule {
        random,
        shown,
        gate,
        judge,
        limit,
        length,
        buckets,
        spare,
        resolution,
        held,
        reserves,
    };
    schedule.run()
}

/// Admissions of a gate with rations: when the clock showed what, the gate's current bucket, and
/// the weight.
type Admissions = Vec<(u64, u64, u64)>;

/// An admission counts in a bucket that has not ended by the clock's reading, and is not after the
/// current one. Returns the most of which each must count in one run of buckets.
fn most_that_must_be_in_a_run(all: &Admissions, length: u64, buckets: u64) -> u64 {
    let run = |first: u64| -> u64 {
        let is_in = |reading: u64, start: u64| reading >= first && start < first + length * buckets;
        all.iter().filter(|(reading, start, _)| is_in(*reading, *start)).map(|(_, _, n)| n).sum()
    };
    all.iter().map(|(reading, _, _)| run(reading / length * length)).max().unwrap_or(0)
}

fn schedule_of_rations(seed: u64) -> Result<(), String> {
    let mut random = Rng::with_seed(seed);
    let resolution = [0, 1, 3, 10][random.usize(..4)];
    let (limit, length, buckets) = (random.u64(1..60), random.u64(1..40), random.u64(1..6));
    let shown = Manual::default();
    shown.set(at_ns(random.u64(..10_000)));
    let builder = Gate::builder(limit).interval(ns(length * buckets)).buckets(buckets as usize);
    let builder = builder.clock(stepping(&shown, resolution)).allow_coarse_clock();
    let gate = builder.build_rationed(random.u64(1..20)).expect("a valid gate");
    let (mut start, mut all) = (0, Admissions::new());
    for _ in 0..random.u32(1..80) {
        let n = if random.bool() { 1 } else { random.u64(1..=limit) };
        let reading = gate.gate().clock().now().as_nanos();
        match random.u32(..10) {
            0..6 => {
                start = start.max(reading / length * length);
                match gate.admit(n, Duration::ZERO) {
                    Admission::Now => all.push((reading, start, n)),
                    Admission::Refused { retry_after: Some(told) } if random.bool() => {
                        shown.advance(told);
                        let reading = gate.gate().clock().now().as_nanos();
                        start = start.max(reading / length * length);
                        let again = gate.admit(n, Duration::ZERO);
                        if again != Admission::Now {
                            return Err(format!("came back after {told:?}, and {again:?}"));
                        }
                        all.push((reading, start, n));
                    }
                    _ => {}
                }
            }
            6 => shown.set(at_ns(shown.now().as_nanos().saturating_sub(random.u64(..3 * length)))),
            7 => shown.advance(ns(random.u64(..3 * length * buckets))),
            _ => shown.advance(ns(random.u64(..=length))),
        }
        let most = most_that_must_be_in_a_run(&all, length, buckets);
        if most > limit {
            return Err(format!("{most} of {limit} in a run"));
        }
    }
    Ok(())
}

fn all_keep(schedule: fn(u64) -> Result<(), String>) {
    let told = std::env::var("GATE_SCHEDULES").ok();
    let schedules = told.map_or(rounds(SCHEDULES), |told| told.parse().expect("a whole number"));
    for seed in 0..schedules {
        let kept = std::panic::catch_unwind(|| schedule(seed));
        assert_eq!(kept.ok(), Some(Ok(())), "in the schedule of seed {seed}");
    }
}

#[test]
fn a_gate_keeps_its_promises_on_an_unsteady_clock() {
    all_keep(schedule);
}

/// The clock may show a time again whose rations are not used up.
#[test]
fn a_gate_with_rations_admits_no_more_on_an_unsteady_clock() {
    all_keep(schedule_of_rations);
}
