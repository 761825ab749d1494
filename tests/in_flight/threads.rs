//! Threads that come and go across short buckets.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use testkit::{Rng, alone, ns, race};
use windrow::clock::Precise;
use windrow::{AtMost, Clock, InFlight, SlidingWindow, Timestamp, in_flight::Peaks};

use crate::Pool;

const THREADS: usize = 4;
const CALLS: u64 = 20_000;
/// The greatest number of guards that a thread holds.
const MOST: usize = 3;

fn window<C: Clock>(length: u64, clock: C) -> SlidingWindow<Pool, C> {
    let builder = SlidingWindow::builder().interval(ns(length * 50)).buckets(50).clock(clock);
    builder.allow_coarse_clock().build().unwrap()
}

/// Each thread enters and leaves at random, with its own weights, and with or without a limit.
fn come_and_go<C: Clock + Send + Sync>(peaks: &Peaks<'_, Pool, C>) {
    race(THREADS, |thread| {
        let mut random = Rng::with_seed(thread as u64);
        let mut inside = Vec::new();
        for _ in 0..CALLS {
            if inside.len() < MOST && random.bool() {
                inside.push(peaks.enter(1));
            } else if !inside.is_empty() {
                drop(inside.swap_remove(random.usize(..inside.len())));
            }
        }
    });
}

/// A level that rises and falls by one, from nothing to nothing, comes to each number as often as
/// it leaves it: so each is raised by one leave for each enter, and none is left out up to the
/// greatest. One wrong value is seen.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn pairs() {
    let (in_flight, window) = (InFlight::new(), window(1_000, Precise::default()));
    come_and_go(&in_flight.record_peaks(&window, Pool::Raised));
    assert_eq!(in_flight.level(), 0);
    let raised = window.lifetime_distribution(Pool::Raised);
    let times: BTreeMap<u64, u64> = raised
        .cells()
        .map(|(level, times)| (*level.end(), times))
        .filter(|(_, n)| *n > 0)
        .collect();
    let greatest = *times.keys().next_back().unwrap();
    println!("raised: {times:?}");
    assert!((MOST as u64..=(THREADS * MOST) as u64).contains(&greatest), "{greatest} at once");
    assert!(times.keys().copied().eq(1..=greatest), "levels are missing: {times:?}");
    assert!(times.values().all(|n| n.is_multiple_of(2)), "not in pairs: {times:?}");
    assert_eq!(window.lifetime(Pool::Raised).max, Some(greatest));
}

#[test]
fn levels_are_raised_in_pairs() {
    alone::in_each_strategy("threads::pairs");
}

/// Returns a clock of which each reading is later than the one before, by any thread.
fn counting() -> impl Clock + Send + Sync {
    let readings = AtomicU64::new(0);
    (move || Timestamp::from_nanos(readings.fetch_add(1, Ordering::Relaxed)), ns(0))
}

/// All buckets that are drained, and those that are left, have the greatest of all; and no bucket
/// has more than can be.
#[test]
fn the_greatest_of_all_buckets_is_the_greatest_ever() {
    let (in_flight, window) = (InFlight::new(), window(7, counting()));
    come_and_go(&in_flight.record_peaks(&window, Pool::Busy));
    let greatest = window.lifetime(Pool::Busy).max.unwrap();
    assert!((MOST as u64..=(THREADS * MOST) as u64).contains(&greatest));
    let snapshot = window.snapshot();
    assert!(snapshot.buckets().iter().all(|bucket| bucket.stats(Pool::Busy).max <= Some(greatest)));
}

/// The level in the callers' own book, which is written inside, is never more than the limit.
#[test]
fn no_limit_is_overshot() {
    const LIMIT: u64 = 5;
    let (in_flight, window) = (InFlight::new(), window(1_000, Precise::default()));
    let peaks = in_flight.record_peaks(&window, Pool::Busy);
    let (inside, refused) = (AtomicU64::new(0), AtomicU64::new(0));
    race(THREADS, |thread| {
        let mut random = Rng::with_seed(thread as u64);
        let mut mine = Vec::new();
        for _ in 0..CALLS {
            let weight = random.u64(1..=3);
            if random.bool() {
                match peaks.try_enter(weight, AtMost(LIMIT)) {
                    Some(guard) => {
                        let now = inside.fetch_add(weight, Ordering::Relaxed) + weight;
                        assert!(now <= LIMIT, "{now} inside");
                        mine.push((weight, guard));
                    }
                    None => drop(refused.fetch_add(1, Ordering::Relaxed)),
                }
            } else if !mine.is_empty() {
                let (weight, guard) = mine.swap_remove(random.usize(..mine.len()));
                inside.fetch_sub(weight, Ordering::Relaxed);
                drop(guard);
            }
        }
        for (weight, guard) in mine {
            inside.fetch_sub(weight, Ordering::Relaxed);
            drop(guard);
        }
    });
    assert_eq!(in_flight.level(), 0);
    assert_eq!(window.lifetime(Pool::Busy).max, Some(LIMIT), "never over, and reached");
    assert!(refused.into_inner() > 0, "nothing was ever refused");
}
