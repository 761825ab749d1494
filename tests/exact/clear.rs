//! Forgetting: each add is before a `clear` or after it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use testkit::{alone, at_ns, is_empty, ms, ns, rounds, window};
use windrow::clock::Manual;
use windrow::events;

events! {
    enum Seen { Pass: Count, Rt: Value }
}

#[test]
fn a_cleared_window_is_empty_and_counts_on() {
    let clock = Manual::default();
    clock.set(at_ns(1_005));
    let window = window::<Seen>(ns(10), 4, &clock);
    for at in [1_005, 1_015, 1_025] {
        clock.set(at_ns(at));
        window.add(Seen::Pass, 2);
        window.record(Seen::Rt, at);
    }
    window.add_at(at_ns(1_008), Seen::Pass, 5).expect("in the ring");
    assert_eq!((window.sum(Seen::Pass), window.stats(Seen::Rt).max), (11, Some(1_025)));
    window.clear().expect("there is memory");
    assert_eq!((window.interval(), window.buckets()), (ns(40), 4));
    assert!(is_empty(&window.snapshot()));
    assert_eq!((window.sum(Seen::Pass), window.stats(Seen::Rt).max), (0, None));
    assert_eq!((window.lifetime(Seen::Pass).sum, window.lifetime(Seen::Rt).count), (11, 3));
    assert_eq!(window.drain_closed(|bucket| panic!("{bucket:?} was forgotten")), 0);
    window.add(Seen::Pass, 1);
    window.add_at(at_ns(1_015), Seen::Pass, 3).expect("in the ring");
    let sums: Vec<u64> =
        window.snapshot().buckets().iter().map(|bucket| bucket.sum(Seen::Pass)).collect();
    assert_eq!(sums, [0, 0, 3, 1]);
}

/// Again and again, and memory and drains go on.
#[test]
fn what_is_added_after_each_clear_is_handed_out_once() {
    let clock = Manual::default();
    clock.set(at_ns(1_000));
    let window = window::<Seen>(ns(10), 3, &clock);
    let (mut drained, mut forgotten) = (0, 0);
    for round in 0..200 {
        window.add(Seen::Pass, 1);
        if round % 7 == 0 {
            forgotten += window.sum(Seen::Pass);
            window.clear().expect("there is memory");
        }
        window.add(Seen::Pass, 1);
        clock.advance(ns(10));
        window.add(Seen::Pass, 1);
        window.drain_closed(|bucket| drained += bucket.sum(Seen::Pass));
        assert!(window.sum(Seen::Pass) <= 9);
    }
    assert_eq!(window.lifetime(Seen::Pass).sum, 600);
    assert!(drained <= 600 && drained + forgotten + window.sum(Seen::Pass) >= 600, "{drained}");
}

#[test]
fn adds_are_before_a_clear_or_after_it() {
    alone::in_each_strategy("clear::under_writers");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn under_writers() {
    let clock = Manual::default();
    clock.set(at_ns(1_000_000_000));
    for round in 0..rounds(150) {
        let window = window::<Seen>(ms(10), 4, &clock);
        let (begun, done, is_over) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
        let (mut before, mut after) = (0, 0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        begun.fetch_add(1, Ordering::SeqCst);
                        window.add(Seen::Pass, 1);
                        done.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
            for _ in 0..4 {
                thread::yield_now();
                before = done.load(Ordering::SeqCst);
                window.clear().expect("there is memory");
                after = begun.load(Ordering::SeqCst);
            }
            is_over.store(true, Ordering::Relaxed);
        });
        let (all, sum) = (done.into_inner(), window.sum(Seen::Pass));
        assert_eq!(window.lifetime(Seen::Pass).sum, all);
        assert!((all - after..=all - before).contains(&sum), "round {round}: {sum} of {all}");
    }
}
