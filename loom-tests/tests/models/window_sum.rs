//! I9, of a window: for the interval that ends at the reader's time, a sum is the true count at some
//! instant during the call.
//!
//! Explores sums against adds that rotate, and against one that leaves a plain write to be seen.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use windrow::events;
use windrow_loom_tests::window::{Window, add, set_time, sum, window};
use windrow_loom_tests::{Model, turn};

use crate::spawn;

/// Both buckets stay in the interval: the true count goes 4, 5, 7.
#[test]
fn sums_against_adds_and_a_rotation() {
    Model::new("window_sum::sums_against_adds_and_a_rotation")
        .bounded(3)
        .bounded_over_epoch(2)
        .bounded_per_core(2)
        .explore(|| {
            set_time(0);
            let window = Arc::new(window(2));
            add(&window, 0, 4);
            let other = spawn(&window, |window| {
                add(window, 0, 1);
                add(window, 1, 2);
            });
            let (first, second) = (sum(&window, 1), sum(&window, 1));
            assert!([4, 5, 7].contains(&first), "{first} was never the count");
            assert!([4, 5, 7].contains(&second), "{second} was never the count");
            assert!(first <= second, "the sum went back from {first} to {second}");
            other.join().unwrap();
            assert_eq!(sum(&window, 1), 7);
        });
}

/// The reader's interval is over when its slots are taken: it finds all of it, or what is left.
#[test]
fn sum_against_a_rotation_that_ends_the_interval() {
    let name = "window_sum::sum_against_a_rotation_that_ends_the_interval";
    Model::new(name).bounded(3).bounded_over_epoch(2).explore(|| {
        set_time(0);
        let window = Arc::new(window(2));
        add(&window, 0, 4);
        add(&window, 1, 1);
        let other = spawn(&window, |window| add(window, 2, 16));
        let found = sum(&window, 1);
        assert!([5, 1].contains(&found), "{found} was never the count");
        other.join().unwrap();
        assert_eq!(sum(&window, 2), 17);
    });
}

/// Whoever has counted an add has seen what the adder did before it, also across a rotation.
#[test]
fn a_sum_sees_what_came_before_the_add() {
    let name = "window_sum::a_sum_sees_what_came_before_the_add";
    Model::new(name).bounded(3).bounded_over_epoch(2).explore(|| {
        set_time(0);
        let window = Arc::new(window(2));
        let planted = Arc::new(UnsafeCell::new(0));
        let other = spawn(&window, {
            let planted = Arc::clone(&planted);
            move |window| {
                // SAFETY: loom checks that nobody else uses the cell.
                planted.with_mut(|cell| unsafe { *cell = 7 });
                add(window, 0, 1);
                add(window, 1, 1);
            }
        });
        if sum(&window, 1) > 0 {
            // SAFETY: loom checks that nobody else writes to the cell.
            planted.with(|cell| assert_eq!(unsafe { *cell }, 7));
        }
        other.join().unwrap();
    });
}

events! {
    /// What takes two cells to count.
    enum Timing { Took: Value }
}

fn record(window: &Window<Timing>, bucket: u64, took: u64) {
    set_time(bucket);
    turn();
    window.record(Timing::Took, took);
}

/// A reader finds a header that becomes another bucket while it is read: one without a block, of which
/// there is only one, so that it is used again at once. It finds all of the old bucket, or nothing.
#[test]
fn sum_against_the_reuse_of_a_header() {
    let name = "window_sum::sum_against_the_reuse_of_a_header";
    Model::new(name).bounded(2).bounded_over_epoch(1).explore(|| {
        set_time(1);
        let window: Arc<Window<Timing>> = Arc::new(window(2));
        record(&window, 0, 8); // inserts the header
        let other = spawn(&window, |window| {
            record(window, 4, 4); // takes it out of its slot
            record(window, 3, 2); // inserts it again
        });
        set_time(1);
        turn();
        let stats = window.stats(Timing::Took);
        assert!([(1, 8), (0, 0)].contains(&(stats.count, stats.sum)), "found {stats:?}");
        turn();
        other.join().unwrap();
    });
}

/// As above, where the numbers of a bucket are read together.
#[test]
fn snapshot_against_the_reuse_of_a_header() {
    let name = "window_sum::snapshot_against_the_reuse_of_a_header";
    Model::new(name).bounded(2).bounded_over_epoch(1).explore(|| {
        set_time(1);
        let window: Arc<Window<Timing>> = Arc::new(window(2));
        record(&window, 0, 8); // inserts the header
        let other = spawn(&window, |window| {
            record(window, 4, 4); // takes it out of its slot
            record(window, 3, 2); // inserts it again
        });
        set_time(1);
        turn();
        let snapshot = window.snapshot();
        let stats = snapshot.buckets()[0].stats(Timing::Took);
        assert!([(1, 8), (0, 0)].contains(&(stats.count, stats.sum)), "found {stats:?}");
        other.join().unwrap();
    });
}
