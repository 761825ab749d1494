//! I6: the totals published at close equal the block's final difference, and a reader counts a
//! bucket once, whether it finds it open, closing, closed, or its block with the next owner.
//!
//! Explores a reader of bucket 0 while another thread moves on, closes bucket 0 and counts in its
//! block for the next bucket.

use windrow::events;
use windrow_loom_tests::engine::sync::Arc;
use windrow_loom_tests::window::{Window, add, at, each, set_time, sum, window};
use windrow_loom_tests::{Model, turn};

use crate::spawn;

/// The bucket is at rest, so every read must find the same.
#[test]
fn close_against_read() {
    Model::new("closing::close_against_read").bounded(3).bounded_over_epoch(2).explore(|| {
        set_time(0);
        let window = Arc::new(window(3));
        add(&window, 0, 5);
        let other = spawn(&window, |window| {
            add(window, 1, 10);
            add(window, 2, 100);
        });
        assert_eq!(sum(&window, 0), 5);
        other.join().unwrap();
        assert_eq!(each(&window, 2), [5, 10, 100]);
    });
}

/// A later rotation closes a bucket whose grace period could not pass at first.
#[test]
fn close_by_the_next_rotation() {
    Model::new("closing::close_by_the_next_rotation").bounded(3).bounded_over_epoch(2).explore(
        || {
            set_time(0);
            let window = Arc::new(window(3));
            add(&window, 0, 5);
            let other = spawn(&window, |window| add(window, 1, 10));
            assert_eq!(sum(&window, 0), 5);
            other.join().unwrap();
            add(&window, 2, 100);
            assert_eq!(each(&window, 2), [5, 10, 100]);
            if cfg!(windrow_checker) {
                assert!(window.snapshot().buckets()[0].is_closed(), "the bucket was left open");
            }
        },
    );
}

/// One thread closes a bucket, another takes its block over and counts from where it was left.
#[test]
fn block_that_another_has_closed() {
    Model::new("closing::block_that_another_has_closed").bounded(1).explore(|| {
        set_time(0);
        let window = Arc::new(window(3));
        add(&window, 0, 5);
        add(&window, 1, 10);
        let other = spawn(&window, |window| {
            add(window, 2, 100);
            assert_eq!(each(window, 2), [5, 10, 100]);
        });
        turn();
        window.drain_closed(|_| ());
        other.join().unwrap();
    });
}

events! {
    /// The event whose extremes a closed bucket must still know.
    enum Timing { Took: Value }
}

/// A record that comes too late for its bucket leaves nothing there, nor in the lifetime, wherever
/// it was aborted.
#[test]
fn refused_record_against_rotation() {
    let model = Model::new("closing::refused_record_against_rotation");
    model.bounded(2).bounded_over_epoch(1).explore(|| {
        set_time(0);
        let window: Arc<Window<Timing>> = Arc::new(window(1));
        window.record(Timing::Took, 5);
        let other = spawn(&window, |window| {
            set_time(0);
            turn();
            window.record_at(at(0), Timing::Took, 9)
        });
        set_time(1);
        turn();
        window.record(Timing::Took, 6);
        let counted = other.join().unwrap().is_ok();
        let all = window.lifetime(Timing::Took);
        let expected = if counted { (3, 20, Some(9)) } else { (2, 11, Some(6)) };
        assert_eq!((all.count, all.sum, all.max), expected);
        assert_eq!(all.min, Some(5));
    });
}

/// A bucket without a block is final only when its adders are done: threads that add to its shared
/// cells, and have found it live.
#[test]
#[cfg(loom)]
fn final_against_its_adders() {
    Model::new("closing::final_against_its_adders").explore(|| {
        let bucket = Arc::new(windrow::parts::Retired::new());
        let other = {
            let bucket = Arc::clone(&bucket);
            windrow_loom_tests::engine::thread::spawn(move || bucket.add())
        };
        turn();
        if let Some((first, second)) = bucket.retire() {
            assert_eq!(first, second, "an add was under way");
        }
        other.join().unwrap();
    });
}

/// Two threads try to close a bucket: one asks for the barrier, and the other does not wait for it.
#[test]
#[cfg(loom)]
fn close_against_close() {
    Model::new("closing::close_against_close").bounded(2).explore(|| {
        let bucket = Arc::new(windrow::parts::Unclosed::new());
        let other = {
            let bucket = Arc::clone(&bucket);
            windrow_loom_tests::engine::thread::spawn(move || bucket.close_retired())
        };
        turn();
        bucket.close_retired();
        other.join().unwrap();
        // (A grace period may take longer than either looks.)
        assert!(bucket.is_closed() || !cfg!(windrow_per_core), "both left it to the other");
    });
}

/// Count, sum, minimum and maximum of a closed bucket agree, while its block forgets them.
#[test]
fn close_against_read_of_extremes() {
    Model::new("closing::close_against_read_of_extremes")
        .bounded(2)
        .bounded_over_epoch(1)
        .bounded_per_core(1)
        .explore(|| {
            set_time(0);
            let window: Arc<Window<Timing>> = Arc::new(window(2));
            window.record(Timing::Took, 3);
            window.record(Timing::Took, 4);
            let other = spawn(&window, |window| {
                set_time(1);
                turn();
                window.record(Timing::Took, 9);
            });
            turn();
            let stats = window.stats(Timing::Took);
            assert_eq!((stats.count, stats.sum), (2, 7));
            assert_eq!((stats.min, stats.max), (Some(3), Some(4)));
            turn();
            let all = window.lifetime(Timing::Took);
            assert_eq!(all.min, Some(3), "the minimum got lost on its way");
            assert!(all.max >= Some(4), "the maximum got lost on its way");
            other.join().unwrap();
            let all = window.lifetime(Timing::Took);
            assert_eq!((all.count, all.sum, all.min, all.max), (3, 16, Some(3), Some(9)));
        });
}

/// Reads the extremes of a tier while another thread closes the bucket that has them.
#[cfg(loom)]
fn against_a_read_of_a_tiers_extremes(
    name: &'static str,
    bound: usize,
    close: impl Fn(&windrow::parts::TierClosed) + Send + Sync + 'static,
) {
    Model::new(name).bounded(bound).explore(move || {
        let bucket = Arc::new(windrow::parts::TierClosed::new());
        let check = |bucket: &windrow::parts::TierClosed| {
            let stats = bucket.stats();
            assert_eq!((stats.count, stats.sum), (1, 16));
            assert_eq!((stats.min, stats.max), (Some(16), Some(16)), "lost on their way");
        };
        let other = {
            let bucket = Arc::clone(&bucket);
            windrow_loom_tests::engine::thread::spawn(move || check(&bucket))
        };
        close(&bucket);
        other.join().unwrap();
        check(&bucket);
    });
}

/// A maximum that a closer takes from a block, and a minimum, are found in the block or in the
/// tier.
#[test]
#[cfg(loom)]
fn close_against_a_read_of_a_tiers_extremes() {
    let name = "closing::close_against_a_read_of_a_tiers_extremes";
    against_a_read_of_a_tiers_extremes(name, 2, windrow::parts::TierClosed::close_retired);
}

/// The bucket is reused at once, while a tier's extremes are read.
#[test]
#[cfg(loom)]
fn reuse_against_a_read_of_a_tiers_extremes() {
    let name = "closing::reuse_against_a_read_of_a_tiers_extremes";
    against_a_read_of_a_tiers_extremes(name, 2, |bucket| {
        bucket.close_retired();
        let _ = bucket.reuse();
    });
}
