//! Changes of geometry and the log of closed buckets: what changes merge keeps its turn, drains
//! stay quick, and memory does not grow.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use testkit::{Finish, Rng, alone, at_ns, ns, rounds};
use windrow::clock::Manual;
use windrow::{SlidingWindow, events, snapshot::BucketSnapshot};

events! { enum Http { Pass: Count, Rt: Value } }

type Window = SlidingWindow<Http, Manual>;

/// Buckets of 10 ns, on a clock at 1000.
fn window(buckets: u32) -> (Window, Manual) {
    let clock = Manual::default();
    clock.set(at_ns(1_000));
    (testkit::window(ns(10), buckets, &clock), clock)
}

/// Drains until `all` was handed out, and then until nothing more comes. (Without restartable
/// sequences a bucket is closed when no thread is pinned, those of other tests included.)
fn drained(window: &Window, all: u64) -> Vec<BucketSnapshot<Http>> {
    let mut log = Vec::new();
    let (mut sum, mut more) = (0, 0);
    for _ in 0..20_000 {
        let count = window.drain_closed(|bucket| {
            sum += bucket.sum(Http::Pass);
            log.push(bucket);
        });
        if sum < all {
            thread::sleep(Duration::from_micros(500));
        } else if more == 50 {
            break;
        } else {
            more = if count == 0 { more + 1 } else { 0 };
        }
    }
    log
}

/// Changes the geometry, and gives the earlier buckets the time to be closed.
fn change(window: &Window, length: u64, buckets: u64) {
    window.reconfigure(ns(length * buckets), buckets as usize).expect("sound");
    (0..50).for_each(|_| _ = window.snapshot());
}

fn sums(buckets: &[BucketSnapshot<Http>]) -> Vec<(u64, u64)> {
    buckets.iter().map(|bucket| (bucket.start().as_nanos(), bucket.sum(Http::Pass))).collect()
}

fn total(buckets: &[BucketSnapshot<Http>]) -> u64 {
    buckets.iter().map(|bucket| bucket.sum(Http::Pass)).sum()
}

/// Buckets that several changes merge are handed out, although no drain came before.
#[test]
fn what_changes_merge_keeps_its_turn() {
    let (window, clock) = window(4);
    for n in 1..=3 {
        window.add(Http::Pass, n);
        window.record(Http::Rt, 100 * n);
        clock.advance(ns(10));
    }
    window.add(Http::Pass, 100);
    for buckets in [5, 4, 5] {
        change(&window, 10, buckets);
    }
    let log = drained(&window, 106);
    assert_eq!(total(&log), 106, "{log:?}");
    assert_eq!(log.iter().map(|bucket| bucket.stats(Http::Rt).sum).sum::<u64>(), 600, "{log:?}");
    let extremes = log.iter().filter_map(|bucket| bucket.stats(Http::Rt).max).max();
    assert_eq!(extremes, Some(300));
    assert!(log.iter().all(BucketSnapshot::is_closed));
    assert!(drained(&window, 0).is_empty());
    assert_eq!(window.sum(Http::Pass), 106);
}

/// A drain gets only the part of a merged bucket that still awaits its turn, as a bucket of the
/// geometry that it was merged in; readers see all of it.
#[test]
fn a_merged_bucket_hands_out_what_was_not() {
    let (window, clock) = window(10);
    for n in [1, 2, 4] {
        window.add(Http::Pass, n);
        clock.advance(ns(10));
    }
    assert_eq!(sums(&drained(&window, 3)), [(1_000, 1), (1_010, 2)]);
    change(&window, 100, 3);
    window.add(Http::Pass, 8);
    change(&window, 200, 3);
    clock.advance(ns(200));
    window.add(Http::Pass, 16);
    let log = drained(&window, 12);
    assert_eq!(total(&log), 12, "{log:?}");
    assert_eq!(window.sum(Http::Pass), 31);
    assert!(drained(&window, 0).is_empty());
}

/// A change hands out the buckets of each geometry by themselves: one that is older may come later.
#[test]
fn an_older_geometry_has_its_turns_first() {
    let (window, clock) = window(10);
    for n in [1, 2, 4, 8] {
        window.add(Http::Pass, n);
        clock.advance(ns(10));
    }
    change(&window, 10, 20);
    window.add_at(at_ns(1_010), Http::Pass, 16).expect("in the ring");
    window.add(Http::Pass, 32);
    clock.advance(ns(10));
    window.add(Http::Pass, 64);
    let handed = [(1_000, 1), (1_010, 2), (1_020, 4), (1_030, 8), (1_010, 16), (1_040, 32)];
    assert_eq!(sums(&drained(&window, 63)), handed);
}

/// Drained once in ten changes or less, everything is handed out once: each add is in the log or in
/// the newest bucket.
#[test]
fn a_log_adds_up_through_many_changes() {
    for seed in 1..=20 {
        let (window, clock) = window(100);
        let mut random = Rng::with_seed(seed);
        let (mut added, mut handed) = (0, 0);
        for _ in 0..200 {
            for _ in 0..random.u64(..5) {
                let n = random.u64(..1_000);
                window.add(Http::Pass, n);
                added += n;
                clock.advance(ns(random.u64(..15)));
            }
            // All of time is in each ring.
            let (length, buckets) = (50 + random.u64(..40), 400);
            window.reconfigure(ns(length * buckets), buckets as usize).expect("sound");
            if random.u64(..10) == 0 {
                window.drain_closed(|bucket| handed += bucket.sum(Http::Pass));
            }
        }
        clock.advance(ns(1_000));
        window.add(Http::Pass, 7);
        handed += total(&drained(&window, added - handed));
        assert_eq!(handed, added, "seed {seed}");
        assert_eq!(window.lifetime(Http::Pass).sum, added + 7);
    }
}

/// Two threads drain, one adds and changes the geometry, in turn.
#[test]
fn a_log_adds_up_while_others_drain() {
    alone::in_each_strategy("changes::log_in_this_process");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn log_in_this_process() {
    let (window, clock) = window(100);
    let (finished, handed) = (AtomicBool::new(false), Mutex::new(0));
    let mut added = 0;
    thread::scope(|scope| {
        let finish = Finish(&finished);
        for _ in 0..2 {
            scope.spawn(|| {
                while !finished.load(Ordering::Acquire) {
                    window.drain_closed(|bucket| {
                        *handed.lock().expect("no failure") += bucket.sum(Http::Pass);
                    });
                }
            });
        }
        for round in 1..=rounds(1_500) {
            for n in 1..=3 {
                window.add(Http::Pass, round * n);
                added += round * n;
                clock.advance(ns(3));
            }
            let buckets = 10_000 + round % 3;
            window.reconfigure(ns(10 * buckets), buckets as usize).expect("sound");
        }
        drop(finish);
    });
    clock.advance(ns(10));
    window.add(Http::Pass, 7);
    let before = *handed.lock().expect("no failure");
    let rest = total(&drained(&window, added - before));
    println!(
        "{:?}: {before} of {added} by drains, {rest} at the end",
        windrow::diagnostics::strategy()
    );
    assert_eq!(before + rest, added);
}

/// A drain of a ring of very many buckets after a change looks at each of them once, and not at all
/// of them for each one: then this would take minutes.
#[test]
fn a_drain_after_a_change_looks_at_each_bucket_once() {
    const BUCKETS: u64 = 200_000;
    let (window, clock) = window(BUCKETS as u32);
    for _ in 1..BUCKETS {
        window.add(Http::Pass, 1);
        clock.advance(ns(10));
    }
    change(&window, 20, BUCKETS);
    window.add(Http::Pass, 1);
    assert_eq!(total(&drained(&window, BUCKETS - 1)), BUCKETS - 1);
}
