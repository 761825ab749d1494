//! Tiers: what each coarse bucket holds, beside a map from times to numbers.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use testkit::{at_ns, ns};
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
    StepBack(u64),
    Add(u64),
    Record(u64),
    AddAt(u64, u64),
    /// To buckets of the same length, or of half of it, so many.
    Reconfigure(bool, u32),
    Drain,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..=9_u64).prop_map(Step::Advance),
        1 => (0..=200_u64).prop_map(Step::Advance),
        2 => (0..=60_u64).prop_map(Step::StepBack),
        6 => (1..=9_u64).prop_map(Step::Add),
        4 => (0..=99_u64).prop_map(Step::Record),
        3 => (0..=40_u64, 1..=9_u64).prop_map(|(back, n)| Step::AddAt(back, n)),
        1 => (any::<bool>(), 1..=12_u32).prop_map(|(half, buckets)| Step::Reconfigure(half, buckets)),
        1 => Just(Step::Drain),
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn coarse_buckets_hold_what_was_added_in_their_time(
        plan in plan(),
        begin in 0..=500_u64,
        steps in vec(step(), 1..60),
    ) {
        let clock = Manual::default();
        clock.set(at_ns(begin));
        let window = window(&plan, &clock);
        let (mut now, mut length) = (begin, plan.fine.0);
        let mut live = start_of(begin, length);
        let mut expected = Expected::default();
        let (mut late, mut all) = (0, 0);
        for step in steps {
            // An add of a time counts in the ring, in tiers that reach so far, or is late.
            let mut count = |window: &Window, at: u64, live: &mut u64, length: u64| {
                *live = (*live).max(start_of(at, length));
                let interval = window.interval().as_nanos() as u64;
                let reaches = |(length, buckets): (u64, u32)| {
                    start_of(*live, length) - start_of(at, length).min(*live) < length * u64::from(buckets)
                };
                let in_ring = *live - start_of(at, length).min(*live) < interval;
                let in_tier = plan.tiers.into_iter().any(reaches);
                (in_ring || in_tier, in_ring)
            };
            match step {
                Step::Advance(by) => now += by,
                Step::StepBack(by) => now = now.saturating_sub(by),
                Step::Add(n) => {
                    let (is_counted, _) = count(&window, now, &mut live, length);
                    window.add(Seen::Pass, n);
                    all += n;
                    *expected.pass.entry(now).or_default() += n;
                    late += if is_counted { 0 } else { n };
                }
                Step::Record(value) => {
                    count(&window, now, &mut live, length);
                    window.record(Seen::Rt, value);
                    expected.rt.entry(now).or_default().push(value);
                }
                Step::AddAt(back, n) => {
                    let at = now.saturating_sub(back);
                    if window.add_at(at_ns(at), Seen::Pass, n).is_ok() {
                        let (_, in_ring) = count(&window, at, &mut live, length);
                        prop_assert!(in_ring, "{at} was admitted");
                        all += n;
                        *expected.pass.entry(at).or_default() += n;
                    }
                }
                Step::Reconfigure(half, buckets) => {
                    let new = if half && plan.fine.0 % 2 == 0 { plan.fine.0 / 2 } else { plan.fine.0 };
                    let fits = u64::from(buckets) * new >= plan.tiers[0].0;
                    let changed = window.reconfigure(ns(new) * buckets, buckets as usize);
                    prop_assert_eq!(changed.is_ok(), fits);
                    if fits {
                        length = new;
                    }
                }
                Step::Drain => _ = window.drain_closed(|_| ()),
            }
            clock.set(at_ns(now));
            prop_assert_eq!(window.lifetime(Seen::Pass).sum, all);
            prop_assert_eq!(window.late(Seen::Pass).sum, late);
            for (number, (length, buckets)) in plan.tiers.into_iter().enumerate() {
                let Some(series) = window.series(number) else {
                    prop_assert!(now < live, "the time {now} has reached {live}");
                    continue;
                };
                let newest = start_of(now, length);
                let count = (newest / length + 1).min(buckets.into());
                prop_assert_eq!(series.buckets().len() as u64, count);
                for (bucket, index) in series.buckets().iter().zip((0..count).rev()) {
                    let start = newest - index * length;
                    prop_assert_eq!(bucket.start(), at_ns(start));
                    let (pass, rt) = (expected.pass(start, start + length), expected.rt(start, start + length));
                    prop_assert_eq!(bucket.sum(Seen::Pass), pass, "tier {}, {}", number, start);
                    prop_assert_eq!(bucket.stats(Seen::Rt), rt, "tier {}, {}", number, start);
                }
            }
            prop_assert!(window.series(2).is_none());
        }
    }
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
