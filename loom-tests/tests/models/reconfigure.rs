//! I1 across a change of geometry: what the old ring holds is carried over, and no add gets lost on
//! the way, whichever ring it goes to.
//!
//! Explores changes against adds, back-dated adds and reads; and changes that other threads make,
//! because the caller was not fast enough.

use windrow_loom_tests::engine::sync::Arc;
use windrow_loom_tests::window::{add, each, late, lifetime, reconfigure, set_time, sum, window};
use windrow_loom_tests::{Model, turn};

use crate::spawn;

/// An add to the live bucket.
#[test]
fn reconfigure_against_add() {
    let model = Model::new("reconfigure::reconfigure_against_add");
    model.bounded_over_epoch(2).bounded_per_core(3).explore(|| {
        set_time(0);
        let window = Arc::new(window(1));
        add(&window, 0, 1);
        let other = spawn(&window, |window| reconfigure(window, 2));
        add(&window, 0, 2);
        other.join().unwrap();
        assert_eq!(each(&window, 0), [3]);
        assert_eq!((late(&window), lifetime(&window)), (0, 3));
    });
}

/// An add to a bucket before the live one, which exists.
#[test]
fn reconfigure_against_back_dated_add() {
    Model::new("reconfigure::reconfigure_against_back_dated_add")
        .bounded(3)
        .bounded_over_epoch(2)
        .explore(|| {
            set_time(0);
            let window = Arc::new(window(2));
            add(&window, 0, 1);
            add(&window, 1, 4);
            let other = spawn(&window, |window| reconfigure(window, 3));
            add(&window, 0, 2);
            other.join().unwrap();
            assert_eq!(each(&window, 1), [3, 4]);
            assert_eq!((late(&window), lifetime(&window)), (0, 7));
        });
}

/// An add to a start before the live one, which has no bucket yet.
#[test]
fn reconfigure_against_insertion() {
    Model::new("reconfigure::reconfigure_against_insertion")
        .bounded(3)
        .bounded_over_epoch(2)
        .explore(|| {
            set_time(0);
            let window = Arc::new(window(2));
            add(&window, 1, 4);
            let other = spawn(&window, |window| reconfigure(window, 3));
            add(&window, 0, 2);
            other.join().unwrap();
            assert_eq!(each(&window, 1), [2, 4]);
            assert_eq!((late(&window), lifetime(&window)), (0, 6));
        });
}

/// The second change carries what the first one inherited, if no thread writes there any more.
#[test]
fn two_changes_against_add() {
    Model::new("reconfigure::two_changes_against_add").bounded(3).bounded_over_epoch(2).explore(
        || {
            set_time(0);
            let window = Arc::new(window(1));
            add(&window, 0, 1);
            let other = spawn(&window, |window| {
                reconfigure(window, 2);
                reconfigure(window, 1);
            });
            add(&window, 0, 2);
            other.join().unwrap();
            assert_eq!(each(&window, 0), [3]);
            assert_eq!((late(&window), lifetime(&window)), (0, 3));
        },
    );
}

/// A reader finds each number once, in the old ring or in the new one.
#[test]
fn two_changes_against_read() {
    Model::new("reconfigure::two_changes_against_read").bounded(3).bounded_over_epoch(2).explore(
        || {
            set_time(0);
            let window = Arc::new(window(2));
            add(&window, 0, 1);
            let other = spawn(&window, |window| {
                reconfigure(window, 3);
                reconfigure(window, 2);
            });
            assert_eq!(sum(&window, 1), 1);
            other.join().unwrap();
            assert_eq!(sum(&window, 1), 1);
        },
    );
}

/// A rotation makes the proposed change, or comes before it, and another one does not make it
/// a second time.
#[test]
fn proposal_against_rotations() {
    Model::longest("reconfigure::proposal_against_rotations").explore(|| {
        set_time(0);
        let window = Arc::new(window(1));
        let other = spawn(&window, |window| {
            add(window, 1, 1);
            add(window, 2, 2);
        });
        reconfigure(&window, 3);
        turn();
        assert_eq!(window.buckets(), 3, "the change was not made");
        other.join().unwrap();
        assert_eq!(window.buckets(), 3, "the change was undone");
        assert_eq!((late(&window), lifetime(&window)), (0, 3));
        let found = sum(&window, 2);
        assert!(found == 2 || found == 3, "{found}");
    });
}

/// Two threads change the geometry, and one of them moves on: each proposal is made once, by any of
/// them.
#[test]
fn two_proposals_against_a_rotation() {
    Model::longest("reconfigure::two_proposals_against_a_rotation").explore(|| {
        set_time(0);
        let window = Arc::new(window(2));
        let other = spawn(&window, |window| reconfigure(window, 3));
        reconfigure(&window, 4);
        add(&window, 1, 1);
        let first = window.buckets();
        other.join().unwrap();
        let last = window.buckets();
        assert!(first == 4 || last == 3, "went from {first} to {last} buckets");
        assert!([3, 4].contains(&last), "ended with {last} buckets");
        assert_eq!((sum(&window, 1), late(&window), lifetime(&window)), (1, 0, 1));
    });
}
