//! Histories of counters, gauges, maxima and minima, beside plain integers.

use std::sync::atomic::Ordering;

use proptest::collection::vec;
use proptest::prelude::*;
use windrow::{Counter, Gauge, Maximum, Minimum};

use crate::config;

const ORDERINGS: [Ordering; 5] =
    [Ordering::Relaxed, Ordering::Acquire, Ordering::Release, Ordering::AcqRel, Ordering::SeqCst];

fn ordering() -> impl Strategy<Value = Ordering> {
    prop::sample::select(&ORDERINGS[..])
}

/// Small mostly, sometimes so large that sums wrap.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![3 => 0..=9_u64, 1 => any::<u64>(), 1 => (0..=2_u64).prop_map(|n| u64::MAX - n)]
}

#[derive(Clone, Copy, Debug)]
enum Count {
    Add(u64),
    Increment,
    FetchAdd(u64, Ordering),
    SumThenReset,
    Reset,
    /// Drops the counter and makes another, which must not inherit anything.
    Renew,
}

fn count() -> impl Strategy<Value = Count> {
    prop_oneof![
        4 => number().prop_map(Count::Add),
        2 => Just(Count::Increment),
        3 => (number(), ordering()).prop_map(|(n, order)| Count::FetchAdd(n, order)),
        1 => Just(Count::SumThenReset),
        1 => Just(Count::Reset),
        1 => Just(Count::Renew),
    ]
}

#[derive(Clone, Copy, Debug)]
enum Level {
    Add(i64),
    Increment,
    Decrement,
    FetchAdd(i64, Ordering),
    FetchSub(i64, Ordering),
    Renew,
}

fn level() -> impl Strategy<Value = Level> {
    let signed = || prop_oneof![3 => -9..=9_i64, 1 => any::<i64>(), 1 => Just(i64::MIN)];
    prop_oneof![
        4 => signed().prop_map(Level::Add),
        2 => Just(Level::Increment),
        2 => Just(Level::Decrement),
        3 => (signed(), ordering()).prop_map(|(n, order)| Level::FetchAdd(n, order)),
        3 => (signed(), ordering()).prop_map(|(n, order)| Level::FetchSub(n, order)),
        1 => Just(Level::Renew),
    ]
}

proptest! {
    #![proptest_config(config())]

    /// Several counters at once: none may see what belongs to its neighbours.
    #[test]
    fn counters_count_as_integers_do(steps in vec((0..6_usize, count()), 1..100)) {
        let mut counters: [Counter; 6] = [const { Counter::new() }; 6];
        let (mut expected, mut lifetimes) = ([0_u64; 6], [0_u64; 6]);
        for (i, step) in steps {
            let mut added = |n| {
                expected[i] = u64::wrapping_add(expected[i], n);
                lifetimes[i] = lifetimes[i].wrapping_add(n);
            };
            match step {
                Count::Add(n) => {
                    counters[i].add(n);
                    added(n);
                }
                Count::Increment => {
                    counters[i].increment();
                    added(1);
                }
                Count::FetchAdd(n, order) => {
                    counters[i].fetch_add(n, order);
                    added(n);
                }
                Count::SumThenReset => {
                    prop_assert_eq!(counters[i].take(), expected[i]);
                    expected[i] = 0;
                }
                Count::Reset => {
                    _ = counters[i].take();
                    expected[i] = 0;
                }
                Count::Renew => {
                    counters[i] = Counter::new();
                    (expected[i], lifetimes[i]) = (0, 0);
                }
            }
            for (counter, (expected, lifetime)) in counters.iter().zip(expected.into_iter().zip(lifetimes)) {
                prop_assert_eq!(counter.sum(), expected);
                prop_assert_eq!(counter.load(ORDERINGS[i % 5]), expected);
                prop_assert_eq!(counter.lifetime(), lifetime);
            }
        }
    }

    #[test]
    fn gauges_count_as_integers_do(steps in vec((0..6_usize, level()), 1..100)) {
        let mut gauges: [Gauge; 6] = [const { Gauge::new() }; 6];
        let mut expected = [0_i64; 6];
        for (i, step) in steps {
            match step {
                Level::Add(n) => gauges[i].add(n),
                Level::Increment => gauges[i].increment(),
                Level::Decrement => gauges[i].decrement(),
                Level::FetchAdd(n, order) => gauges[i].fetch_add(n, order),
                Level::FetchSub(n, order) => gauges[i].fetch_sub(n, order),
                Level::Renew => gauges[i] = Gauge::new(),
            }
            expected[i] = match step {
                Level::Add(n) | Level::FetchAdd(n, _) => expected[i].wrapping_add(n),
                Level::Increment => expected[i].wrapping_add(1),
                Level::Decrement => expected[i].wrapping_sub(1),
                Level::FetchSub(n, _) => expected[i].wrapping_sub(n),
                Level::Renew => 0,
            };
            for (gauge, expected) in gauges.iter().zip(expected) {
                prop_assert_eq!(gauge.sum(), expected);
                prop_assert_eq!(gauge.load(ORDERINGS[i % 5]), expected);
            }
        }
    }

    /// `None` asks for a new maximum and minimum.
    #[test]
    fn extremes_are_those_of_the_values(
        steps in vec((0..6_usize, prop::option::weighted(0.9, number())), 1..100),
    ) {
        let mut maxima: [Maximum; 6] = [const { Maximum::new() }; 6];
        let mut minima: [Minimum; 6] = [const { Minimum::new() }; 6];
        let mut expected: [(Option<u64>, Option<u64>); 6] = Default::default();
        for (i, step) in steps {
            if let Some(value) = step {
                maxima[i].record(value);
                minima[i].record(value);
                let (least, most) = expected[i];
                expected[i] = (
                    Some(least.map_or(value, |least| least.min(value))),
                    Some(most.map_or(value, |most| most.max(value))),
                );
            } else {
                maxima[i] = Maximum::new();
                minima[i] = Minimum::new();
                expected[i] = (None, None);
            }
            for (i, expected) in expected.into_iter().enumerate() {
                prop_assert_eq!((minima[i].get(), maxima[i].get()), expected);
            }
        }
    }
}
