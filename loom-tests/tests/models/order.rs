//! I4: `(generation, start)` of `current` never goes back.
//!
//! Explores a change of geometry against a rotation and against another change, under a reader that
//! looks twice.

use windrow_loom_tests::engine::sync::Arc;
use windrow_loom_tests::window::{add, each, late, lifetime, reconfigure, set_time, window};
use windrow_loom_tests::{Model, turn};

use crate::spawn;

/// A rotation in the old ring does not bring the old geometry back.
#[test]
fn reconfigure_against_rotation() {
    Model::longest("order::reconfigure_against_rotation").explore(|| {
        set_time(0);
        let window = Arc::new(window(2));
        let other = spawn(&window, |window| add(window, 1, 1));
        reconfigure(&window, 3);
        turn();
        assert_eq!(window.buckets(), 3, "the old geometry came back");
        other.join().unwrap();
        assert_eq!(window.buckets(), 3, "the old geometry came back");
        assert_eq!(each(&window, 1), [0, 1]);
        assert_eq!((late(&window), lifetime(&window)), (0, 1));
    });
}

/// Two changes at once: one comes after the other, and both threads agree on which.
#[test]
fn reconfigure_against_reconfigure() {
    Model::longest("order::reconfigure_against_reconfigure").explore(|| {
        set_time(0);
        let window = Arc::new(window(2));
        add(&window, 0, 1);
        let other = spawn(&window, |window| reconfigure(window, 3));
        reconfigure(&window, 4);
        turn();
        let first = window.buckets();
        other.join().unwrap();
        let last = window.buckets();
        assert!(first == 4 || last == 3, "went from {first} to {last} buckets");
        assert!([3, 4].contains(&last), "ended with {last} buckets");
        assert_eq!(each(&window, 0), [1]);
        assert_eq!(lifetime(&window), 1);
    });
}

/// A thread that has seen a newer bucket does not see an older one current again. Otherwise its
/// adds would be refused a bucket that is still in the ring, or go to one that is not.
#[test]
fn rotation_under_a_reader() {
    Model::new("order::rotation_under_a_reader")
        .bounded(3)
        .bounded_over_epoch(2)
        .bounded_per_core(2)
        .explore(|| {
            set_time(0);
            let window = Arc::new(window(1));
            let other = spawn(&window, |window| {
                add(window, 1, 1);
                add(window, 2, 2);
            });
            let first = each(&window, 1);
            let second = each(&window, 2);
            let third = each(&window, 1);
            // Bucket 1 has 0 before it is opened, 1 while it is current, and 0 forever once it is
            // gone.
            assert!(second == [0] || second == [2], "bucket 2 held {second:?}");
            if second == [2] {
                assert_eq!(third, [0], "bucket 1 came back");
            } else if first == [1] {
                assert!(third == [0] || third == [1], "bucket 1 held {third:?}");
            }
            other.join().unwrap();
            assert_eq!(each(&window, 2), [2]);
        });
}
