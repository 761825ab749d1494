//! I9, of a counter: a sum lies between the true count when it began and the true count when it
//! returned, also while another thread drains.

use loom::sync::Arc;
use loom::thread;
use windrow::Counter;
use windrow_loom_tests::Model;

/// A sum while another thread adds twice: what was added before is in it, and a second sum is not
/// smaller.
#[test]
fn sum_against_adds() {
    Model::new("counter_sum::sum_against_adds").explore(|| {
        let counter = Arc::new(Counter::new());
        counter.add(4);
        let adder = thread::spawn({
            let counter = Arc::clone(&counter);
            move || {
                counter.add(1);
                counter.add(2);
            }
        });
        let first = counter.sum();
        let second = counter.sum();
        assert!([4, 5, 7].contains(&first), "{first} was never the count");
        assert!([4, 5, 7].contains(&second), "{second} was never the count");
        assert!(first <= second, "the sum went back from {first} to {second}");
        adder.join().unwrap();
        assert_eq!(counter.sum(), 7);
    });
}

/// A sum while another thread adds, drains, and adds again. The true count goes 4, 5, 0, 2.
#[test]
fn sum_against_a_drain() {
    Model::new("counter_sum::sum_against_a_drain").explore(|| {
        let counter = Arc::new(Counter::new());
        counter.add(4);
        let drainer = thread::spawn({
            let counter = Arc::clone(&counter);
            move || {
                counter.add(1);
                let drained = counter.sum_then_reset();
                counter.add(2);
                drained
            }
        });
        let sum = counter.sum();
        assert!([4, 5, 0, 2].contains(&sum), "{sum} was never the count");
        assert_eq!(drainer.join().unwrap(), 5);
        assert_eq!(counter.sum(), 2);
    });
}

/// Two threads make the first add at once: the counter has one column, whoever claimed it.
#[test]
fn the_first_adds_of_two_threads() {
    Model::new("counter_sum::the_first_adds_of_two_threads").explore(|| {
        let counter = Arc::new(Counter::new());
        let other = thread::spawn({
            let counter = Arc::clone(&counter);
            move || counter.add(1)
        });
        counter.add(2);
        let sum = counter.sum();
        assert!([2, 3].contains(&sum), "{sum} was never the count");
        other.join().unwrap();
        assert_eq!(counter.sum(), 3);
    });
}
