//! I9, of a part of an interval: the sum of some of the buckets lies between their true counts when
//! the call began and when it returned.
//!
//! Such a sum walks over the buckets, where the sum of a whole interval is made at once. Explores
//! walks against adds, the retirement, the close and the reuse of a bucket on the way.

use windrow_loom_tests::engine::sync::Arc;
use windrow_loom_tests::window::{Hits, Window, add, interval, set_time, window};
use windrow_loom_tests::{Model, turn};

use crate::spawn;

/// Returns the hits in the `buckets` buckets that end with a bucket.
fn newest(window: &Window, buckets: u64, bucket: u64) -> u64 {
    set_time(bucket);
    turn();
    window.over(interval(buckets)).expect("a part").sum(Hits::Hit)
}

/// Returns the hits in the bucket before a bucket.
fn one_before(window: &Window, bucket: u64) -> u64 {
    set_time(bucket);
    turn();
    window.over(interval(1)).expect("a part").complete().sum(Hits::Hit)
}

/// Two of three buckets, of which one is live at first, and the other is opened.
#[test]
fn newest_buckets_against_adds_and_a_rotation() {
    let name = "window_parts::newest_buckets_against_adds_and_a_rotation";
    Model::new(name).bounded(2).bounded_over_epoch(1).bounded_per_core(1).explore(|| {
        set_time(0);
        let window = Arc::new(window(3));
        add(&window, 0, 4);
        add(&window, 1, 1);
        let other = spawn(&window, |window| {
            add(window, 1, 2);
            add(window, 2, 16);
        });
        let (first, second) = (newest(&window, 2, 2), newest(&window, 2, 2));
        assert!([1, 3, 19].contains(&first), "{first} was never the count");
        assert!([1, 3, 19].contains(&second), "{second} was never the count");
        assert!(first <= second, "the sum went back from {first} to {second}");
        other.join().unwrap();
        assert_eq!(newest(&window, 2, 2), 19);
    });
}

/// The bucket is live, retired, then closed, which replaces its numbers by totals.
#[test]
fn one_bucket_against_its_retirement_and_close() {
    let name = "window_parts::one_bucket_against_its_retirement_and_close";
    Model::new(name).bounded(2).bounded_over_epoch(1).bounded_per_core(1).explore(|| {
        set_time(0);
        let window = Arc::new(window(3));
        add(&window, 0, 4);
        add(&window, 1, 1);
        let other = spawn(&window, |window| {
            add(window, 1, 2);
            add(window, 2, 16);
            window.drain_closed(|_| ());
        });
        let found = one_before(&window, 2);
        assert!([1, 3].contains(&found), "{found} was never the count");
        other.join().unwrap();
        assert_eq!(one_before(&window, 2), 3);
    });
}

/// The bucket has no block, and there is only one of these, so that it is reused at once.
#[test]
fn one_bucket_against_its_reuse() {
    let name = "window_parts::one_bucket_against_its_reuse";
    Model::new(name).bounded(2).bounded_over_epoch(1).bounded_per_core(1).explore(|| {
        set_time(1);
        let window = Arc::new(window(2));
        add(&window, 0, 8); // inserts the bucket
        let other = spawn(&window, |window| {
            add(window, 4, 4); // takes it out of its slot
            add(window, 3, 1); // inserts it again
        });
        let found = newest(&window, 1, 0);
        assert!([8, 0].contains(&found), "{found} was never the count");
        other.join().unwrap();
    });
}
