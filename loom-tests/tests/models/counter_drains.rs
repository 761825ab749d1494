//! I8: consecutive drains add up to everything added, and none is negative.
//!
//! A counter needs no reclaimer, so three threads can be explored: two that drain, of which one
//! adds before, and one that adds.

use loom::sync::Arc;
use loom::thread;
use windrow::Counter;
use windrow_loom_tests::Model;

/// More than any model adds: a difference below zero wraps to far more.
const ABSURD: u64 = 1 << 32;

/// Two threads drain at once, after one add and during another.
#[test]
fn two_drains_share_what_was_added() {
    Model::new("counter_drains::two_drains_share_what_was_added").explore(|| {
        let counter = Arc::new(Counter::new());
        counter.add(1);
        let other = thread::spawn({
            let counter = Arc::clone(&counter);
            move || {
                counter.add(2);
                counter.sum_then_reset()
            }
        });
        let mine = counter.sum_then_reset();
        let theirs = other.join().unwrap();
        let rest = counter.sum_then_reset();
        assert!(mine < ABSURD && theirs < ABSURD && rest < ABSURD, "a drain went below zero");
        assert_eq!(mine + theirs + rest, 3);
    });
}

/// Two threads drain while a third adds.
#[test]
fn drain_against_drain_against_add() {
    Model::new("counter_drains::drain_against_drain_against_add").bounded(3).explore(|| {
        let counter = Arc::new(Counter::new());
        counter.add(1);
        let drainer = thread::spawn({
            let counter = Arc::clone(&counter);
            move || counter.sum_then_reset()
        });
        let adder = thread::spawn({
            let counter = Arc::clone(&counter);
            move || counter.add(2)
        });
        let mine = counter.sum_then_reset();
        let theirs = drainer.join().unwrap();
        adder.join().unwrap();
        let rest = counter.sum_then_reset();
        assert!(mine < ABSURD && theirs < ABSURD && rest < ABSURD, "a drain went below zero");
        assert_eq!(mine + theirs + rest, 3);
    });
}

/// What a drain has counted, it has seen: the adder's plain writes before the add come with it.
#[test]
fn a_drain_sees_what_came_before_the_adds() {
    Model::new("counter_drains::a_drain_sees_what_came_before_the_adds").explore(|| {
        let shared = Arc::new((Counter::new(), loom::cell::UnsafeCell::new(0)));
        let adder = thread::spawn({
            let shared = Arc::clone(&shared);
            move || {
                // SAFETY: loom checks that nobody else uses the cell.
                shared.1.with_mut(|cell| unsafe { *cell = 7 });
                shared.0.add(1);
            }
        });
        if shared.0.sum_then_reset() == 1 {
            // SAFETY: loom checks that nobody else writes to the cell.
            shared.1.with(|cell| assert_eq!(unsafe { *cell }, 7));
        }
        adder.join().unwrap();
    });
}
