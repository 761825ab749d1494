//! Tiers: what each coarse bucket holds, beside a map from times to numbers.

use std::collections::BTreeMap;
use std::sync::mpsc;
use std::thread;

use proptest::collection::vec;
use proptest::prelude::*;
use testkit::pinned::pinned;
use testkit::{alone, at_ns, ns};
use windrow::clock::Manual;
use windrow::{BuildError, SlidingWindow, Stats, events};

events! {
    enum Seen { Pass: Count, Rt: Value }
}

type Window = SlidingWindow<Seen, Manual>;

/// Length and number of the window's buckets, and of each tier's.
#[derive(Clone, Copy, Debug)]
struct Plan {
    fine: (u64, u32),
    tiers: [(u64, u32); 2],
}

fn plan() -> impl Strategy<Value = Plan> {
    (1..=4_u64, 1..=5_u32, 1..=4_u64, 1..=6_u32, 1..=4_u64, 1..=6_u32).prop_map(
        |(length, buckets, times, coarse, more, coarsest)| {
            let first = (length * times.min(buckets.into()), coarse);
            let second = (first.0 * more.min(coarse.into()), coarsest);
            Plan { fine: (length, buckets), tiers: [first, second] }
        },
    )
}

fn window(plan: &Plan, clock: &Manual) -> Window {
    let (length, buckets) = plan.fine;
    let mut builder = SlidingWindow::<Seen>::builder()
        .interval(ns(length) * buckets)
        .buckets(buckets as usize)
        .clock(clock.clone());
    for (length, buckets) in plan.tiers {
        builder = builder.tier(ns(length), buckets as usize);
    }
    builder.build().expect("the tiers nest")
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Advance(u64),
    Rewind(u64),
    Add(u64),
    Record(u64),
    AddAt(u64, u64),
    /// To buckets of the same length, or of half of it, so many.
    Reconfigure(bool, u32),
    Drain,
    /// The interval forgets; tiers do not.
    Clear,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..=9_u64).prop_map(Step::Advance),
        1 => (0..=200_u64).prop_map(Step::Advance),
        2 => (0..=60_u64).prop_map(Step::Rewind),
        6 => (1..=9_u64).prop_map(Step::Add),
        4 => (0..=99_u64).prop_map(Step::Record),
        3 => (0..=40_u64, 1..=9_u64).prop_map(|(back, n)| Step::AddAt(back, n)),
        1 => (any::<bool>(), 1..=12_u32).prop_map(|(half, buckets)| Step::Reconfigure(half, buckets)),
        1 => Just(Step::Drain),
        1 => Just(Step::Clear),
    ]
}

/// What was added, by time, and what each event's numbers are.
#[derive(Default)]
struct Expected {
    pass: BTreeMap<u64, u64>,
    rt: BTreeMap<u64, Vec<u64>>,
}

impl Expected {
    fn pass(&self, from: u64, to: u64) -> u64 {
        self.pass.range(from..to).map(|(_, n)| n).sum()
    }

    fn rt(&self, from: u64, to: u64) -> Stats {
        let values = || self.rt.range(from..to).flat_map(|(_, values)| values);
        Stats {
            count: values().count() as u64,
            sum: values().sum(),
            min: values().min().copied(),
            max: values().max().copied(),
        }
    }
}

fn start_of(at: u64, length: u64) -> u64 {
    at - at % length
}

/// A window with tiers, and what it should hold.
struct Run {
    plan: Plan,
    clock: Manual,
    window: Window,
    now: u64,
    /// Where the newest bucket begins, and how long the window's buckets are.
    live: u64,
    length: u64,
    expected: Expected,
    late: u64,
    all: u64,
}

impl Run {
    fn new(plan: Plan, begin: u64) -> Run {
        let clock = Manual::default();
        clock.set(at_ns(begin));
        let (window, length) = (window(&plan, &clock), plan.fine.0);
        let (live, expected) = (start_of(begin, length), Expected::default());
        Run { plan, clock, window, now: begin, live, length, expected, late: 0, all: 0 }
    }

    /// Whether a bucket of a time is in the ring, or in a tier, of buckets of a length, that reach so far back.
    fn reaches(&self, at: u64, length: u64, interval: u64) -> bool {
        let (start, newest) = (start_of(at, length), start_of(self.live, length));
        newest.saturating_sub(start) < interval
    }

    /// Before an add of a time: whether it is counted in the ring or in a tier; else it is late.
    fn move_on(&mut self, at: u64) -> bool {
        self.live = self.live.max(start_of(at, self.length));
        let interval = self.window.interval().as_nanos() as u64;
        self.reaches(at, self.length, interval)
            || self
                .plan
                .tiers
                .into_iter()
                .any(|(length, buckets)| self.reaches(at, length, length * u64::from(buckets)))
    }

    fn step(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Advance(by) => self.now += by,
            Step::Rewind(by) => self.now = self.now.saturating_sub(by),
            Step::Add(n) => {
                self.late += if self.move_on(self.now) { 0 } else { n };
                self.window.add(Seen::Pass, n);
                self.all += n;
                *self.expected.pass.entry(self.now).or_default() += n;
            }
            Step::Record(value) => {
                self.move_on(self.now);
                self.window.record(Seen::Rt, value);
                self.expected.rt.entry(self.now).or_default().push(value);
            }
            Step::AddAt(back, n) => {
                let at = self.now.saturating_sub(back);
                if self.window.add_at(at_ns(at), Seen::Pass, n).is_ok() {
                    self.move_on(at);
                    self.all += n;
                    *self.expected.pass.entry(at).or_default() += n;
                }
            }
            Step::Reconfigure(half, buckets) => {
                let length = self.plan.fine.0;
                let new = if half && length.is_multiple_of(2) { length / 2 } else { length };
                let fits = u64::from(buckets) * new >= self.plan.tiers[0].0;
                let changed = self.window.reconfigure(ns(new) * buckets, buckets as usize);
                prop_assert_eq!(changed.is_ok(), fits);
                if fits {
                    self.length = new;
                    self.live = start_of(self.live, new);
                }
            }
            Step::Drain => _ = self.window.drain_closed(|_| ()),
            Step::Clear => {
                self.window.clear().expect("there is memory");
                prop_assert!(self.window.snapshot().is_empty());
            }
        }
        self.clock.set(at_ns(self.now));
        prop_assert_eq!(self.window.lifetime(Seen::Pass).sum, self.all);
        prop_assert_eq!(self.window.late(Seen::Pass).sum, self.late);
        Ok(())
    }

    /// Closes what is retired, which takes a grace period: a few pins.
    fn close(&self) {
        (0..20).for_each(|_| _ = self.window.drain_closed(|_| ()));
    }

    /// Every tier's buckets are what was added in their time. If some buckets cannot be closed: from each start
    /// on they hold no more than that, because an older bucket holds what is missing.
    fn compare(&self, all_closed: bool) -> Result<(), TestCaseError> {
        for (tier, (length, buckets)) in self.plan.tiers.into_iter().enumerate() {
            let series = self.window.series(tier).expect("there is such a tier");
            let newest = start_of(self.now, length);
            let count = (newest / length + 1).min(buckets.into());
            prop_assert_eq!(series.buckets().len() as u64, count);
            let mut since = 0;
            for (bucket, index) in series.buckets().iter().rev().zip(0..) {
                let start = newest - index * length;
                prop_assert_eq!(bucket.start(), at_ns(start));
                since += bucket.sum(Seen::Pass);
                if start_of(self.live, length).saturating_sub(start) >= length * u64::from(buckets)
                {
                    prop_assert!(bucket.is_empty(), "{} has left tier {}", start, tier);
                    continue;
                }
                let pass = self.expected.pass(start, start + length);
                let rt = self.expected.rt(start, start + length);
                if all_closed {
                    prop_assert_eq!(bucket.sum(Seen::Pass), pass, "tier {}, {}", tier, start);
                    prop_assert_eq!(bucket.stats(Seen::Rt), rt, "tier {}, {}", tier, start);
                } else {
                    prop_assert!(since <= self.expected.pass(start, u64::MAX), "from {} on", start);
                }
            }
        }
        prop_assert!(self.window.series(2).is_none());
        self.spans_agree(all_closed)
    }

    /// A span that is longer than the interval is read from a tier. It holds all from where it begins.
    fn spans_agree(&self, all_closed: bool) -> Result<(), TestCaseError> {
        let interval = self.window.interval().as_nanos() as u64;
        let [first, second] = self.plan.tiers.map(|(length, buckets)| length * u64::from(buckets));
        for span in [interval + 1, interval * 2, first, first + 1, second] {
            let longest = interval.max(first).max(second);
            let Ok(over) = self.window.over(ns(span)) else {
                prop_assert!(span > longest, "{span} of {longest}");
                continue;
            };
            prop_assert!(span <= longest, "{span} of {longest}");
            if span <= interval {
                continue; // of the ring itself
            }
            let length = over.resolution().as_nanos() as u64;
            let covers = over.covers().as_nanos() as u64;
            prop_assert_eq!(length, self.plan.tiers[usize::from(span > first)].0);
            prop_assert!(!all_closed || covers < span + length);
            prop_assert!(!all_closed || covers >= span || self.now < self.live);
            let end = start_of(self.now, length) + length;
            let buckets = self.plan.tiers[usize::from(span > first)].1;
            let oldest =
                (start_of(self.live, length) + length).saturating_sub(length * u64::from(buckets));
            let from = end.saturating_sub(covers).max(oldest).min(end);
            let (pass, rt) = (self.expected.pass(from, end), self.expected.rt(from, end));
            if all_closed {
                prop_assert_eq!(over.sum(Seen::Pass), pass, "{} from {} on", span, from);
                prop_assert_eq!(over.stats(Seen::Rt), rt, "{} from {} on", span, from);
                let totals = over.totals();
                prop_assert_eq!((totals.sum(Seen::Pass), totals.stats(Seen::Rt)), (pass, rt));
            } else {
                // Should the clock have stepped back over what was missed, that is in it, too.
                let since = self.expected.pass(from, u64::MAX);
                prop_assert!(over.sum(Seen::Pass) <= since, "{span} from {from} on");
            }
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn coarse_buckets_hold_what_was_added_in_their_time(
        plan in plan(), begin in 0..=500_u64, steps in vec(step(), 1..60),
    ) {
        let mut run = Run::new(plan, begin);
        for step in steps {
            run.step(step)?;
            run.compare(true)?;
        }
    }

    #[test]
    #[ignore = "run by the test below, in a process whose strategy is the other one"]
    fn in_this_process(
        plan in plan(), begin in 0..=500_u64, before in vec(step(), 0..30), during in vec(step(), 1..30),
    ) {
        let mut run = Run::new(plan, begin);
        for step in before {
            run.step(step)?;
            run.close();
            run.compare(true)?;
        }
        let (run, outcome) = while_another_is_pinned(move || {
            let outcome = during.into_iter().try_for_each(|step| {
                run.step(step)?;
                run.compare(false)
            });
            (run, outcome)
        });
        outcome?;
        let mut run = run;
        // Until all that was not closed has left the tiers.
        let [(_, _), (length, buckets)] = plan.tiers;
        run.now = run.now.max(run.live);
        for _ in 0..8 {
            run.step(Step::Advance(length * u64::from(buckets + 1)))?;
            run.step(Step::Add(1))?;
            run.close();
        }
        for step in [Step::Record(7), Step::Advance(length), Step::Add(2), Step::Advance(1), Step::Add(4)] {
            run.step(step)?;
            run.close();
            run.compare(true)?;
        }
    }
}

/// Portably, no bucket that `body` retires can be closed before its end.
fn while_another_is_pinned<R: Send>(body: impl FnOnce() -> R + Send) -> R {
    let (begun, when_begun) = mpsc::channel();
    let (over, when_over) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let other = scope.spawn(move || {
            pinned(|| {
                begun.send(()).expect("the other thread waits");
                let _ = when_over.recv(); // an error, too, says that it is over
            });
        });
        when_begun.recv().expect("it is pinned");
        let result = body();
        drop(over);
        other.join().expect("it has read"); // by name: with all that it leaves behind
        result
    })
}

/// Buckets that could not be closed in time are no longer noted; but while they are in the ring, a later thread can
/// tell what they held.
#[test]
fn what_was_missed_is_derived() {
    alone::run("derived", &[("WINDROW_STRATEGY", "portable")]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn derived() {
    let clock = Manual::default();
    clock.set(at_ns(1_003));
    let plan = Plan { fine: (10, 10), tiers: [(50, 6), (100, 6)] };
    let window = window(&plan, &clock);
    let add = |at: u64, n: u64| {
        clock.set(at_ns(at));
        window.add(Seen::Pass, n);
    };
    while_another_is_pinned(|| {
        [(1_003, 1), (1_013, 2), (1_023, 4), (1_053, 8)].map(|(at, n)| add(at, n))
    });
    for (at, n) in [(1_063, 16), (1_073, 32), (1_083, 64), (1_093, 128)] {
        add(at, n);
    }
    for _ in 0..5 {
        window.drain_closed(|_| ()); // closes what can be closed
    }
    add(1_103, 256);
    let sums = |tier: usize| -> Vec<u64> {
        let series = window.series(tier).expect("there is such a tier");
        series.buckets().iter().map(|bucket| bucket.sum(Seen::Pass)).collect()
    };
    assert_eq!(sums(0), [0, 0, 0, 7, 248, 256]);
    assert_eq!(sums(1), [0, 0, 0, 0, 255, 256]);
}

#[test]
fn portable_tiers_hold_it_too() {
    alone::run("in_this_process", &[("WINDROW_STRATEGY", "portable")]);
}

#[test]
fn tiers_that_do_not_nest_are_refused() {
    let build = |tiers: &[(u64, usize)]| {
        let mut builder =
            SlidingWindow::<Seen>::builder().interval(ns(100)).buckets(10).clock(Manual::default());
        for (length, buckets) in tiers {
            builder = builder.tier(ns(*length), *buckets);
        }
        builder.build().map(drop)
    };
    assert_eq!(build(&[(100, 2), (200, 3)]), Ok(()));
    let uneven = BuildError::UnevenTier { length: ns(25), finer: ns(10) };
    assert_eq!(build(&[(25, 4)]), Err(uneven));
    let gap = BuildError::TierTooCoarse { length: ns(110), interval: ns(100) };
    assert_eq!(build(&[(110, 4)]), Err(gap.clone()));
    assert_eq!(
        gap.to_string(),
        "the tier's buckets of 110ns are longer than the interval of 100ns below"
    );
    assert_eq!(build(&[(0, 4)]), Err(BuildError::ZeroInterval));
    assert_eq!(build(&[(100, 0)]), Err(BuildError::NoBuckets));
    let above = BuildError::TierTooCoarse { length: ns(300), interval: ns(200) };
    assert_eq!(build(&[(100, 2), (300, 3)]), Err(above));
    assert!(matches!(build(&[(100, usize::MAX)]), Err(BuildError::IntervalTooLong { .. })));
}
