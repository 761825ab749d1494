//! I9, of a window: for the interval that ends at the reader's time, a sum lies between the true
//! counts when the call began and when it returned. With the adds of these models, it is a count
//! that was true in between.
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

/// The reader's interval is over when its slots are taken: it finds all of it, or the rest.
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

/// The reader's time lies past the live bucket, so that the one before has left its interval:
/// wherever adds to that one and its close fall.
#[test]
fn sum_behind_the_live_bucket_against_a_late_add_and_its_close() {
    let name = "window_sum::sum_behind_the_live_bucket_against_a_late_add_and_its_close";
    Model::new(name).bounded(2).bounded_over_epoch(1).bounded_per_core(1).explore(|| {
        set_time(0);
        let window = Arc::new(window(2));
        let other = spawn(&window, |window| {
            add(window, 1, 2);
            assert_eq!(sum(window, 2), 2, "the interval has the live bucket alone");
        });
        add(&window, 0, 16);
        window.drain_closed(|_| ());
        other.join().unwrap();
    });
}

/// A bucket that is current when a sum begins is current again, as another bucket, when it ends.
#[test]
fn sum_against_a_bucket_that_comes_back() {
    let name = "window_sum::sum_against_a_bucket_that_comes_back";
    Model::longest(name).explore(|| {
        set_time(4);
        let window = Arc::new(window(1));
        add(&window, 4, 1);
        let other = spawn(&window, |window| {
            add(window, 5, 2);
            add(window, 6, 4);
            add(window, 6, 16); // through the block: in a model an add that rotates goes beside it
            add(window, 7, 8);
        });
        let found = sum(&window, 4);
        assert!([1, 0].contains(&found), "{found} was never the count");
        other.join().unwrap();
    });
}

/// The prefix of the live bucket stands where its totals will stand. A reader that is late finds
/// those, and must see that the bucket is retired.
#[test]
fn sum_against_the_totals_over_its_prefix() {
    let name = "window_sum::sum_against_the_totals_over_its_prefix";
    Model::new(name).bounded(3).bounded_over_epoch(1).explore(|| {
        set_time(3);
        let window = Arc::new(window(2));
        add(&window, 3, 32);
        add(&window, 4, 128);
        add(&window, 5, 1);
        add(&window, 4, 64); // back-dated: beside its block
        add(&window, 5, 2); // the prefix is 32 now, and will be 2
        let other = spawn(&window, |window| add(window, 6, 256));
        let found = sum(&window, 5);
        assert!([195, 3].contains(&found), "{found} was never the count");
        other.join().unwrap();
    });
}

/// A bucket comes back over a gap, while another counts in between.
#[test]
fn sum_against_a_leap_and_a_bucket_that_comes_back() {
    let name = "window_sum::sum_against_a_leap_and_a_bucket_that_comes_back";
    Model::long(name).explore(|| {
        set_time(4);
        let window = Arc::new(window(2));
        add(&window, 4, 1);
        let other = spawn(&window, |window| {
            add(window, 6, 4);
            add(window, 6, 16); // through the block
            add(window, 7, 8);
        });
        let found = sum(&window, 4);
        assert!([1, 0].contains(&found), "{found} was never the count");
        other.join().unwrap();
    });
}

/// In a ring of two.
#[test]
fn sum_of_two_against_a_bucket_that_comes_back() {
    let name = "window_sum::sum_of_two_against_a_bucket_that_comes_back";
    Model::longest(name).explore(|| {
        set_time(4);
        let window = Arc::new(window(2));
        add(&window, 4, 1);
        let other = spawn(&window, |window| {
            add(window, 5, 2);
            add(window, 6, 4);
            add(window, 6, 16); // through the block
            add(window, 7, 8);
        });
        let found = sum(&window, 4);
        assert!([1, 0].contains(&found), "{found} was never the count");
        other.join().unwrap();
    });
}

/// The [sum above](sum_against_the_totals_over_its_prefix), without a pin. (Of values: in a model
/// only they are added through the block of a bucket that they have opened, so that no bucket is
/// touched.)
#[test]
fn unpinned_sum_against_the_totals_over_its_prefix() {
    let name = "window_sum::unpinned_sum_against_the_totals_over_its_prefix";
    Model::new(name).bounded(2).bounded_over_epoch(1).bounded_per_core(1).explore(|| {
        set_time(3);
        let window: Arc<Window<Times>> = Arc::new(window(2));
        record(&window, 3, 32);
        record(&window, 4, 64);
        record(&window, 5, 1); // the prefix is 32 now, and will be 1
        let other = spawn(&window, |window| {
            record(window, 6, 256);
            record(window, 7, 512); // by now 5 is closed
        });
        set_time(5);
        turn();
        let found = window.sum(Times::Took);
        assert!([65, 1, 0].contains(&found), "{found} was never the sum");
        other.join().unwrap();
    });
}

/// A reader that has counted a back-dated add, in `lifetime`, counts it in a sum at once.
#[test]
fn sum_behind_a_lifetime_that_counts_a_back_dated_add() {
    let name = "window_sum::sum_behind_a_lifetime_that_counts_a_back_dated_add";
    Model::new(name).bounded(2).bounded_over_epoch(1).bounded_per_core(1).explore(|| {
        set_time(3);
        let window: Arc<Window<Times>> = Arc::new(window(2));
        record(&window, 3, 1);
        record(&window, 4, 2);
        let other = spawn(&window, move |window| record(window, 3, 16));
        set_time(4);
        turn();
        let all = window.lifetime(Times::Took).sum;
        let found = window.sum(Times::Took);
        assert!([3, 19].contains(&found) && found >= all, "{all} in all, and then {found}");
        other.join().unwrap();
    });
}

events! {
    /// An event with a sum of values.
    enum Times { Took: Value }
}

fn record(window: &Window<Times>, bucket: u64, value: u64) {
    set_time(bucket);
    turn();
    window.record(Times::Took, value);
}

events! {
    /// Events that take two cells to count.
    enum Two { One: Count, Other: Count }
}

/// A bucket is read as a whole, or not at all.
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

/// The bucket has counted in a block. In a ring of one bucket it is soon in the slot again where it
/// was found.
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
        let found = (found.totals().sum(Two::One), found.totals().sum(Two::Other));
        assert!([(1, 1), (0, 0)].contains(&found), "{found:?} was never in the bucket");
        other.join().unwrap();
    });
}

/// A bucket that has left the ring is found in its slot; by the time that its start is read it
/// stands for an older start than the live one, in another slot, to which the reader comes next.
#[test]
fn sum_of_shared_cells_against_the_reuse_of_a_bucket_that_left() {
    let name = "window_sum::sum_of_shared_cells_against_the_reuse_of_a_bucket_that_left";
    Model::new(name).bounded(3).explore(|| {
        set_time(2);
        let window = Arc::new(window(4));
        add(&window, 1, 1); // inserts a bucket without a block
        add(&window, 4, 2);
        add(&window, 6, 4); // it has left
        add(&window, 4, 16); // touches the interval
        let other = spawn(&window, |window| add(window, 3, 8)); // uses it again
        let found = sum(&window, 6);
        assert!([22, 30].contains(&found), "{found} was never the count");
        other.join().unwrap();
        assert_eq!(sum(&window, 6), 30);
    });
}
