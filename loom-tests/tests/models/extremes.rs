//! I6 and I9, of events of which one extreme alone is kept: a bucket has the extreme of its own
//! values, all the way to what closed buckets leave behind.
//!
//! Explores records that come too late for their bucket, readers while a bucket is closed and its
//! block forgets, and a reader while zero comes after another value.

use windrow::events;
use windrow_loom_tests::engine::sync::Arc;
use windrow_loom_tests::window::{Window, at, set_time, window};
use windrow_loom_tests::{Model, turn};

use crate::spawn;

events! {
    /// One of each.
    enum Queue { Depth: Maximum, Room: Minimum }
}

fn depth(window: &Window<Queue>, bucket: u64, value: u64) {
    set_time(bucket);
    turn();
    window.record(Queue::Depth, value);
}

/// Returns the greatest in each bucket of the interval.
fn depths(window: &Window<Queue>, bucket: u64) -> Vec<Option<u64>> {
    set_time(bucket);
    turn();
    window.snapshot().buckets().iter().map(|bucket| bucket.stats(Queue::Depth).max).collect()
}

/// A value is in the bucket of its time, though its sequence was interrupted by the reuse of that
/// bucket's block.
#[test]
fn record_against_the_reuse_of_its_block() {
    let model = Model::new("extremes::record_against_the_reuse_of_its_block");
    model.bounded(2).bounded_over_epoch(1).explore(|| {
        set_time(0);
        let window: Arc<Window<Queue>> = Arc::new(window(3));
        let other = spawn(&window, |window| depth(window, 0, 9));
        depth(&window, 1, 1);
        depth(&window, 2, 2);
        other.join().unwrap();
        assert_eq!(depths(&window, 2), [Some(9), Some(1), Some(2)]);
    });
}

/// A refused record leaves nothing, wherever it was aborted.
#[test]
fn refused_record_against_rotation() {
    let model = Model::new("extremes::refused_record_against_rotation");
    model.bounded(2).bounded_over_epoch(1).explore(|| {
        set_time(0);
        let window: Arc<Window<Queue>> = Arc::new(window(1));
        let other = spawn(&window, |window| {
            set_time(0);
            turn();
            window.record_at(at(0), Queue::Depth, 9)
        });
        depth(&window, 1, 6);
        let expected = if other.join().unwrap().is_ok() { 9 } else { 6 };
        assert_eq!(window.lifetime(Queue::Depth).max, Some(expected));
    });
}

/// Every read of a bucket at rest finds the same while the bucket is closed; the lifetime stays the
/// same too.
#[test]
fn close_against_read() {
    Model::new("extremes::close_against_read").bounded(2).bounded_over_epoch(1).explore(|| {
        set_time(0);
        let window: Arc<Window<Queue>> = Arc::new(window(2));
        depth(&window, 0, 4);
        window.record(Queue::Room, 4);
        let other = spawn(&window, |window| {
            depth(window, 1, 1);
            window.record(Queue::Room, 7);
        });
        set_time(0);
        turn();
        let found = (window.stats(Queue::Depth).max, window.stats(Queue::Room).min);
        assert_eq!(found, (Some(4), Some(4)));
        turn();
        let all = (window.lifetime(Queue::Depth).max, window.lifetime(Queue::Room).min);
        assert_eq!(all, (Some(4), Some(4)), "an extreme got lost on its way");
        other.join().unwrap();
    });
}

/// There is nothing, and then there is five. That zero comes afterwards changes nothing.
#[test]
fn read_against_zero_behind_another_value() {
    let model = Model::new("extremes::read_against_zero_behind_another_value");
    model.bounded(3).bounded_over_epoch(2).explore(|| {
        set_time(0);
        let window: Arc<Window<Queue>> = Arc::new(window(1));
        let other = spawn(&window, |window| {
            depth(window, 0, 5);
            depth(window, 0, 0);
        });
        turn();
        let found = window.lifetime(Queue::Depth).max;
        assert!([None, Some(5)].contains(&found), "{found:?} was never the greatest");
        turn();
        let found = window.stats(Queue::Depth).max;
        assert!([None, Some(5)].contains(&found), "{found:?} was never the greatest");
        other.join().unwrap();
        assert_eq!(window.stats(Queue::Depth).max, Some(5));
    });
}
