//! Changing the geometry under load.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use windrow::Event;
use windrow::clock::Manual;

use crate::Seen;
use crate::writers::{Books, Plan, Storm};
use testkit::ledger::Tally;
use testkit::{Finish, Rng, alone, at_ns, ns, rounds, window};

/// Runs a storm while two threads go through `geometries` in their own order.
fn reshaped(storm: &Storm, geometries: &[(u64, u64)], reader: impl FnMut() + Send) -> Books {
    let finished = AtomicBool::new(false);
    thread::scope(|scope| {
        let reshape = |seed: u64| {
            let (window, finished) = (&storm.window, &finished);
            move || {
                let mut random = Rng::with_seed(seed);
                while !finished.load(Ordering::Acquire) {
                    let (length, buckets) =
                        geometries[random.u64(..geometries.len() as u64) as usize];
                    window.reconfigure(ns(length * buckets), buckets as usize).expect("valid");
                    assert!(window.reconfigure(ns(10), 3).is_err());
                    thread::yield_now();
                }
            }
        };
        let reshapers = [scope.spawn(reshape(1)), scope.spawn(reshape(2))];
        let finish = Finish(&finished);
        let books = storm.run(reader);
        drop(finish);
        for reshaper in reshapers {
            reshaper.join().expect("no failure");
        }
        books
    })
}

/// All of time fits in every geometry, so that sums must be exact throughout.
#[test]
fn nothing_leaves_a_ring_that_holds_everything() {
    let geometries = [(60, 1000), (70, 858), (25, 2400), (1000, 60), (60_000, 1), (7500, 8)];
    let plan = Plan {
        length: 60,
        buckets: 1000,
        writers: 4,
        steps: 15_000,
        push_one_in: 4,
        stride: 7,
        back_one_in: 0,
    };
    let storm = Storm::new(plan);
    let mut last = Default::default();
    let books = reshaped(&storm, &geometries, || {
        storm.bracket_lifetimes(&mut last);
        storm.bracket_sums();
    });
    storm.lifetimes_are_exact(&books);
    for (event, ledger) in
        [(Event::<Seen>::from(Seen::Pass), &books.pass), (Seen::Rt.into(), &books.rt)]
    {
        assert_eq!(Tally::from(storm.window.late(event)), Tally::default());
        assert_eq!(Tally::from(storm.window.stats(event)), ledger.total());
        assert_eq!(Tally::from(storm.window.snapshot().totals().stats(event)), ledger.total());
    }
    // And once more at rest, through every geometry.
    for (length, buckets) in geometries {
        storm.window.reconfigure(ns(length * buckets), buckets as usize).expect("valid");
        assert_eq!(Tally::from(storm.window.stats(Seen::Rt)), books.rt.total());
    }
}

/// Rings so small that buckets leave all the time: lifetimes are exact all the same.
#[test]
fn lifetimes_survive_every_change() {
    let geometries = [(10, 4), (3, 7), (1, 1), (1000, 2), (17, 1), (2, 100)];
    let plan = Plan {
        length: 10,
        buckets: 4,
        writers: 4,
        steps: 15_000,
        push_one_in: 3,
        stride: 12,
        back_one_in: 300,
    };
    let storm = Storm::new(plan);
    let mut last = Default::default();
    let books = reshaped(&storm, &geometries, || {
        storm.bracket_lifetimes(&mut last);
        drop(storm.window.snapshot());
    });
    storm.lifetimes_are_exact(&books);
    for event in [Event::<Seen>::from(Seen::Pass), Seen::Rt.into()] {
        let (lifetime, late) = (storm.window.lifetime(event), storm.window.late(event));
        let held = storm.window.stats(event);
        assert!(late.count + held.count <= lifetime.count);
        assert!(late.sum + held.sum <= lifetime.sum);
    }
    // The window is intact: the next buckets are exact.
    storm.window.reconfigure(ns(40), 4).expect("valid");
    let newest = books.pass.newest().max(books.rt.newest()).expect("something was added");
    for round in 1..100 {
        storm.clock.set(at_ns(newest + round * 40));
        storm.window.record(Seen::Rt, round);
        let stats = Tally::from(storm.window.stats(Seen::Rt));
        assert_eq!(stats, Tally::value(round));
    }
}

/// Buckets so short that another opens during each attempt at a change. The change of geometry does
/// not try forever: it ends.
#[test]
fn changes_are_made_however_short_the_buckets() {
    alone::in_each_strategy("reconfigure::changes_of_short_buckets");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn changes_of_short_buckets() {
    const BUCKETS: u64 = 10_000;
    let changes = rounds(20);
    let clock = Manual::default();
    let window = window::<Seen>(ns(1), BUCKETS as u32, &clock);
    let (finished, opened) = (AtomicBool::new(false), AtomicU64::new(0));
    let (mut behind, mut handed) = (0, 0);
    thread::scope(|scope| {
        let finish = Finish(&finished);
        for _ in 0..3 {
            scope.spawn(|| {
                while !finished.load(Ordering::Acquire) {
                    clock.advance(ns(1));
                    window.add(Seen::Pass, 1);
                    opened.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for seed in 1..=2 {
            let (window, finished) = (&window, &finished);
            scope.spawn(move || {
                let mut random = Rng::with_seed(seed);
                while !finished.load(Ordering::Acquire) {
                    let buckets = BUCKETS + random.u64(..5);
                    window.reconfigure(ns(buckets), buckets as usize).expect("valid");
                    thread::yield_now();
                }
            });
        }
        for change in 1..=changes {
            let goal = opened.load(Ordering::Relaxed) + 500;
            while opened.load(Ordering::Relaxed) < goal {
                thread::yield_now();
            }
            let before = opened.load(Ordering::Relaxed);
            let buckets = BUCKETS + 5 + change % 2;
            window.reconfigure(ns(buckets), buckets as usize).expect("valid");
            behind += opened.load(Ordering::Relaxed) - before;
            window.drain_closed(|bucket| handed += bucket.sum(Seen::Pass));
        }
        drop(finish);
    });
    let all = opened.into_inner();
    println!(
        "{:?}: {all} opened, {behind} during changes; {handed} handed out",
        windrow::diagnostics::strategy()
    );
    assert_eq!(window.lifetime(Seen::Pass).sum, all);
    assert!(handed <= all);
}
