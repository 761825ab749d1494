//! I9, of a sum at once over a touched interval: it counts what the shared cells of the interval
//! hold, and nothing that has left.
//!
//! Explores writers to shared cells against the rotation that takes their bucket out of the
//! interval, against threads that settle, and against a reader.

use windrow::parts::Settling;
use windrow_loom_tests::engine::sync::Arc;
use windrow_loom_tests::engine::thread::{self, JoinHandle};
use windrow_loom_tests::{Model, turn};

fn spawn(settling: &Arc<Settling>, run: fn(&Settling)) -> JoinHandle<()> {
    let settling = Arc::clone(settling);
    thread::spawn(move || {
        turn();
        run(&settling);
    })
}

/// Checks, at rest, that the sum at once is known once a thread has settled, and right. (The other
/// reclaimer need not have closed every bucket by then: then it may be unknown.)
fn check(settling: &Settling, now: u64, sums: &[u64]) {
    settling.settle();
    let sum = settling.sum(now);
    assert!(sums.contains(&sum), "{sum} is in the interval");
    let found = settling.sum_at_once(now);
    assert!(
        found == Some(sum) || (found.is_none() && !cfg!(windrow_checker)),
        "{found:?}, not {sum}"
    );
}

/// The writer is late, or has written before its bucket leaves the interval. Afterwards its add is
/// in no sum. (The ring leaps, so that no new bucket takes the place of the writer's.)
#[test]
fn a_writer_against_the_rotation_that_ends_its_interval() {
    let name = "settling::a_writer_against_the_rotation_that_ends_its_interval";
    Model::new(name).bounded(3).bounded_over_epoch(2).explore(|| {
        let settling = Arc::new(Settling::new());
        let writer = spawn(&settling, |settling| {
            settling.add(13, 2);
        });
        turn();
        assert!(settling.rotate(60));
        settling.settle();
        let found = settling.sum_at_once(63);
        assert!([None, Some(17)].contains(&found), "{found:?} was never the count");
        writer.join().unwrap();
        check(&settling, 63, &[17]);
    });
}

/// The writer's bucket stays in the interval.
#[test]
fn a_writer_against_a_thread_that_settles() {
    let name = "settling::a_writer_against_a_thread_that_settles";
    Model::new(name).bounded(3).bounded_over_epoch(2).explore(|| {
        let settling = Arc::new(Settling::new());
        let writer = spawn(&settling, |settling| {
            assert!(settling.add(13, 2));
        });
        turn();
        settling.settle();
        let found = settling.sum_at_once(43);
        assert!([None, Some(25), Some(27)].contains(&found), "{found:?} was never the count");
        writer.join().unwrap();
        check(&settling, 43, &[27]);
    });
}

/// The writer adds to a bucket that a change of geometry takes over. The rotation behind the change
/// writes the prefix, and the sum counts what was taken over and is in the interval: 16 at 43, and
/// 1 at 33.
#[test]
fn a_writer_against_a_rotation_over_a_change() {
    let name = "settling::a_writer_against_a_rotation_over_a_change";
    Model::new(name).bounded(2).bounded_over_epoch(1).explore(|| {
        let settling = Arc::new(Settling::new());
        let writer = spawn(&settling, |settling| {
            settling.add(33, 2);
        });
        turn();
        settling.reconfigure();
        assert!(settling.rotate(60));
        settling.settle();
        let found = settling.sum_at_once(63);
        assert!([None, Some(17), Some(19)].contains(&found), "{found:?} was never the count");
        writer.join().unwrap();
        settling.close_retired();
        assert!(settling.rotate(80));
        check(&settling, 83, &[16]);
    });
}

/// A reader of one interval, while the prefix of the next is written over its own.
#[test]
fn a_sum_against_the_prefix_of_the_next_interval() {
    let name = "settling::a_sum_against_the_prefix_of_the_next_interval";
    Model::new(name).bounded(3).bounded_over_epoch(2).explore(|| {
        let settling = Arc::new(Settling::new());
        settling.settle();
        let other = spawn(&settling, |settling| {
            assert!(settling.rotate(60));
            settling.settle();
        });
        turn();
        let found = settling.sum_at_once(43);
        assert!([None, Some(25)].contains(&found), "{found:?} was never the count");
        let found = settling.sum_at_once(63);
        assert!([None, Some(17)].contains(&found), "{found:?} was never the count");
        other.join().unwrap();
        check(&settling, 63, &[17]);
    });
}

/// Two threads settle, each in an interval of its own, beside a writer.
#[test]
fn a_writer_against_two_threads_that_settle() {
    let name = "settling::a_writer_against_two_threads_that_settle";
    Model::new(name).bounded(2).bounded_over_epoch(1).explore(|| {
        let settling = Arc::new(Settling::new());
        let writer = spawn(&settling, |settling| {
            settling.add(13, 2);
        });
        let other = spawn(&settling, Settling::settle);
        turn();
        assert!(settling.rotate(60));
        settling.settle();
        writer.join().unwrap();
        other.join().unwrap();
        check(&settling, 63, &[17]);
    });
}
