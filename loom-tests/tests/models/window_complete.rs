//! I9, of the complete buckets of an interval: the sum of those before the bucket of the reader's
//! time is their true count at some instant during the call.
//!
//! Such a sum takes the base of the live bucket's block for the block's sum. Explores that against
//! adds to the live bucket and the ones before, its retirement, and the close that raises the base.

use windrow_loom_tests::engine::sync::Arc;
use windrow_loom_tests::window::{Hits, Window, add, interval, set_time, window};
use windrow_loom_tests::{Model, turn};

use crate::spawn;

/// Returns the hits in the complete buckets of the interval that ends with a bucket.
fn complete(window: &Window, buckets: u64, bucket: u64) -> u64 {
    set_time(bucket);
    turn();
    window.over(interval(buckets)).expect("the interval").complete().sum(Hits::Hit)
}

/// The reader's bucket is opened meanwhile: until then, the live bucket is a complete one.
#[test]
fn complete_against_the_opening_of_the_newest() {
    let name = "window_complete::complete_against_the_opening_of_the_newest";
    Model::new(name).bounded(2).bounded_over_epoch(1).bounded_per_core(1).explore(|| {
        set_time(0);
        let window = Arc::new(window(3));
        add(&window, 0, 4);
        add(&window, 1, 1);
        let other = spawn(&window, |window| {
            add(window, 1, 2);
            add(window, 2, 16);
        });
        let (first, second) = (complete(&window, 3, 2), complete(&window, 3, 2));
        assert!([5, 7].contains(&first), "{first} was never the count");
        assert!([5, 7].contains(&second), "{second} was never the count");
        assert!(first <= second, "the sum went back from {first} to {second}");
        other.join().unwrap();
        assert_eq!(complete(&window, 3, 2), 7);
    });
}

/// The live bucket is added to, retired and closed, which raises its block's base. The reader finds
/// all complete buckets of its interval, or those that are left.
#[test]
fn complete_against_the_close_of_the_newest() {
    let name = "window_complete::complete_against_the_close_of_the_newest";
    Model::new(name).bounded(2).bounded_over_epoch(1).bounded_per_core(1).explore(|| {
        set_time(0);
        let window = Arc::new(window(3));
        add(&window, 0, 4);
        add(&window, 1, 1);
        add(&window, 2, 32);
        let other = spawn(&window, |window| {
            add(window, 2, 64);
            add(window, 3, 16);
            window.drain_closed(|_| ());
        });
        let found = complete(&window, 3, 2);
        assert!([5, 1].contains(&found), "{found} was never the count");
        other.join().unwrap();
        assert_eq!(complete(&window, 3, 3), 97);
    });
}

/// Adds to shared cells: of the live bucket, which are left out, and of one before.
#[test]
fn complete_against_back_dated_adds() {
    let name = "window_complete::complete_against_back_dated_adds";
    Model::new(name).bounded(2).bounded_over_epoch(1).bounded_per_core(1).explore(|| {
        set_time(0);
        let window = Arc::new(window(3));
        add(&window, 0, 4);
        add(&window, 2, 32);
        let other = spawn(&window, |window| {
            add(window, 1, 1); // inserts the bucket
            add(window, 0, 8);
        });
        let found = complete(&window, 3, 2);
        assert!([4, 5, 13].contains(&found), "{found} was never the count");
        other.join().unwrap();
        assert_eq!(complete(&window, 3, 2), 13);
    });
}
