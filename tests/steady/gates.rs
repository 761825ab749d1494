//! The memory of a gate, to the byte; and opening a bucket allocates nothing.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use windrow::clock::{Coarse, Manual};
use windrow::{AtMost, Gate, Timestamp};

use testkit::alone::in_each_strategy;
use testkit::{ns, race};

use crate::counting::own_bytes;

const LENGTH: u64 = 10;
/// A ledger, on two cache lines, and four sheets, on two each.
const SHEETS: i64 = 128 + 4 * 128;
/// Returns the size of the grants of each bucket before a sheet's, in two intervals, and of their
/// places.
const fn before(buckets: i64) -> i64 {
    4 * (24 + 8 * (2 * buckets - 1))
}

#[test]
fn a_gate_takes_what_the_formula_says_and_opens_buckets_in_that() {
    in_each_strategy("gates::table");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn table() {
    for buckets in [1_u32, 2, 60, 600] {
        let clock = Manual::default();
        let before_it = own_bytes();
        let builder = Gate::builder(5).interval(ns(LENGTH * u64::from(buckets)));
        let gate = builder
            .buckets(buckets as usize)
            .clock(clock.clone())
            .preallocate()
            .build()
            .expect("sound");
        let built = own_bytes() - before_it;
        for _ in 0..1_000 {
            assert!(gate.try_admit(1) || gate.granted() == 5);
            clock.advance(ns(LENGTH));
        }
        assert_eq!(own_bytes() - before_it, built, "opening allocates");
        let in_place = size_of::<Gate<Coarse>>();
        println!("{buckets:4} buckets: {built} bytes on the heap, {in_place} in place");
        if cfg!(all(target_arch = "x86_64", target_pointer_width = "64")) {
            assert_eq!(built, SHEETS + before(buckets.into()), "{buckets} buckets");
            assert_eq!(in_place, 64);
        }
    }
}

/// A gate takes nothing on the heap until it needs sheets, and then memory for all of them.
#[test]
fn a_gate_takes_memory_once_it_needs_it() {
    in_each_strategy("gates::of_few");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn of_few() {
    for buckets in [1_u32, 60] {
        let before_it = own_bytes();
        let gate = Gate::of(AtMost(5), Duration::from_secs(u64::from(buckets)), buckets as usize);
        assert!((0..5).all(|_| gate.try_admit(1)) && !gate.try_admit(1));
        assert_eq!((gate.granted(), own_bytes() - before_it), (5, 0));
        gate.set_limit(6).expect("a valid limit");
        assert!(gate.try_admit(1) && !gate.try_admit(1));
        let used = own_bytes() - before_it;
        println!("{buckets:4} buckets: {used} bytes with sheets");
        if cfg!(all(target_arch = "x86_64", target_pointer_width = "64")) {
            assert_eq!(used, SHEETS + before(buckets.into()));
        }
        drop(gate);
        assert_eq!(own_bytes() - before_it, 0);
    }
}

/// Sheets of segments of four, eight, sixteen, ... of which the first are made with the gate.
const fn segments(sheets: i64) -> i64 {
    let (mut there, mut segment) = (4, 8);
    while there < sheets {
        there += segment;
        segment *= 2;
    }
    there
}

/// Lets threads open buckets all the time, and returns the bytes that they have allocated together.
fn allocated_by(threads: u32, buckets: u32) -> i64 {
    let readings = AtomicU64::new(0);
    let now = || Timestamp::from_nanos(readings.fetch_add(LENGTH, Ordering::Relaxed));
    let clock = (now, Duration::ZERO);
    let builder =
        Gate::builder(5).interval(ns(LENGTH * u64::from(buckets))).buckets(buckets as usize);
    let gate = builder.clock(clock).allow_coarse_clock().preallocate().build().expect("sound");
    let allocated = AtomicI64::new(0);
    race(threads as usize, |_| {
        let before = own_bytes();
        for _ in 0..1_000 {
            std::hint::black_box(gate.try_admit(1));
        }
        allocated.fetch_add(own_bytes() - before, Ordering::Relaxed);
    });
    allocated.into_inner()
}

/// A sheet for each thread that opens a bucket at the same moment, one for the head, and no more,
/// however often they do.
#[test]
fn threads_that_open_buckets_at_once_take_a_sheet_each_at_most() {
    in_each_strategy("gates::openers");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn openers() {
    for (threads, buckets) in [(3, 600), (8, 60), (64, 2), (64, 60), (64, 600)] {
        let allocated = allocated_by(threads, buckets);
        println!("{threads} threads, {buckets} buckets: {allocated} bytes more");
        if cfg!(all(target_arch = "x86_64", target_pointer_width = "64")) {
            let (threads, buckets) = (i64::from(threads), i64::from(buckets));
            let sheets = segments(threads + 1) - 4;
            let most = 128 * sheets + (threads + 1 - 4) * before(buckets) / 4;
            assert!((0..=most.max(0)).contains(&allocated), "{allocated} of {most} bytes");
        }
    }
}
