//! I8: consecutive drains add up to everything added, and none is negative.
//!
//! Explores two threads that drain a counter while they or a third add to it. A counter needs no
//! reclaimer, so three threads are within reach.

use windrow::Counter;
use windrow_loom_tests::engine::{sync::Arc, thread};
use windrow_loom_tests::{Model, turn};

fn add(counter: &Counter, n: u64) {
    turn();
    counter.add(n);
}

/// Drains, and demands that the result is not below zero, which would wrap to something huge.
fn drain(counter: &Counter) -> u64 {
    turn();
    let drained = counter.take();
    assert!(drained < 1 << 32, "a drain went below zero: {}", drained.cast_signed());
    drained
}

/// Both threads add and drain.
#[test]
fn two_drains_share_what_was_added() {
    Model::new("counter_drains::two_drains_share_what_was_added").explore(|| {
        let counter = Arc::new(Counter::new());
        add(&counter, 1);
        let other = thread::spawn({
            let counter = Arc::clone(&counter);
            move || {
                add(&counter, 2);
                drain(&counter)
            }
        });
        add(&counter, 4);
        let mine = drain(&counter);
        let theirs = other.join().unwrap();
        assert_eq!(mine + theirs + drain(&counter), 7);
    });
}

/// Two threads drain while a third adds.
#[test]
fn drain_against_drain_against_add() {
    Model::new("counter_drains::drain_against_drain_against_add").bounded(3).explore(|| {
        let counter = Arc::new(Counter::new());
        add(&counter, 1);
        let drainer = thread::spawn({
            let counter = Arc::clone(&counter);
            move || drain(&counter)
        });
        let adder = thread::spawn({
            let counter = Arc::clone(&counter);
            move || add(&counter, 2)
        });
        let mine = drain(&counter);
        let theirs = drainer.join().unwrap();
        adder.join().unwrap();
        assert_eq!(mine + theirs + drain(&counter), 3);
    });
}
