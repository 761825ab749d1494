//! I9, of a window: for the interval that ends at the reader's time, a sum is the true count at some
//! instant during the call.
//!
//! Explores sums against adds that rotate, and reads against buckets that are reused.

use windrow::events;
use windrow_loom_tests::engine::sync::Arc;
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

/// A reader finds a bucket that is reused while it is read: one without a block, of which
/// there is only one, so that it is reused at once. What the reused bucket counts is left out.
#[test]
fn sum_against_the_reuse_of_a_bucket() {
    let name = "window_sum::sum_against_the_reuse_of_a_bucket";
    Model::new(name).bounded(2).bounded_over_epoch(1).explore(|| {
        set_time(1);
        let window = Arc::new(window(2));
        add(&window, 0, 8); // inserts the bucket
        let other = spawn(&window, |window| {
            add(window, 4, 4); // takes it out of its slot
            add(window, 3, 1); // inserts it again
        });
        let found = sum(&window, 1);
        assert!([8, 0].contains(&found), "{found} was never the count");
        other.join().unwrap();
    });
}

events! {
    /// What takes two cells to count.
    enum Two { One: Count, Other: Count }
}

/// As above: a bucket is read as a whole, or not at all.
#[test]
fn bucket_against_its_reuse() {
    let name = "window_sum::bucket_against_its_reuse";
    Model::new(name).bounded(2).bounded_over_epoch(1).explore(|| {
        let add = |window: &Window<Two>, bucket, event| {
            set_time(bucket);
            turn();
            window.add(event, 1);
        };
        set_time(1);
        let window: Arc<Window<Two>> = Arc::new(window(2));
        add(&window, 0, Two::One);
        add(&window, 0, Two::Other);
        let other = spawn(&window, move |window| {
            add(window, 4, Two::One);
            add(window, 3, Two::One);
        });
        set_time(1);
        turn();
        let found = window.previous();
        let found = (found.sum(Two::One), found.sum(Two::Other));
        assert!([(1, 1), (0, 0)].contains(&found), "{found:?} was never in the bucket");
        other.join().unwrap();
    });
}

/// As above, of a bucket that has counted in a block. In a ring of one bucket it is soon in the slot
/// again where it was found.
#[test]
fn bucket_against_the_reuse_of_its_block_and_memory() {
    let name = "window_sum::bucket_against_the_reuse_of_its_block_and_memory";
    Model::new(name).bounded(1).explore(|| {
        let add = |window: &Window<Two>, bucket, event| {
            set_time(bucket);
            turn();
            window.add(event, 1);
        };
        set_time(0);
        let window: Arc<Window<Two>> = Arc::new(window(1));
        add(&window, 0, Two::One);
        add(&window, 0, Two::Other);
        let other = spawn(&window, move |window| {
            add(window, 1, Two::One);
            add(window, 2, Two::One);
        });
        set_time(0);
        turn();
        let found = window.snapshot();
        let found = (found.sum(Two::One), found.sum(Two::Other));
        assert!([(1, 1), (0, 0)].contains(&found), "{found:?} was never in the bucket");
        other.join().unwrap();
    });
}
