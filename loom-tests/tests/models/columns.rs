//! A column that changes hands is all zeros for its next owner.
//!
//! Explores a thread that gives columns back while another claims them.

use windrow::{Counter, events};
use windrow_loom_tests::engine::thread;
use windrow_loom_tests::window::{Window, set_time, window};
use windrow_loom_tests::{Model, turn};

/// The number of columns in a model's arena.
const ALL: usize = 16;

fn counter() -> Counter {
    let counter = Counter::new();
    counter.add(5);
    counter
}

/// Both map the arena. The column of the one that is dropped first may be the other's.
#[test]
fn from_counter_to_counter() {
    Model::new("columns::from_counter_to_counter").explore(|| {
        let other = thread::spawn(|| {
            drop(counter());
            turn();
        });
        turn();
        let counter = Counter::new();
        counter.add(1);
        assert_eq!(counter.sum(), 1);
        other.join().unwrap();
    });
}

/// Two counters are dropped: the first leaves a spare column, and the second a bit. All other
/// columns are taken.
#[test]
fn from_counters_to_counter() {
    Model::new("columns::from_counters_to_counter").bounded(3).bounded_over_epoch(1).explore(
        || {
            let rest: Vec<Counter> = (2..ALL).map(|_| counter()).collect();
            let (one, two) = (counter(), counter());
            assert!(!two.by_row().rows.is_empty(), "the arena has {ALL} columns");
            let other = thread::spawn(move || {
                one.add(5);
                two.add(5);
                drop((one, two));
                turn();
            });
            turn();
            let counter = Counter::new();
            counter.add(1);
            assert_eq!(counter.sum(), 1);
            other.join().unwrap();
            drop(rest);
        },
    );
}

/// There is one free column, a spare one, and two threads ask for it.
#[test]
fn from_one_counter_to_two() {
    Model::new("columns::from_one_counter_to_two").bounded(3).bounded_over_epoch(1).explore(|| {
        let rest: Vec<Counter> = (1..ALL).map(|_| counter()).collect();
        drop(counter());
        let other = thread::spawn(|| {
            let other = counter();
            turn();
            other
        });
        let one = counter();
        let other = other.join().unwrap();
        assert_eq!((one.sum(), other.sum()), (5, 5));
        drop(rest);
    });
}

events! {
    /// More than a word of the bitmap has columns, in a model.
    enum Many { A: Count, B: Count, C: Count, D: Count, E: Count, F: Count, G: Count, H: Count, I: Count }
}

/// Runs of columns that are longer than a word of the bitmap.
#[test]
fn from_window_to_window() {
    let name = "columns::from_window_to_window";
    Model::new(name).bounded(2).bounded_over_epoch(1).explore(|| {
        set_time(0);
        let old: Window<Many> = window(1);
        old.add(Many::A, 5);
        let other = thread::spawn(move || drop(old));
        turn();
        let new: Window<Many> = window(1);
        assert_eq!(new.lifetime(Many::A).sum, 0);
        other.join().unwrap();
    });
}
