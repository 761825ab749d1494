//! I1 and I2: every add is in exactly one bucket, the one that its timestamp names, or in `late`.
//!
//! Explores adds to the live bucket against the rotation that retires it, so that the adds end up
//! in its block, in its shared cells, or too late; and against the reuse of its block.

use windrow_loom_tests::Model;
use windrow_loom_tests::engine::sync::Arc;
use windrow_loom_tests::window::{add, each, late, lifetime, set_time, window};

use crate::spawn;

/// One thread is still in bucket 0 when the other opens bucket 1.
#[test]
fn add_against_rotation() {
    Model::new("each_bucket::add_against_rotation").bounded(3).bounded_over_epoch(2).explore(
        || {
            set_time(0);
            let window = Arc::new(window(2));
            let other = spawn(&window, |window| add(window, 1, 1));
            add(&window, 0, 2);
            other.join().unwrap();
            assert_eq!(each(&window, 1), [2, 1]);
            assert_eq!((late(&window), lifetime(&window)), (0, 3));
        },
    );
}

/// In a ring of one slot, an add that comes after the rotation finds its bucket gone.
#[test]
fn add_against_the_rotation_that_ends_its_bucket() {
    let name = "each_bucket::add_against_the_rotation_that_ends_its_bucket";
    Model::new(name).bounded(3).bounded_over_epoch(2).explore(|| {
        set_time(0);
        let window = Arc::new(window(1));
        let other = spawn(&window, |window| add(window, 1, 1));
        add(&window, 0, 2);
        other.join().unwrap();
        assert_eq!(each(&window, 1), [1]);
        assert!([0, 2].contains(&late(&window)), "{} hits were late", late(&window));
        assert_eq!(lifetime(&window), 3);
    });
}

/// A straggler in bucket 0 against two rotations, of which the second may close bucket 0 and hand
/// its block on.
#[test]
fn add_against_the_reuse_of_its_block() {
    Model::new("each_bucket::add_against_the_reuse_of_its_block")
        .bounded(3)
        .bounded_over_epoch(2)
        .explore(|| {
            set_time(0);
            let window = Arc::new(window(3));
            let other = spawn(&window, |window| {
                add(window, 1, 1);
                add(window, 2, 4);
            });
            add(&window, 0, 2);
            other.join().unwrap();
            assert_eq!(each(&window, 2), [2, 1, 4]);
            assert_eq!((late(&window), lifetime(&window)), (0, 7));
        });
}

/// A back-dated add to a bucket that was live, against the rotation that takes it out of the ring.
#[test]
fn back_dated_add_against_rotation() {
    Model::new("each_bucket::back_dated_add_against_rotation")
        .bounded(3)
        .bounded_over_epoch(2)
        .explore(|| {
            set_time(0);
            let window = Arc::new(window(2));
            add(&window, 0, 8);
            add(&window, 1, 1);
            let other = spawn(&window, |window| add(window, 2, 4));
            add(&window, 0, 2);
            other.join().unwrap();
            assert_eq!(each(&window, 2), [1, 4]);
            assert!([0, 2].contains(&late(&window)), "{} hits were late", late(&window));
            assert_eq!(lifetime(&window), 15);
        });
}

/// A back-dated add finds a bucket that is reused before it has a reference: one without a block,
/// of which there is only one, so that it is reused at once.
#[test]
fn back_dated_add_against_its_reuse() {
    let name = "each_bucket::back_dated_add_against_its_reuse";
    Model::new(name).bounded(2).bounded_over_epoch(1).explore(|| {
        set_time(1);
        let window = Arc::new(window(2));
        add(&window, 0, 8); // inserts the bucket
        let other = spawn(&window, |window| {
            add(window, 4, 4); // takes it out of its slot
            add(window, 3, 1); // inserts it again
        });
        add(&window, 0, 2);
        other.join().unwrap();
        assert_eq!(each(&window, 4), [1, 4]);
        assert!([0, 2].contains(&late(&window)), "{} hits were late", late(&window));
        assert_eq!(lifetime(&window), 15);
    });
}

/// The bucket comes back to the slot where it was found. (Portably, the add's pin keeps blocks from
/// being free, so that a bucket without one is opened.)
#[test]
fn back_dated_add_against_the_return_of_its_bucket() {
    let name = "each_bucket::back_dated_add_against_the_return_of_its_bucket";
    Model::new(name).bounded(2).bounded_over_epoch(1).explore(|| {
        set_time(1);
        let window = Arc::new(window(2));
        add(&window, 0, 8); // inserts the bucket
        let other = spawn(&window, |window| {
            add(window, 2, 4); // takes it out of its slot
            add(window, 4, 1); // puts it there again
        });
        add(&window, 0, 2);
        other.join().unwrap();
        assert_eq!(each(&window, 4), [0, 1]);
        assert_eq!(lifetime(&window), 15);
    });
}
