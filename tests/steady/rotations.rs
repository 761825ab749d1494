//! Rotations after the first few hundred: nothing is allocated, and live memory stays the same.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use windrow::clock::Manual;
use windrow::{SlidingWindow, diagnostics::Strategy};

use crate::counting::{allocations, live_bytes, while_adding};
use testkit::alone::in_each_strategy;

use crate::Http;
use testkit::ledger::Tally;
use testkit::pinned::pinned;
use testkit::{Finish, ns, window};

const LENGTH: u64 = 10;
/// More than there are in any ring here, a few times over.
const WARM_UP: u64 = 400;
const ROTATIONS: u64 = 2_000;

/// The bytes by which live memory may vary if epochs reclaim: the contents of the threads' bags.
const SLACK: i64 = 64 << 10;

type Window = SlidingWindow<Http, Manual>;

/// Opens `rotations` buckets, and counts in each of them.
fn rotate(window: &Window, clock: &Manual, rotations: u64) {
    for _ in 0..rotations {
        clock.advance(ns(LENGTH));
        for value in 1..=3 {
            window.add(Http::Pass, 1);
            window.record(Http::Rt, value);
        }
    }
}

/// Returns the allocations and the live bytes since these.
fn needed(allocations_before: u64, live_before: i64) -> (u64, i64) {
    (allocations() - allocations_before, live_bytes() - live_before)
}

/// Panics if memory was needed: except for that of epochs, more often than `most` times.
fn is_none((made, grown): (u64, i64), most: u64) {
    println!("{:?}: {made} allocations, {grown} bytes more", windrow::diagnostics::strategy());
    if windrow::diagnostics::strategy() != Strategy::Epochs {
        assert!(made <= most, "{made} allocations in {ROTATIONS} rotations");
    }
    assert!(grown <= SLACK, "{grown} bytes more than before");
}

fn is_exact(window: &Window, rotations: u64) {
    let pass = Tally::from(window.lifetime(Http::Pass));
    assert_eq!(pass, Tally::amount(3 * rotations));
    let rt = Tally::from(window.lifetime(Http::Rt));
    let all = Tally { count: 3 * rotations, sum: 6 * rotations, min: Some(1), max: Some(3) };
    assert_eq!(rt, all);
}

#[test]
fn one_thread_allocates_nothing() {
    in_each_strategy("rotations::one_thread");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn one_thread() {
    for buckets in [1, 2, 60] {
        let clock = Manual::default();
        let window = window::<Http>(ns(LENGTH), buckets, &clock);
        rotate(&window, &clock, WARM_UP);
        let (made, live) = (allocations(), live_bytes());
        while_adding(|| rotate(&window, &clock, ROTATIONS));
        is_none(needed(made, live), 0);
        is_exact(&window, WARM_UP + ROTATIONS);
    }
}

#[test]
fn two_threads_allocate_hardly_ever() {
    in_each_strategy("rotations::two_threads");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn two_threads() {
    for buckets in [1, 2, 60] {
        let clock = Manual::default();
        let window = window::<Http>(ns(LENGTH), buckets, &clock);
        let barrier = Barrier::new(3);
        let needed = thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    rotate(&window, &clock, WARM_UP);
                    barrier.wait();
                    barrier.wait();
                    while_adding(|| rotate(&window, &clock, ROTATIONS));
                    barrier.wait();
                    // Until the memory was measured: a thread that ends frees its memory.
                    barrier.wait();
                });
            }
            barrier.wait();
            let (made, live) = (allocations(), live_bytes());
            barrier.wait();
            barrier.wait();
            let needed = needed(made, live);
            barrier.wait();
            needed
        });
        // Buckets without a block, and more blocks, are needed where one thread opens buckets while
        // the other stands still. Each is made once, so this is late warm-up. An allocation for
        // each rotation would be forty times this number.
        is_none(needed, ROTATIONS / 20);
        is_exact(&window, 2 * (WARM_UP + ROTATIONS));
    }
}

/// A thread that stays pinned keeps no bucket from being reused: with new memory for each bucket
/// that was opened meanwhile it would be megabytes.
#[test]
fn a_pin_over_10_000_rotations_costs_64_kilobytes_at_most() {
    in_each_strategy("rotations::under_a_pin");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn under_a_pin() {
    let clock = Manual::default();
    let window = window::<Http>(ns(LENGTH), 60, &clock);
    rotate(&window, &clock, WARM_UP);
    let finished = AtomicBool::new(false);
    let barrier = Barrier::new(2);
    thread::scope(|scope| {
        let finish = Finish(&finished);
        scope.spawn(|| {
            pinned(|| {
                barrier.wait();
                while !finished.load(Ordering::Acquire) {
                    thread::yield_now();
                }
            });
        });
        barrier.wait();
        let before = live_bytes();
        rotate(&window, &clock, 10_000);
        let grown = live_bytes() - before;
        println!("{:?}: {grown} bytes more", windrow::diagnostics::strategy());
        assert!(grown <= SLACK, "{grown} bytes more after 10 000 rotations under a pin");
        drop(finish);
    });
    is_exact(&window, WARM_UP + 10_000);
}
