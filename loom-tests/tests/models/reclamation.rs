//! I5: no thread touches freed memory, and everything allocated is freed.
//!
//! There is little to assert here: over the checking reclaimer a freed block fails the model when
//! it is read, and one that was never freed fails it when the execution ends. (Every other model
//! fails by these, too.) Explores an adder and readers against rotations that retire buckets, and
//! the window's end in either thread.

use windrow_loom_tests::Model;
use windrow_loom_tests::engine::sync::Arc;
use windrow_loom_tests::window::{add, each, reconfigure, set_time, sum, window};

use crate::spawn;

/// The ring has one slot, so each rotation retires a bucket. The thread that is done last drops the
/// window.
#[test]
fn add_against_rotations_and_the_end() {
    Model::longest("reclamation::add_against_rotations_and_the_end").explore(|| {
        set_time(0);
        let window = Arc::new(window(1));
        let other = spawn(&window, |window| {
            add(window, 1, 1);
            add(window, 2, 1);
        });
        add(&window, 1, 1);
        drop(window);
        other.join().unwrap();
    });
}

/// A reader follows slots while rotations empty them.
#[test]
fn read_against_rotations_and_the_end() {
    Model::new("reclamation::read_against_rotations_and_the_end")
        .bounded(2)
        .bounded_over_epoch(2)
        .explore(|| {
            set_time(0);
            let window = Arc::new(window(2));
            add(&window, 1, 1);
            let other = spawn(&window, |window| {
                add(window, 2, 1);
                add(window, 3, 1);
            });
            let held = each(&window, 2);
            assert!(held.iter().all(|hits| *hits <= 1), "a bucket held {held:?}");
            drop(window);
            other.join().unwrap();
        });
}

/// A reader follows a generation while it is replaced.
#[test]
fn read_against_reconfigure_and_the_end() {
    Model::new("reclamation::read_against_reconfigure_and_the_end")
        .bounded(3)
        .bounded_over_epoch(2)
        .explore(|| {
            set_time(0);
            let window = Arc::new(window(2));
            add(&window, 0, 1);
            let other = spawn(&window, |window| {
                reconfigure(window, 1);
                reconfigure(window, 2);
            });
            assert_eq!(sum(&window, 0), 1);
            drop(window);
            other.join().unwrap();
        });
}
