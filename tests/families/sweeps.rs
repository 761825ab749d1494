//! A clock hand goes round all series, a number of them at a time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use testkit::Rng;
use windrow::{Counter, Family};

use crate::{Method, Number, Switch};

/// Returns a family of `series` series, which have counted 0, 1, 2 and so on.
fn family(limit: usize, series: u64) -> Family<Number, Counter> {
    let family = Family::<Number, Counter>::new().with_max_series(limit);
    (0..series).for_each(|number| family.with(Number { number }).add(number));
    family
}

/// Calls `retain_next` and returns the series that it asked for.
fn looked_at(family: &Family<Number, Counter>, count: usize) -> Vec<u64> {
    let mut all = Vec::new();
    assert_eq!(
        family.retain_next(count, |counter| {
            all.push(counter.sum());
            true
        }),
        0
    );
    all
}

#[test]
fn a_call_looks_at_as_many_series_as_it_is_told() {
    for limit in [10, 1_000, 100_000, 1_000_000] {
        let all = family(limit, 10);
        for count in [0, 1, 3, 7, 10, 11, 1_000, usize::MAX] {
            assert_eq!(looked_at(&all, count).len(), count.min(10), "{count}, limit {limit}");
        }
        assert_eq!(all.retain_next(4, |_| false), 4);
        assert_eq!(all.retain_next(10, |_| false), 6);
        assert_eq!((all.len(), all.retain_next(usize::MAX, |_| false)), (0, 0));
        all.with(Number { number: 3 }).add(3);
        assert_eq!(looked_at(&all, 1), [3], "a list that was empty");
    }
    let empty: Family<Number, Counter> = Family::new();
    assert_eq!(empty.retain_next(5, |_| false), 0);
}

/// Many lists have several series, so calls stop within a list.
#[test]
fn each_round_looks_at_each_series_once() {
    for (limit, series) in [(64, 64), (200, 150), (1 << 20, 3_000)] {
        let all = family(limit, series);
        let mut random = Rng::with_seed(series);
        let mut counts = BTreeMap::<u64, u64>::new();
        let mut looks = 0;
        while looks < 3 * series {
            let count = random.u64(0..series / 8);
            let found = looked_at(&all, usize::try_from(count).unwrap());
            assert_eq!(found.len() as u64, count);
            for number in found {
                *counts.entry(number).or_default() += 1;
            }
            looks += count;
        }
        let rounds = looks / series;
        assert_eq!(counts.len() as u64, series);
        assert!(counts.values().all(|count| [rounds, rounds + 1].contains(count)), "{looks}");
    }
}

/// With insertions and removals between the calls, no series waits longer than a round.
#[test]
fn the_hand_goes_on_while_series_come_and_go() {
    for seed in 0..60 {
        let mut random = Rng::with_seed(seed);
        let all = family([64, 1_000, 100_000][random.usize(..3)], 0);
        // The series, and the looks at others since the last look at each.
        let mut waits = BTreeMap::<u64, usize>::new();
        for number in 0..1_000 {
            all.with(Number { number }).add(number);
            if all.refused() > 0 {
                break;
            }
            waits.insert(number, 0);
            if random.u8(..4) == 0 {
                let gone = *waits.keys().nth(random.usize(..waits.len())).unwrap();
                assert!(all.remove(Number { number: gone }));
                waits.remove(&gone);
            }
            let count = random.usize(..6);
            let mut found = Vec::new();
            all.retain_next(count, |counter| {
                found.push(counter.sum());
                counter.sum() % 3 != 0
            });
            assert_eq!(found.len(), count.min(waits.len()), "seed {seed}");
            for wait in waits.values_mut() {
                *wait += found.len();
            }
            for number in found {
                if number % 3 == 0 {
                    waits.remove(&number)
                } else {
                    waits.insert(number, 0)
                };
            }
            assert_eq!(all.len(), waits.len());
            assert!(waits.values().all(|wait| *wait <= number as usize + 6), "seed {seed}");
        }
    }
}

#[test]
fn hidden_series_and_those_with_handles_are_not_asked_for() {
    let all = family(1_000, 10);
    let handle = all.handle(Number { number: 4 });
    let mut found = looked_at(&all, 10);
    found.sort_unstable();
    assert_eq!(found, [0, 1, 2, 3, 5, 6, 7, 8, 9], "the one with a handle is kept without");
    drop(handle);
    assert_eq!(all.retain_next(10, |_| false), 10);

    let switches: Family<Switch, Counter> = Family::new();
    for on in [false, true] {
        for method in [Method::Get, Method::Post] {
            switches.with(Switch { method, on }).increment();
        }
    }
    assert!(switches.remove(Switch { method: Method::Get, on: true }));
    let mut looks = 0;
    assert_eq!(
        switches.retain_next(3, |_| {
            looks += 1;
            looks > 1
        }),
        1
    );
    assert_eq!((looks, switches.len()), (3, 2));
}

/// A series that was inserted while a thread swept is looked at by the next round.
#[test]
fn sweeps_beside_insertions_miss_none_for_good() {
    let (all, is_over) = (family(100_000, 0), AtomicBool::new(false));
    thread::scope(|scope| {
        let inserters: Vec<_> = (0..2_u64)
            .map(|writer| {
                let all = &all;
                scope.spawn(move || {
                    for number in 0..testkit::rounds(20_000) {
                        let number = 2 * (number % 300) + writer;
                        all.with(Number { number }).increment();
                    }
                })
            })
            .collect();
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                all.retain_next(50, |_| false);
            }
        });
        for inserter in inserters {
            inserter.join().unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert_eq!(looked_at(&all, usize::MAX).len(), all.len());
    let left = all.len();
    assert_eq!((all.retain_next(usize::MAX, |_| false), all.len()), (left, 0));
    assert_eq!(all.lifetime(), 2 * testkit::rounds(20_000));
}
