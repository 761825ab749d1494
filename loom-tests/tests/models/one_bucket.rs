//! I3: at most one bucket is ever current or inserted for a start. A second one would take adds
//! with it out of the reader's sight.
//!
//! Explores two threads that open the same bucket, by rotation and by back-dated adds, and two that
//! open different ones.

use windrow_loom_tests::Model;
use windrow_loom_tests::engine::sync::Arc;
use windrow_loom_tests::window::{add, each, late, lifetime, set_time, window};

use crate::spawn;

/// Both threads rotate to the same bucket.
#[test]
fn rotation_against_rotation() {
    Model::longest("one_bucket::rotation_against_rotation").explore(|| {
        set_time(0);
        let window = Arc::new(window(2));
        let other = spawn(&window, |window| add(window, 1, 1));
        add(&window, 1, 2);
        other.join().unwrap();
        assert_eq!(each(&window, 1), [0, 3]);
        assert_eq!((late(&window), lifetime(&window)), (0, 3));
    });
}

/// Both threads insert a bucket for a start that was skipped.
#[test]
fn insertion_against_insertion() {
    Model::longest("one_bucket::insertion_against_insertion").explore(|| {
        set_time(0);
        let window = Arc::new(window(3));
        add(&window, 2, 4);
        let other = spawn(&window, |window| add(window, 1, 1));
        add(&window, 1, 2);
        other.join().unwrap();
        assert_eq!(each(&window, 2), [0, 3, 4]);
        assert_eq!((late(&window), lifetime(&window)), (0, 7));
    });
}

/// One thread opens a bucket that the other has skipped by then, or is about to.
#[test]
fn rotation_against_a_longer_rotation() {
    let name = "one_bucket::rotation_against_a_longer_rotation";
    Model::longest(name).explore(|| {
        set_time(0);
        let window = Arc::new(window(2));
        add(&window, 0, 8);
        let other = spawn(&window, |window| add(window, 1, 1));
        add(&window, 2, 2);
        other.join().unwrap();
        assert_eq!(each(&window, 2), [1, 2]);
        assert_eq!((late(&window), lifetime(&window)), (0, 11));
    });
}

/// An idle gap of a whole round: the buckets of both threads live in the same slot.
#[test]
fn rotation_against_rotation_to_the_same_slot() {
    let name = "one_bucket::rotation_against_rotation_to_the_same_slot";
    Model::longest(name).explore(|| {
        set_time(0);
        let window = Arc::new(window(2));
        let other = spawn(&window, |window| add(window, 1, 1));
        add(&window, 3, 2);
        other.join().unwrap();
        assert_eq!(each(&window, 3), [0, 2]);
        assert!([0, 1].contains(&late(&window)), "{} hits were late", late(&window));
        assert_eq!(lifetime(&window), 3);
    });
}

/// One thread makes bucket 1 current and may stall before it is in its slot; the other moves on,
/// and then adds to bucket 1.
#[test]
fn back_dated_add_behind_a_stalled_rotation() {
    let name = "one_bucket::back_dated_add_behind_a_stalled_rotation";
    Model::longest(name).explore(|| {
        set_time(0);
        let window = Arc::new(window(3));
        let other = spawn(&window, |window| add(window, 1, 1));
        add(&window, 2, 4);
        add(&window, 1, 2);
        other.join().unwrap();
        assert_eq!(each(&window, 2), [0, 3, 4]);
        assert_eq!((late(&window), lifetime(&window)), (0, 7));
    });
}
