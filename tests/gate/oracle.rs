//! Random histories, answered by a gate and by a map that is too simple to be wrong.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;

use windrow::clock::Manual;
use windrow::{Gate, Timestamp, gate::Admission};

use crate::most_in_a_run;

#[derive(Clone, Debug)]
enum Op {
    TryAdmit(u64),
    Admit(u64, u64),
    /// Forward, or back if negative.
    Step(i64),
    SetLimit(u64),
    Reconfigure(u64, u64),
}

/// The grants of each bucket, by its start.
struct Oracle {
    length: u64,
    buckets: u64,
    limit: u64,
    now: u64,
    /// The latest start that a clock has shown to a call that asks for something; or the time of a
    /// change of the geometry, if that is later.
    reached: u64,
    /// The latest start that anything was decided in.
    head: u64,
    /// The last end of a wait that was granted under another geometry.
    until: u64,
    granted: BTreeMap<u64, u64>,
}

impl Oracle {
    fn new(length: u64, buckets: u64, limit: u64) -> Oracle {
        let granted = BTreeMap::new();
        Oracle { length, buckets, limit, now: 0, reached: 0, head: 0, until: 0, granted }
    }

    fn time(&self) -> u64 {
        self.now.max(self.reached)
    }

    fn start(&self) -> u64 {
        self.time() / self.length * self.length
    }

    fn interval(&self) -> u64 {
        self.length * self.buckets
    }

    /// Returns what counts in the interval that ends with the bucket at `start`.
    fn used(&self, start: u64) -> u64 {
        let counts = |at: &u64| at + self.interval() > start && *at <= start;
        self.granted.iter().filter(|(at, _)| counts(at)).map(|(_, n)| n).sum()
    }

    fn admit(&mut self, n: u64, max_wait: u64) -> Admission {
        if n == 0 {
            return Admission::Now;
        }
        if n > self.limit {
            return Admission::Refused { retry_after: None };
        }
        self.reached = self.reached.max(self.start());
        self.head = self.head.max(self.start());
        let starts = (self.head..).step_by(usize::try_from(self.length).unwrap());
        let fits = |at: &u64| self.used(*at) + n <= self.limit;
        let at = starts.clone().find(fits).unwrap();
        let wait = if at <= self.time() { 0 } else { at - self.now };
        let horizon = self.now / self.length * self.length + self.interval();
        if wait > 0 && (wait > max_wait || at > horizon) {
            let retry_after = Some(Duration::from_nanos(wait));
            return Admission::Refused { retry_after };
        }
        *self.granted.entry(at).or_default() += n;
        self.head = at;
        if wait == 0 { Admission::Now } else { Admission::After(Duration::from_nanos(wait)) }
    }

    fn reconfigure(&mut self, length: u64, buckets: u64) {
        let is_behind = self.now < self.reached;
        let now = if is_behind { self.start() + self.length - 1 } else { self.now };
        self.forget();
        let waited = self.head.max(self.until);
        let head = now.max(waited) / length * length;
        let oldest = head.saturating_sub((2 * buckets - 1) * length);
        let old = std::mem::take(&mut self.granted);
        for (start, n) in old {
            let latest = start.max(now.max(self.until).min(start + self.length - 1));
            let mut at = latest / length * length;
            if at + length * buckets > now / length * length {
                at = at.max(oldest); // it is not forgotten, however far ahead the last wait ends
            }
            *self.granted.entry(at).or_default() += n;
        }
        self.until = waited;
        (self.length, self.buckets) = (length, buckets);
        self.reached = now;
        self.head = head;
        self.forget();
    }

    /// A gate knows two intervals.
    fn forget(&mut self) {
        let (head, span) = (self.head, 2 * self.interval());
        self.granted.retain(|at, _| at + span > head);
    }

    fn counts(&self) -> (u64, u64, u64) {
        let start = self.start();
        let known = |at: u64| at + 2 * self.interval() > self.head;
        let in_interval = |at: u64| at + self.interval() > start && at <= start;
        let sum = |counts: &dyn Fn(u64) -> bool| -> u64 {
            self.granted.iter().filter(|(at, _)| known(**at) && counts(**at)).map(|(_, n)| n).sum()
        };
        let (granted, waiting) = (sum(&in_interval), sum(&|at| at > start));
        let left = if self.head > start { 0 } else { self.limit.saturating_sub(granted) };
        (granted, waiting, left)
    }
}

/// Calls that seldom need sheets: most ask for one, now.
fn few() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        8 => (0..40_u64).prop_map(|n| Op::TryAdmit(if n < 2 { 2 * n } else { 1 })),
        4 => Just(Op::Admit(1, 0)),
        1 => (0..40_u64).prop_map(|wait| Op::Admit(1, wait / 30 * wait)),
        4 => (0..25_i64).prop_map(Op::Step),
        2 => (-60..200_i64).prop_map(Op::Step),
        1 => (0..80_u64).prop_map(|limit| if limit < 11 { Op::SetLimit(limit + 1) } else { Op::TryAdmit(1) }),
    ];
    prop::collection::vec(op, 0..120)
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        4 => (0..6_u64).prop_map(Op::TryAdmit),
        4 => (0..6_u64, prop_oneof![Just(0), 0..60_u64, Just(u64::MAX)])
            .prop_map(|(n, wait)| Op::Admit(n, wait)),
        4 => (0..25_i64).prop_map(Op::Step),
        1 => (-60..200_i64).prop_map(Op::Step),
        1 => (1..12_u64).prop_map(Op::SetLimit),
        1 => (1..15_u64, 1..7_u64).prop_map(|(length, buckets)| Op::Reconfigure(length, buckets)),
    ];
    prop::collection::vec(op, 0..80)
}

fn nanos(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

pub(crate) fn config() -> ProptestConfig {
    // A failure prints its shrunk history; it becomes a named test, not a file of seeds.
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_gate_answers_as_the_oracle_does(
        length in 1..12_u64, buckets in 1..7_u64, limit in 1..10_u64,
        (ops, has_sheets) in prop_oneof![(ops(), Just(true)), (few(), Just(false))]
    ) {
        let clock = Manual::default();
        let builder = Gate::builder(limit)
            .interval(nanos(length * buckets))
            .buckets(buckets as usize)
            .clock(clock.clone());
        // With sheets it knows two intervals, as the oracle does; otherwise there is no op that
        // shows the second.
        let builder = if has_sheets { builder.preallocate() } else { builder };
        let gate = builder.build().unwrap();
        let mut oracle = Oracle::new(length, buckets, limit);
        for op in ops {
            match op {
                Op::TryAdmit(n) => {
                    let granted = oracle.admit(n, 0).is_granted();
                    prop_assert_eq!(gate.try_admit(n), granted, "{:?}", op);
                }
                Op::Admit(n, wait) => {
                    let answer = oracle.admit(n, wait);
                    prop_assert_eq!(gate.admit(n, nanos(wait)), answer, "{:?}", op);
                }
                Op::Step(step) => {
                    oracle.now = oracle.now.saturating_add_signed(step);
                    clock.set(Timestamp::from_nanos(oracle.now));
                }
                Op::SetLimit(limit) => {
                    gate.set_limit(limit).unwrap();
                    oracle.limit = limit;
                }
                Op::Reconfigure(length, buckets) => {
                    gate.reconfigure(nanos(length * buckets), buckets as usize).unwrap();
                    oracle.reconfigure(length, buckets);
                }
            }
            prop_assert_eq!((gate.granted(), gate.waiting(), gate.left()), oracle.counts(), "{:?}", op);
            prop_assert_eq!(gate.limit(), oracle.limit);
            prop_assert_eq!(gate.interval(), nanos(oracle.interval()));
        }
    }

    /// Checks the definition alone: whatever the clock does, no run of buckets has more than the
    /// limit; and each refusal was right.
    #[test]
    fn no_run_of_buckets_has_more_than_the_limit(
        length in 1..12_u64, buckets in 1..7_u64, limit in 1..10_u64,
        steps in prop::collection::vec((-40..40_i64, 1..6_u64, 0..80_u64), 0..200)
    ) {
        let clock = Manual::default();
        let gate = Gate::builder(limit)
            .interval(nanos(length * buckets))
            .buckets(buckets as usize)
            .clock(clock.clone())
            .build()
            .unwrap();
        let (mut now, mut shown, mut granted) = (0_u64, 0, BTreeMap::new());
        for (step, n, wait) in steps {
            now = now.saturating_add_signed(step);
            clock.set(Timestamp::from_nanos(now));
            if n <= limit {
                shown = shown.max(now / length * length);
            }
            let (answer, start) = windrow::gate::admit_and_tell(&gate, n, nanos(wait));
            let Some(start) = start else {
                // It would not have fitted where the last grant was made, nor into the latest
                // bucket that was shown.
                let last = granted.keys().next_back().copied().unwrap_or(0);
                let at = last.max(shown);
                let used = |at: u64| -> u64 {
                    granted.range(at.saturating_sub(length * buckets - 1)..=at).map(|(_, n)| n).sum()
                };
                let waits = at > shown.max(now);
                let longest = wait.min(length * buckets);
                prop_assert!(used(at) + n > limit || waits && at > now + longest, "{:?} at {}", answer, now);
                continue;
            };
            let start = start.as_nanos();
            prop_assert!(start.is_multiple_of(length));
            if let Admission::After(after) = answer {
                prop_assert!(after <= nanos(wait));
                prop_assert!(nanos(now) + after <= nanos(start));
            }
            *granted.entry(start).or_default() += n;
            prop_assert!(most_in_a_run(&granted, length, buckets) <= limit);
        }
    }
}
