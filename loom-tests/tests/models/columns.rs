//! A column that changes hands is all zeros for its next owner.
//!
//! Explores a thread that gives columns back while another claims them.

use windrow::{Counter, events};
use windrow_loom_tests::engine::thread;
use windrow_loom_tests::window::{Window, set_time, window};
use windrow_loom_tests::{Model, turn};

#[test]
fn from_counter_to_counter() {
    Model::new("columns::from_counter_to_counter").explore(|| {
        let other = thread::spawn(|| {
            let counter = Counter::new();
            counter.add(5);
            turn();
        });
        turn();
        let counter = Counter::new();
        counter.add(1);
        assert_eq!(counter.sum(), 1);
        other.join().unwrap();
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
