//! I8 and I9, while threads lease rows and give them back: an add is counted once, whichever thread
//! had its row before.
//!
//! Explores threads that end, and so give their rows back, against threads that lease one; adds of
//! a thread that finds none, which are locked and go to the other bank, beside plain ones. There
//! are two rows to lease. Where threads lease none, all threads share the rows.

use windrow::{Counter, Maximum};
use windrow_loom_tests::engine::thread::{self, JoinHandle};
use windrow_loom_tests::engine::{sync::Arc, sync::atomic::AtomicBool};
use windrow_loom_tests::{Model, turn};

use std::sync::atomic::Ordering::{Acquire, Release};

fn count(counter: &Counter, n: u64) {
    turn();
    counter.add(n);
}

/// A thread that adds these, and ends.
fn adder<const N: usize>(counter: &Arc<Counter>, numbers: [u64; N]) -> JoinHandle<()> {
    let counter = Arc::clone(counter);
    thread::spawn(move || numbers.into_iter().for_each(|n| count(&counter, n)))
}

/// Three threads for two rows: one has its row from the thread before it, or finds none.
#[test]
fn a_row_from_one_thread_to_the_next() {
    Model::new("leases::a_row_from_one_thread_to_the_next").bounded(3).explore(|| {
        let counter = Arc::new(Counter::new());
        count(&counter, 4);
        let adders = [adder(&counter, [1]), adder(&counter, [2])];
        count(&counter, 8);
        let found = counter.sum();
        assert!((12..=15).contains(&found), "{found} was never the count");
        for adder in adders {
            adder.join().unwrap();
        }
        assert_eq!(counter.sum(), 15);
    });
}

/// A sum and a second one, while a row changes hands.
#[test]
fn sums_against_a_row_that_changes_hands() {
    Model::new("leases::sums_against_a_row_that_changes_hands").bounded(2).explore(|| {
        let counter = Arc::new(Counter::new());
        let first = adder(&counter, [1]);
        let second = adder(&counter, [2]);
        let (one, two) = (counter.sum(), counter.sum());
        assert!(one <= 3 && one <= two && two <= 3, "the sum went from {one} to {two}");
        first.join().unwrap();
        second.join().unwrap();
        assert_eq!(counter.sum(), 3);
    });
}

/// Drains of a thread that counts in a leased row, and of another that does.
#[test]
fn drains_of_leased_rows() {
    Model::new("leases::drains_of_leased_rows").bounded(3).explore(|| {
        let counter = Arc::new(Counter::new());
        let other = thread::spawn({
            let counter = Arc::clone(&counter);
            move || {
                count(&counter, 1);
                turn();
                counter.take()
            }
        });
        count(&counter, 2);
        turn();
        let mine = counter.take();
        assert!(mine <= 3, "a drain went below zero: {}", mine.cast_signed());
        assert_eq!(mine + other.join().unwrap() + counter.take(), 3);
    });
}

/// A maximum in a row that changes hands, and a reader that learns of it.
#[test]
fn a_maximum_in_a_row_that_changes_hands() {
    Model::new("leases::a_maximum_in_a_row_that_changes_hands").bounded(2).explore(|| {
        let highest = Arc::new((Maximum::new(), AtomicBool::new(false)));
        let recorder = |value| {
            let highest = Arc::clone(&highest);
            thread::spawn(move || {
                turn();
                highest.0.record(value);
                highest.1.store(true, Release);
            })
        };
        let recorders = [recorder(5), recorder(8)];
        turn();
        let told = highest.1.load(Acquire);
        let found = highest.0.get();
        assert!(found >= Some(5) || !told, "{found:?} is not what was recorded");
        for recorder in recorders {
            recorder.join().unwrap();
        }
        assert_eq!(highest.0.get(), Some(8));
    });
}

/// An announced add is counted, although the row was another thread's before.
#[test]
fn what_is_told_is_counted_in_a_row_that_changes_hands() {
    let name = "leases::what_is_told_is_counted_in_a_row_that_changes_hands";
    Model::new(name).bounded(2).explore(|| {
        let counter = Arc::new((Counter::new(), AtomicBool::new(false)));
        let teller = |n| {
            let counter = Arc::clone(&counter);
            thread::spawn(move || {
                count(&counter.0, n);
                counter.1.store(true, Release);
            })
        };
        let tellers = [teller(1), teller(2)];
        turn();
        let told = counter.1.load(Acquire);
        let found = counter.0.sum();
        assert!(found > 0 || !told, "nothing of what was told");
        for teller in tellers {
            teller.join().unwrap();
        }
        assert_eq!(counter.0.sum(), 3);
    });
}
