//! Changes of geometry: memory is bounded by the rings, not by the number of changes.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use windrow::SlidingWindow;
use windrow::clock::Manual;

use crate::counting::live_bytes;
use testkit::alone::in_each_strategy;

use crate::Http;
use testkit::{Finish, ns, window};

const CHANGES: u64 = 3_000;

/// A few times the size of two rings of 61 buckets with the memory that epochs have not reclaimed
/// yet; a thirtieth of one ring for each change.
const MOST: i64 = 256 << 10;

type Window = SlidingWindow<Http, Manual>;

/// Changes the geometry repeatedly, with all times in every ring; returns the greatest growth of
/// the heap after the first fifty changes.
fn grown(window: &Window, clock: &Manual) -> i64 {
    let (mut begin, mut most) = (0, 0);
    for change in 0..CHANGES {
        window.add(Http::Pass, 1);
        window.record(Http::Rt, change);
        if change % 100 == 0 {
            clock.advance(ns(10));
        }
        let buckets = 60 + change % 2;
        window.reconfigure(ns(10 * buckets), buckets as usize).expect("sound");
        if change == 50 {
            begin = live_bytes();
        }
        most = most.max(live_bytes());
    }
    assert_eq!(window.lifetime(Http::Rt).count, CHANGES);
    assert_eq!(window.sum(Http::Pass), CHANGES);
    most - begin
}

fn is_bounded(grown: i64) {
    println!("{:?}: {grown} bytes more", windrow::diagnostics::strategy());
    assert!(grown <= MOST, "{grown} bytes more after {CHANGES} changes");
}

#[test]
fn changes_behind_one_drain_keep_no_memory() {
    in_each_strategy("changes::behind_one_drain");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn behind_one_drain() {
    let clock = Manual::default();
    let window = window::<Http>(ns(10), 60, &clock);
    window.drain_closed(|_| ());
    is_bounded(grown(&window, &clock));
    let mut handed = 0;
    clock.advance(ns(10));
    window.add(Http::Pass, 1);
    for _ in 0..10_000 {
        window.drain_closed(|bucket| handed += bucket.sum(Http::Pass));
    }
    assert_eq!(handed, CHANGES);
}

#[test]
fn changes_keep_no_memory_while_a_drain_does_not_return() {
    in_each_strategy("changes::while_a_drain_does_not_return");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn while_a_drain_does_not_return() {
    let clock = Manual::default();
    let window = window::<Http>(ns(10), 60, &clock);
    window.add(Http::Exception, 1);
    clock.advance(ns(10));
    window.add(Http::Exception, 1);
    let (finished, barrier) = (AtomicBool::new(false), Barrier::new(2));
    thread::scope(|scope| {
        let finish = Finish(&finished);
        scope.spawn(|| {
            let mut called = false;
            while !called {
                window.drain_closed(|_| {
                    if called {
                        return; // the rest, when all is over
                    }
                    called = true;
                    barrier.wait();
                    while !finished.load(Ordering::Acquire) {
                        thread::yield_now();
                    }
                });
            }
        });
        barrier.wait();
        is_bounded(grown(&window, &clock));
        drop(finish);
    });
}
