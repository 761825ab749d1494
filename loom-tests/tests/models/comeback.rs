//! A bucket that leaves its pointer and comes back to it reused: a reader that finds it there, and
//! relies on its version, sees all of its new initialisation.
//!
//! Explores a reader that has loaded the pointer before against a thread that reuses the bucket,
//! and another that takes the block from under it, so that it counts in the other block.

use windrow::parts::{Comeback, LateRotation};
use windrow_loom_tests::engine::{sync::Arc, thread};
use windrow_loom_tests::{Model, turn};

#[test]
fn read_against_a_bucket_that_comes_back() {
    Model::new("comeback::read_against_a_bucket_that_comes_back").bounded(2).explore(|| {
        let comeback = Arc::new(Comeback::new());
        let spawn = |run: fn(&Comeback)| {
            let comeback = Arc::clone(&comeback);
            thread::spawn(move || run(&comeback))
        };
        let maker = spawn(Comeback::leave_and_come_back);
        let taker = spawn(Comeback::take_a_block);
        turn();
        let found = comeback.read();
        maker.join().unwrap();
        taker.join().unwrap();
        let last = Arc::try_unwrap(comeback).expect("the others are done").end();
        if let Some(found) = found.filter(|(start, _)| *start == last.0) {
            assert_eq!(found, last, "the block is another's");
        }
    });
}

/// A span finds the memory of an older slice in the slot of one of its own, for which the memory is
/// reused meanwhile. What the older one has counted is not the span's.
#[test]
fn slices_against_a_bucket_that_comes_back() {
    Model::new("comeback::slices_against_a_bucket_that_comes_back").explore(|| {
        let comeback = Arc::new(Comeback::new());
        let other = {
            let comeback = Arc::clone(&comeback);
            thread::spawn(move || comeback.leave_and_come_back())
        };
        turn();
        let sum = comeback.sum_of_slices();
        assert!([Some(0), None].contains(&sum), "{sum:?} was counted in another slice");
        other.join().unwrap();
        let _ = Arc::try_unwrap(comeback).expect("the other is done").end();
    });
}

/// A span finds the memory of an older slice in the slot of one of its own, for which the memory is
/// reused and given up meanwhile, and then for another slice. What that counts is not the span's.
#[test]
fn slices_against_a_bucket_that_is_given_up() {
    Model::new("comeback::slices_against_a_bucket_that_is_given_up").explore(|| {
        let comeback = Arc::new(Comeback::new());
        let other = {
            let comeback = Arc::clone(&comeback);
            thread::spawn(move || comeback.leave_and_be_given_up())
        };
        turn();
        let sum = comeback.sum_of_slices();
        assert!([Some(0), None].contains(&sum), "{sum:?} was counted in another slice");
        other.join().unwrap();
    });
}

/// A reader looks for a bucket while it is reused for an older slice of time, in another
/// slot. It was opened, so the reader must not treat it as never opened.
#[test]
fn read_against_a_bucket_that_becomes_older() {
    Model::new("comeback::read_against_a_bucket_that_becomes_older").explore(|| {
        let comeback = Arc::new(Comeback::new());
        let other = {
            let comeback = Arc::clone(&comeback);
            thread::spawn(move || comeback.become_older())
        };
        turn();
        assert!(comeback.find_or_be_overtaken(), "read as never opened");
        other.join().unwrap();
        let _ = Arc::try_unwrap(comeback).expect("the other is done").end();
    });
}

/// A thread that makes a prefix finds a bucket that has left, in the slot of a start that never had
/// one. Meanwhile a rotation that comes too late uses the bucket for that start, writes a prefix of
/// its own where totals stand, and gives it up.
#[test]
fn prefix_against_a_rotation_that_comes_too_late() {
    Model::new("comeback::prefix_against_a_rotation_that_comes_too_late").bounded(2).explore(
        || {
            let rotations = Arc::new(LateRotation::new());
            let late = Arc::clone(&rotations);
            let late = thread::spawn(move || late.rotate_late());
            let leaves = rotations.leaves();
            late.join().unwrap();
            assert!([Some(0), None].contains(&leaves), "{leaves:?} leaves the interval");
        },
    );
}
