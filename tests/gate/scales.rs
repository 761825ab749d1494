//! Random schedules at every scale: buckets from a nanosecond to nearly all of time, from the first
//! nanosecond to the last, limits up to the highest, weights beyond them, retired gates. They are
//! answered by a gate and by a list of all grants that reckons in 128 bits, so that it has no end.

use std::time::Duration;

use testkit::{Rng, ns};
use windrow::clock::Manual;
use windrow::{Gate, LimitError, Timestamp, gate::Admission};

const SCHEDULES: u64 = 20_000;
/// The last nanosecond.
const END: u128 = u64::MAX as u128;
/// The highest limit.
const MOST: u64 = 1 << 40;

/// A gate by its documentation: a list of grants.
struct List {
    length: u128,
    buckets: u128,
    limit: u128,
    /// The time of the clock.
    clock: u128,
    /// The latest bucket that the clock has shown to a call that asks; or the time of a change of
    /// the geometry, if that is later.
    reached: u128,
    /// The latest bucket in which anything may be granted.
    head: u128,
    /// The end of the last wait that was granted under another geometry.
    until: u128,
    /// The bucket and the weight of each grant.
    grants: Vec<(u128, u128)>,
}

impl List {
    fn time(&self) -> u128 {
        self.clock.max(self.reached)
    }

    fn start_of(&self, at: u128) -> u128 {
        at / self.length * self.length
    }

    fn interval(&self) -> u128 {
        self.length * self.buckets
    }

    /// Returns what counts in the interval that ends with the bucket at `start`.
    fn used(&self, start: u128) -> u128 {
        let counts = |at: u128| at <= start && at + self.interval() > start;
        self.grants.iter().filter(|(at, _)| counts(*at)).map(|(_, n)| n).sum()
    }

    /// A gate knows two intervals.
    fn forget(&mut self) {
        let (head, known) = (self.head, 2 * self.interval());
        self.grants.retain(|(at, _)| at + known > head);
    }

    fn move_on(&mut self, start: u128) {
        self.head = self.head.max(start);
        self.forget();
    }

    fn admit(&mut self, n: u64, max_wait: Duration) -> Admission {
        let n = u128::from(n);
        if n == 0 {
            return Admission::Now;
        }
        if n > self.limit {
            return Admission::Refused { retry_after: None };
        }
        let time = self.time();
        let start = self.start_of(time);
        self.reached = self.reached.max(start);
        self.move_on(start);
        // It fits where it is asked for, or where a grant leaves.
        let leaves = self.grants.iter().map(|(at, _)| at + self.interval());
        let mut starts: Vec<_> = leaves.filter(|at| *at > self.head).chain([self.head]).collect();
        starts.sort_unstable();
        let fits = |at: &u128| self.used(*at) + n <= self.limit;
        let at = starts.into_iter().find(fits).expect("a time at which all have left");
        let wait = if at <= time { 0 } else { at - self.clock };
        let Some(told) = u64::try_from(wait).ok().filter(|_| at <= END).map(ns) else {
            return Admission::Refused { retry_after: None };
        };
        if wait > 0 && (told > max_wait || at > self.start_of(self.clock) + self.interval()) {
            return Admission::Refused { retry_after: Some(told) };
        }
        self.grants.push((at, n));
        self.move_on(at);
        if wait == 0 { Admission::Now } else { Admission::After(told) }
    }

    fn reconfigure(&mut self, length: u128, buckets: u128) {
        let was = self.length;
        let is_behind = self.clock < self.reached;
        let end = (self.start_of(self.reached) + was - 1).min(END);
        let now = if is_behind { end } else { self.clock };
        let until = now.max(self.until);
        self.until = self.until.max(self.head);
        (self.length, self.buckets) = (length, buckets);
        let (current, interval) = (self.start_of(now), self.interval());
        self.head = self.start_of(now.max(self.until));
        // The first bucket of two intervals.
        let oldest = (self.head + length).saturating_sub(2 * interval);
        for (at, _) in &mut self.grants {
            let latest = (*at).max(until.min(*at + was - 1));
            *at = latest / length * length;
            if *at + interval > current {
                *at = (*at).max(oldest);
            }
        }
        self.reached = now;
        self.forget();
    }

    /// Returns the granted, the reserved, and the remaining weight.
    fn counts(&self) -> (u64, u64, u64) {
        let start = self.start_of(self.time());
        let granted = self.used(start);
        let waiting: u128 = self.grants.iter().filter(|(at, _)| *at > start).map(|(_, n)| n).sum();
        let left = if self.head > start { 0 } else { self.limit.saturating_sub(granted) };
        let number = |n| u64::try_from(n).expect("no more than limits");
        (number(granted), number(waiting), number(left))
    }
}

/// A gate, its list, and the source of random choices.
struct Schedule {
    random: Rng,
    /// By which lengths are multiplied.
    scale: u128,
    most: u64,
    spare: u128,
    clock: Manual,
    gate: Gate<Manual>,
    list: List,
    /// The gate has sheets, and so remembers two intervals from the beginning. Otherwise a longer
    /// interval may find less than the list knows, and is left to `schedules`.
    has_sheets: bool,
}

fn nanos(nanos: u128) -> Duration {
    ns(u64::try_from(nanos).expect("no more than there are"))
}

/// Returns the length and the number of buckets, of which there is room for one more if there are
/// to be.
fn geometry(random: &mut Rng, scale: u128, spare: u128) -> (u128, u128) {
    let most = [1, 3, 12, 40][random.usize(..4)];
    let buckets = u128::from(random.u64(1..=most));
    let longest = END / (buckets + spare);
    let length = match random.u32(..6) {
        0 => 1,
        1 => u128::from(random.u64(1..5)),
        2 => 7 * scale + u128::from(random.u64(..3)),
        3 => longest - u128::from(random.u64(..3)),
        _ => scale * u128::from(random.u64(1..60)),
    };
    (length.min(longest), buckets)
}

fn limit(random: &mut Rng, most: u64) -> u64 {
    match random.u32(..5) {
        0 => 1,
        1 => most,
        _ => random.u64(1..=most),
    }
}

impl Schedule {
    fn new(seed: u64) -> Schedule {
        let mut random = Rng::with_seed(seed);
        let is_strict = random.bool();
        let spare = u128::from(is_strict);
        let scale = [1, 1, 10, 1_000, 1_000_000_007, 1 << 40, 1 << 58][random.usize(..7)];
        let most = [3, 10, 1_000, MOST][random.usize(..4)];
        let (length, buckets) = geometry(&mut random, scale, spare);
        let begin = match random.u32(..4) {
            0 => 0,
            1 => END - u128::from(random.u64(..500)) * scale.min(1 << 54),
            2 => u128::from(random.u64(..)),
            _ => (1 << 63) - u128::from(random.u64(..100)),
        };
        let limit = limit(&mut random, most);
        let clock = Manual::default();
        clock.set(Timestamp::from_nanos(begin as u64));
        let builder = Gate::builder(limit).interval(nanos(length * buckets));
        let builder = builder.buckets(buckets as usize).clock(clock.clone());
        let builder = if is_strict { builder.strict() } else { builder };
        let has_sheets = random.bool();
        let builder = if has_sheets { builder.preallocate() } else { builder };
        let start = begin / length * length;
        let list = List {
            length,
            buckets: buckets + spare,
            limit: u128::from(limit),
            clock: begin,
            reached: start,
            head: start,
            until: 0,
            grants: Vec::new(),
        };
        let gate = builder.build().expect("a valid gate");
        Schedule { random, scale, most, spare, clock, gate, list, has_sheets }
    }

    fn is_retired(&self) -> bool {
        self.list.limit == 0
    }

    fn ask(&mut self) {
        let (random, list) = (&mut self.random, &self.list);
        let limit = list.limit as u64;
        let n = match random.u32(..12) {
            0 => 0,
            1 => limit,
            2 => limit + 1,
            3 => random.u64(..),
            4 => limit / 2,
            5 => list.counts().2,
            6..=9 => 1,
            _ => random.u64(..=self.most / 3 + 1),
        };
        let max_wait = match random.u32(..6) {
            0 | 1 => Duration::ZERO,
            2 => Duration::MAX,
            3 => nanos(list.length),
            _ => ns(random.u64(..=list.interval() as u64)),
        };
        let expected = self.list.admit(n, max_wait);
        if max_wait.is_zero() && self.random.bool() {
            assert_eq!(self.gate.try_admit(n), expected.is_granted(), "{n}");
        } else {
            assert_eq!(self.gate.admit(n, max_wait), expected, "{n} by {max_wait:?}");
        }
    }

    fn set_clock(&mut self) {
        let (random, list) = (&mut self.random, &mut self.list);
        let by = match random.u32(..5) {
            0 => 1,
            1 => list.length,
            2 => list.length / 2,
            3 => list.interval(),
            _ => list.length * u128::from(random.u64(..4)) + u128::from(random.u64(..3)),
        };
        let now = match random.u32(..30) {
            0 => END,
            1 => list.head.saturating_sub(1),
            2 => list.head + list.length,
            3 => list.reached,
            4 => list.until,
            5..=9 => list.clock.saturating_sub(by),
            _ => list.clock + by,
        };
        list.clock = now.min(END);
        self.clock.set(Timestamp::from_nanos(list.clock as u64));
    }

    fn set_limit(&mut self) {
        let limit = match self.random.u32(..8) {
            0 => 0,
            1 => MOST + 1,
            _ => limit(&mut self.random, self.most),
        };
        let answer = self.gate.set_limit(limit);
        match limit {
            _ if self.is_retired() => assert_eq!(answer, Err(LimitError::Retired)),
            1..=MOST => {
                assert_eq!(answer, Ok(()));
                self.list.limit = u128::from(limit);
            }
            _ => assert!(answer.is_err()),
        }
    }

    fn reconfigure(&mut self) {
        let (length, buckets) = geometry(&mut self.random, self.scale, self.spare);
        let answer = self.gate.reconfigure(nanos(length * buckets), buckets as usize);
        if self.is_retired() {
            assert_eq!(answer, Err(LimitError::Retired));
        } else {
            assert_eq!(answer, Ok(()), "{buckets} of {length}");
            self.list.reconfigure(length, buckets + self.spare);
        }
    }

    /// At a time that the gate knows.
    fn retire(&mut self) {
        let list = &mut self.list;
        if list.start_of(list.clock) > list.reached {
            return;
        }
        let (granted, waiting, _) = list.counts();
        let is_idle = granted == 0 && waiting == 0;
        assert_eq!(self.gate.retire(), list.limit == 0 || is_idle);
        if is_idle {
            list.limit = 0;
            list.move_on(list.start_of(list.time()));
        }
    }

    fn run(mut self) {
        for _ in 0..self.random.u32(1..60) {
            match self.random.u32(..80) {
                0..=39 => self.ask(),
                64..=69 => self.set_limit(),
                70..=78 if self.has_sheets => self.reconfigure(),
                79 => self.retire(),
                _ => self.set_clock(),
            }
            let (gate, list) = (&self.gate, &self.list);
            assert_eq!((gate.granted(), gate.waiting(), gate.left()), list.counts());
            assert_eq!(u128::from(gate.limit()), list.limit);
            assert_eq!(gate.interval(), nanos(list.interval()));
        }
    }
}

#[test]
fn a_gate_answers_as_the_list_does_at_every_scale() {
    for seed in 0..SCHEDULES {
        let outcome = std::panic::catch_unwind(|| Schedule::new(seed).run());
        assert!(outcome.is_ok(), "in the schedule of seed {seed}");
    }
}
