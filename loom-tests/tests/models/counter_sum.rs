//! I9, of a counter: a sum lies between the true count when it began and the true count when it
//! returned.
//!
//! Explores sums against adds, against a drain, and against the claim of the counter's column.

use windrow::Counter;
use windrow_loom_tests::engine::{sync::Arc, thread};
use windrow_loom_tests::{Model, turn};

fn add(counter: &Counter, n: u64) {
    turn();
    counter.add(n);
}

fn sum(counter: &Counter) -> u64 {
    turn();
    counter.sum()
}

/// Earlier adds are in the sum, and a second sum is not smaller. Three threads, so that adds to
/// different rows are under way at once; the true count grows by 1 and by 2 in any order.
#[test]
fn sums_against_two_adders() {
    Model::new("counter_sum::sums_against_two_adders").bounded(3).explore(|| {
        let counter = Arc::new(Counter::new());
        add(&counter, 4);
        let adders = [1, 2].map(|n| {
            let counter = Arc::clone(&counter);
            thread::spawn(move || add(&counter, n))
        });
        let (first, second) = (sum(&counter), sum(&counter));
        assert!((4..=7).contains(&first), "{first} was never the count");
        assert!((first..=7).contains(&second), "the sum went from {first} to {second}");
        for adder in adders {
            adder.join().unwrap();
        }
        assert_eq!(sum(&counter), 7);
    });
}

/// The other thread adds, drains, and adds again: the true count goes 4, 5, 0, 2.
#[test]
fn sum_against_a_drain() {
    Model::new("counter_sum::sum_against_a_drain").explore(|| {
        let counter = Arc::new(Counter::new());
        add(&counter, 4);
        let drainer = thread::spawn({
            let counter = Arc::clone(&counter);
            move || {
                add(&counter, 1);
                turn();
                assert_eq!(counter.take(), 5);
                add(&counter, 2);
            }
        });
        let found = sum(&counter);
        assert!([4, 5, 0, 2].contains(&found), "{found} was never the count");
        drainer.join().unwrap();
        assert_eq!(sum(&counter), 2);
    });
}

/// Two threads make the first add at once: the counter has one column, whichever claimed it.
#[test]
fn the_first_adds_of_two_threads() {
    Model::new("counter_sum::the_first_adds_of_two_threads").bounded_per_core(3).explore(|| {
        let counter = Arc::new(Counter::new());
        let other = thread::spawn({
            let counter = Arc::clone(&counter);
            move || add(&counter, 1)
        });
        add(&counter, 2);
        let found = sum(&counter);
        assert!([2, 3].contains(&found), "{found} was never the count");
        other.join().unwrap();
        assert_eq!(sum(&counter), 3);
    });
}
