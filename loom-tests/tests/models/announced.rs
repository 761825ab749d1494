//! I1, I2 and I6 over announced buckets: an add against the close of its bucket, and against the
//! bucket that has the same block, and the same memory, next. Behind a barrier that interrupts the
//! adder at each place where it can stand, and with fences.

use windrow::parts::add_with_fences;
use windrow_loom_tests::engine::sync::Arc;
use windrow_loom_tests::window::{Window, add, each, late, lifetime, set_time, window};
use windrow_loom_tests::{Model, turn};

use crate::spawn;

/// Explores a model in both ways, with at most `preemptions` preemptions; with `WINDROW_QUICK`, as
/// in `cargo xtask ci`, with the second number of them.
fn explore(name: &'static str, (preemptions, quick): (usize, usize), body: fn()) {
    let is_quick = std::env::var_os("WINDROW_QUICK").is_some();
    let preemptions = if is_quick { quick } else { preemptions };
    for fences in [false, true] {
        add_with_fences(fences);
        Model::new(name).bounded(preemptions).explore(body);
    }
    add_with_fences(false);
}

/// Returns a window of one bucket, whose memory the next but one has.
fn of_one() -> Arc<Window> {
    set_time(0);
    Arc::new(window(1))
}

/// Moves on twice.
fn rotate_twice(window: &Window) {
    add(window, 1, 1);
    add(window, 2, 4);
}

/// The bucket at 2 has the block and the memory of the one at 0, and none of its adds.
#[test]
fn an_add_against_the_reuse_of_its_bucket() {
    explore("announced::an_add_against_the_reuse_of_its_bucket", (2, 2), || {
        let window = of_one();
        let other = spawn(&window, rotate_twice);
        add(&window, 0, 2);
        other.join().unwrap();
        assert_eq!(each(&window, 2), [4]);
        assert!([0, 2].contains(&late(&window)), "{} hits were late", late(&window));
        assert_eq!(lifetime(&window), 7);
    });
}

/// The second add announces the bucket where the first one has: a thread that sees that sees the
/// first add.
#[test]
fn two_adds_against_the_reuse_of_their_bucket() {
    explore("announced::two_adds_against_the_reuse_of_their_bucket", (2, 1), || {
        let window = of_one();
        let other = spawn(&window, rotate_twice);
        add(&window, 0, 2);
        add(&window, 0, 8);
        other.join().unwrap();
        assert_eq!(each(&window, 2), [4]);
        assert_eq!(lifetime(&window), 15);
    });
}

/// One thread ends, and another may have its slot: a thread that sees the announcement of the
/// second sees the adds of the first.
#[test]
fn adds_of_two_threads_in_one_slot_against_the_reuse_of_their_bucket() {
    explore(
        "announced::adds_of_two_threads_in_one_slot_against_the_reuse_of_their_bucket",
        (1, 0),
        || {
            let window = of_one();
            let others = [2, 8].map(|hits| spawn(&window, move |window| add(window, 0, hits)));
            rotate_twice(&window);
            for other in others {
                other.join().unwrap();
            }
            assert_eq!(each(&window, 2), [4]);
            assert_eq!(lifetime(&window), 15);
        },
    );
}

/// A thread that has not retired the bucket closes it, behind another's barrier.
#[test]
fn an_add_against_a_close_by_a_third_thread() {
    explore("announced::an_add_against_a_close_by_a_third_thread", (1, 1), || {
        set_time(0);
        let window = Arc::new(window(2));
        let rotates = spawn(&window, |window| add(window, 1, 1));
        let closes = spawn(&window, |window| {
            set_time(1);
            turn();
            let mut closed = None;
            window.drain_closed(|bucket| {
                closed = Some(bucket.sum(windrow_loom_tests::window::Hits::Hit));
            });
            closed
        });
        add(&window, 0, 2);
        rotates.join().unwrap();
        let handed_out = closes.join().unwrap();
        assert_eq!(each(&window, 1), [2, 1]);
        // The drained bucket was final, except for back-dated adds; and the add may have come too
        // late to be in another.
        assert!([None, Some(0), Some(2)].contains(&handed_out), "{handed_out:?}");
        assert_eq!((late(&window), lifetime(&window)), (0, 3));
    });
}
