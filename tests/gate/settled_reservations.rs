//! Reservations that are settled: random histories beside a model that goes from bucket to bucket.
//!
//! The model is made from the promise. It has the sum of each bucket, and what is owed; it knows
//! nothing of sheets, and it takes one step for each bucket. It checks each run of buckets at each
//! step.
//!
//! `GATE_SCHEDULES` sets the number of schedules.

mod cases;

use std::collections::BTreeMap;
use std::time::Duration;

use testkit::{Rng, at_ns, ns, rounds};
use windrow::Gate;
use windrow::clock::Manual;
use windrow::gate::{Admission, Reservation};

/// The number of schedules, if the environment does not tell another.
const SCHEDULES: u64 = 20_000;

/// A gate, bucket by bucket; buckets are numbered from time zero.
#[derive(Clone)]
struct Model {
    limit: u64,
    length: u64,
    buckets: u64,
    costs: BTreeMap<u64, u64>,
    owed: u64,
    /// The latest bucket in which anything was granted, or that a clock has shown.
    head: u64,
    /// The latest bucket that a clock has shown.
    reached: u64,
    /// Turns that were given back early: bucket, weight and number of changes.
    vacant: Vec<(u64, u64, u64)>,
    changes: u64,
}

impl Model {
    /// Returns the sum of the run that ends with a bucket.
    fn run(&self, last: u64) -> u64 {
        self.costs.range((last + 1).saturating_sub(self.buckets)..=last).map(|it| it.1).sum()
    }

    /// Returns the most that a bucket has room for in all runs with it.
    fn room(&self, bucket: u64) -> u64 {
        let most = (bucket..bucket + self.buckets).map(|last| self.run(last)).max();
        self.limit.saturating_sub(most.expect("there is one"))
    }

    fn add(&mut self, bucket: u64, n: u64) {
        if n > 0 {
            assert!(n <= self.room(bucket), "over: {n} in {bucket}");
            *self.costs.entry(bucket).or_default() += n;
        }
    }

    fn pay(&mut self) {
        let paid = self.owed.min(self.room(self.head));
        self.add(self.head, paid);
        self.owed -= paid;
    }

    fn open(&mut self, bucket: u64) {
        while self.head < bucket && self.owed > 0 {
            self.head += 1;
            self.pay();
        }
        self.head = self.head.max(bucket);
    }

    /// Returns the current bucket when a call with this reading is made.
    fn show(&mut self, read: u64) -> u64 {
        self.reached = self.reached.max(read / self.length);
        self.open(self.reached);
        self.reached
    }

    /// Pays what is owed until now: a read does that, if the last bucket is an earlier one.
    fn pay_until(&mut self, read: u64) {
        if self.owed > 0 && self.head < self.reached.max(read / self.length) {
            self.show(read);
        }
    }

    /// Decides on a call, and returns the bucket in which it is granted.
    fn ask(&mut self, read: u64, n: u64, max_wait: u64) -> (Admission, u64) {
        let never = Admission::Refused { retry_after: None };
        if n == 0 {
            return (Admission::Now, self.reached.max(read / self.length));
        }
        if n > self.limit {
            return (never, 0);
        }
        let current = self.show(read);
        let mut then = self.clone();
        while then.owed > 0 || then.room(then.head) < n {
            then.head += 1;
            then.pay();
        }
        let at = then.head;
        let start = at * self.length;
        let wait = ns(start.saturating_sub(read));
        if at > current {
            let horizon = (read / self.length + self.buckets) * self.length;
            let latest = if max_wait == 0 { read } else { horizon.min(read + max_wait) };
            let last = (latest / self.length).max(current).min(at - 1);
            let turns = self
                .vacant
                .iter_mut()
                .filter(|it| (current..=last).contains(&it.0) && it.1 >= n && it.2 == self.changes);
            if let Some(turn) = turns.min_by_key(|it| it.0) {
                turn.1 -= n;
                let wait = ns((turn.0 * self.length).saturating_sub(read));
                let answer = if turn.0 > current { Admission::After(wait) } else { Admission::Now };
                return (answer, turn.0);
            }
            if start > latest {
                return (Admission::Refused { retry_after: Some(wait) }, 0);
            }
        }
        *self = then;
        self.add(at, n);
        (if at > current { Admission::After(wait) } else { Admission::Now }, at)
    }

    /// Settles what was granted in a bucket. Returns whether anything is given back.
    fn settle(&mut self, read: u64, held: &Held<'_>, actual: u64) -> bool {
        let Held { bucket, weight, .. } = *held;
        if actual == weight {
            return false;
        }
        let is_passed_on = held.waits && held.changes == self.changes;
        if actual < weight && is_passed_on && bucket * self.length > read {
            self.vacant.push((bucket, weight - actual, held.changes));
            self.merge_vacant();
            return true;
        }
        let counts = bucket + self.buckets > self.reached.max(read / self.length);
        if actual < weight {
            if counts {
                *self.costs.get_mut(&bucket).expect("it was granted") -= weight - actual;
                self.pay();
            }
            return counts;
        }
        self.show(read);
        let more = actual - weight;
        // (A weight of zero has opened no bucket.)
        let bucket = bucket.min(self.head);
        // A gate knows two intervals.
        let is_known = counts && self.head - bucket <= self.buckets;
        let here = if is_known { more.min(self.room(bucket)) } else { 0 };
        self.add(bucket, here);
        self.owed += more - here;
        self.pay();
        false
    }

    /// Puts turns of the same bucket and terms together.
    fn merge_vacant(&mut self) {
        let mut sums: BTreeMap<(u64, u64), u64> = BTreeMap::new();
        for (bucket, n, changes) in self.vacant.drain(..) {
            *sums.entry((bucket, changes)).or_default() += n;
        }
        self.vacant.extend(sums.into_iter().map(|((bucket, changes), n)| (bucket, n, changes)));
    }

    /// Returns what is granted, waits, and is left.
    fn counts(&mut self, read: u64) -> (u64, u64, u64) {
        self.pay_until(read);
        let current = self.reached.max(read / self.length);
        let granted = self.run(current);
        let later: u64 = self.costs.range(current + 1..).map(|it| it.1).sum();
        let left = if self.head > current { 0 } else { self.limit.saturating_sub(granted) };
        (granted, later + self.owed, left)
    }
}

struct Held<'a> {
    turn: Reservation<'a, Manual>,
    bucket: u64,
    weight: u64,
    waits: bool,
    gives_back: bool,
    changes: u64,
}

fn same<T: Copy + PartialEq + std::fmt::Debug>(
    found: T,
    expected: T,
    what: &str,
) -> Result<(), String> {
    let is_same = found == expected;
    if is_same { Ok(()) } else { Err(format!("{what}: {found:?}, not {expected:?}")) }
}

fn schedule(seed: u64) -> Result<(), String> {
    let mut random = Rng::with_seed(seed);
    let (limit, length, buckets) = (random.u64(1..30), random.u64(1..40), random.u64(1..8));
    let clock = Manual::default();
    clock.set(at_ns(random.u64(..1_000)));
    let builder = Gate::builder(limit).interval(ns(length * buckets)).buckets(buckets as usize);
    let gate = builder.clock(clock.clone()).preallocate().build().expect("a valid gate");
    let reached = clock.now_nanos() / length;
    let mut model = Model {
        limit,
        length,
        buckets,
        costs: BTreeMap::new(),
        owed: 0,
        head: reached,
        reached,
        vacant: vec![],
        changes: 0,
    };
    let mut held: Vec<Held<'_>> = vec![];
    for _ in 0..random.u32(1..80) {
        let read = clock.now_nanos();
        let n = if random.bool() { 1 } else { random.u64(..=model.limit + 1) };
        let max_wait = [0, random.u64(..=2 * length * buckets)][random.usize(..2)];
        match random.u32(..30) {
            0..4 => {
                let expected = model.ask(read, n, max_wait).0;
                same(gate.admit(n, ns(max_wait)), expected, "admit")?;
            }
            4..6 => same(gate.try_admit(n), model.ask(read, n, 0).0 == Admission::Now, "try")?,
            6..14 => {
                let (expected, bucket) = model.ask(read, n, max_wait);
                let (found, turn) = match gate.reserve(n, ns(max_wait)) {
                    Err(refused) => (Admission::Refused { retry_after: refused.retry_after }, None),
                    Ok(turn) if turn.wait().is_zero() => (Admission::Now, Some(turn)),
                    Ok(turn) => (Admission::After(turn.wait()), Some(turn)),
                };
                same(found, expected, "reserve")?;
                let waits = matches!(expected, Admission::After(_));
                let (changes, gives_back) = (model.changes, random.bool());
                held.extend(turn.map(|turn| {
                    let turn = if gives_back { turn.or_give_back() } else { turn };
                    Held { turn, bucket, weight: n, waits, gives_back, changes }
                }));
            }
            14..22 if !held.is_empty() => {
                let it = held.swap_remove(random.usize(..held.len()));
                let most = [it.weight, 2 * model.limit, 30 * model.limit][random.usize(..3)];
                let actual = random.u64(..=most);
                match random.u32(..7) {
                    0 => it.turn.keep(),
                    1 => {
                        let expected = model.settle(read, &it, 0);
                        same(it.turn.settle(0), expected, "cancel")?;
                    }
                    2 => {
                        if it.gives_back || it.waits && it.bucket * length > read {
                            model.settle(read, &it, 0);
                        }
                        drop(it.turn);
                    }
                    _ => {
                        model.settle(read, &it, actual);
                        it.turn.settle(actual);
                    }
                }
            }
            22 => {
                model.pay_until(read);
                model.limit = random.u64(1..30);
                model.changes += 1;
                gate.set_limit(model.limit).map_err(|error| error.to_string())?;
                model.pay();
            }
            23..25 => clock.set(at_ns(read.saturating_sub(random.u64(..2 * length)))),
            25 => clock.advance(ns(length * random.u64(..20 * buckets))),
            _ => clock.advance(ns(random.u64(..=2 * length))),
        }
        let read = clock.now_nanos();
        let expected = model.counts(read);
        same((gate.granted(), gate.waiting(), gate.left()), expected, "granted, waiting, left")?;
        if random.u32(..20) == 0 {
            // The gate's time is known to it only if it was asked.
            same(gate.admit(1, Duration::ZERO), model.ask(read, 1, 0).0, "asked")?;
            let (granted, waiting, _) = model.counts(read);
            let is_idle = granted + waiting == 0;
            same(gate.retire(), is_idle, "retired")?;
            if is_idle {
                return Ok(());
            }
        }
    }
    for it in held {
        it.turn.keep();
    }
    Ok(())
}

trait Nanos {
    fn now_nanos(&self) -> u64;
}

impl Nanos for Manual {
    fn now_nanos(&self) -> u64 {
        windrow::Clock::now(self).as_nanos()
    }
}

#[test]
fn runs_of_buckets_keep_the_limit_whatever_is_settled() {
    let told = std::env::var("GATE_SCHEDULES").ok();
    let schedules = told.map_or(rounds(SCHEDULES), |told| told.parse().expect("a whole number"));
    for seed in 0..schedules {
        let kept = std::panic::catch_unwind(|| schedule(seed));
        assert_eq!(kept.ok(), Some(Ok(())), "in the schedule of seed {seed}");
    }
}
