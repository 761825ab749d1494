//! I6 and I11, of events whose values are counted by place: what a bucket counts lies within its
//! extremes and is in its sum, whichever pair has counted it.
//!
//! The scale has three places: for 0, for 1, and for greater values. All three have the same two
//! extremes. Explores records beyond these in several pairs, against each other, reads, a close,
//! and the reuse of the block.

use windrow::{
    events,
    histogram::{Distribution, Scale},
};
use windrow_loom_tests::engine::sync::Arc;
use windrow_loom_tests::window::{Window, set_time, window};
use windrow_loom_tests::{Model, turn};

use crate::spawn;

events! {
    /// An event whose values are told apart by place.
    enum Timing { Took: Histogram(Scale::fixed::<0, 1, 1>()) }
}

fn record(window: &Window<Timing>, bucket: u64, value: u64) {
    set_time(bucket);
    turn();
    window.record(Timing::Took, value);
}

/// Returns the counts of 0, of 1, and of greater values; and the sum.
fn counts(of: &Distribution) -> [u64; 4] {
    let count = |value| of.cells().filter(|(cell, _)| cell.contains(&value)).map(|(_, n)| n).sum();
    let counts: [u64; 3] = [0, 1, 2].map(count);
    assert!(counts.iter().all(|count| *count < 1 << 32), "below zero: {counts:?}");
    [counts[0], counts[1], counts[2], of.sum()]
}

/// At most one value is above, a five; and one is a zero. What of them is counted is in the sum and
/// an extreme.
fn is_sound(of: &Distribution) {
    let [zeros, ones, above, sum] = counts(of);
    assert!(zeros <= 1 && above <= 1, "{of:?}: doubled");
    let might = ones + 5;
    assert!(sum == might || sum == ones && above == 0, "{of:?}: the sum lacks counted values");
    let (min, max) = (of.min(), of.max());
    assert!(zeros == 0 || min == Some(0), "{of:?}: zero is counted, and not the least");
    assert!(above == 0 || max == Some(5), "{of:?}: five is counted, and not the greatest");
}

/// Each bucket's counts, sum and extremes, in the interval that ends with a bucket.
type Kept = ([u64; 4], Option<u64>, Option<u64>);

fn each(window: &Window<Timing>, bucket: u64) -> Vec<Kept> {
    set_time(bucket);
    turn();
    let kept = |of: Distribution| (counts(&of), of.min(), of.max());
    let snapshot = window.snapshot();
    snapshot.buckets().iter().map(|bucket| kept(bucket.distribution(Timing::Took))).collect()
}

/// A value beyond the extremes, in another pair than the one before, while another thread reads.
#[test]
fn record_against_a_read() {
    let model = Model::new("window_histograms::record_against_a_read");
    model.bounded(2).bounded_over_epoch(1).bounded_per_core(1).explore(|| {
        set_time(0);
        let window: Arc<Window<Timing>> = Arc::new(window(1));
        record(&window, 0, 1);
        let other = spawn(&window, |window| record(window, 0, 5));
        turn();
        is_sound(&window.distribution(Timing::Took));
        other.join().unwrap();
        assert_eq!(each(&window, 0), [([0, 1, 1, 6], Some(1), Some(5))]);
    });
}

/// Two such values, one after the other, in pairs of their own.
#[test]
fn records_against_a_lifetime() {
    let model = Model::new("window_histograms::records_against_a_lifetime");
    model.bounded(2).bounded_over_epoch(1).bounded_per_core(1).explore(|| {
        set_time(0);
        let window: Arc<Window<Timing>> = Arc::new(window(1));
        let other = spawn(&window, |window| {
            record(window, 0, 5);
            record(window, 0, 0);
        });
        turn();
        is_sound(&window.lifetime_distribution(Timing::Took));
        other.join().unwrap();
        assert_eq!(each(&window, 0), [([1, 0, 1, 5], Some(0), Some(5))]);
    });
}

/// Two threads of one core, of which one aborts what the other has begun in another pair.
#[test]
fn record_against_a_record_in_another_pair() {
    let model = Model::new("window_histograms::record_against_a_record_in_another_pair");
    model.bounded(3).bounded_over_epoch(2).explore(|| {
        set_time(0);
        let window: Arc<Window<Timing>> = Arc::new(window(1));
        let other = spawn(&window, |window| record(window, 0, 5));
        record(&window, 0, 0);
        let found = window.distribution(Timing::Took);
        is_sound(&found);
        assert_eq!(counts(&found)[0], 1, "the thread's own record");
        other.join().unwrap();
        assert_eq!(each(&window, 0), [([1, 0, 1, 5], Some(0), Some(5))]);
    });
}

/// A read of a bucket at rest finds the same while the bucket is closed. (With sequences or
/// announcements this does not end.)
#[test]
#[cfg(not(any(windrow_per_core, windrow_announced)))]
fn close_against_read() {
    let model = Model::new("window_histograms::close_against_read");
    model.bounded(2).bounded_over_epoch(1).explore(|| {
        set_time(0);
        let window: Arc<Window<Timing>> = Arc::new(window(2));
        record(&window, 0, 5);
        record(&window, 0, 0);
        let other = spawn(&window, |window| record(window, 1, 1));
        set_time(0);
        turn();
        let found = window.distribution(Timing::Took);
        assert_eq!((counts(&found), found.min(), found.max()), ([1, 0, 1, 5], Some(0), Some(5)));
        other.join().unwrap();
        assert_eq!(each(&window, 1)[0], ([1, 0, 1, 5], Some(0), Some(5)));
    });
}

/// A value beyond the extremes while its bucket is retired and closed: its block forgets the values
/// that are pending in each pair.
#[test]
fn record_against_the_reuse_of_its_block() {
    let model = Model::new("window_histograms::record_against_the_reuse_of_its_block");
    model.bounded(2).bounded_over_epoch(1).explore(|| {
        set_time(0);
        let window: Arc<Window<Timing>> = Arc::new(window(3));
        let other = spawn(&window, |window| record(window, 0, 5));
        record(&window, 1, 0);
        record(&window, 2, 3);
        other.join().unwrap();
        let expected = [
            ([0, 0, 1, 5], Some(5), Some(5)),
            ([1, 0, 0, 0], Some(0), Some(0)),
            ([0, 0, 1, 3], Some(3), Some(3)),
        ];
        assert_eq!(each(&window, 2), expected);
        let all = window.lifetime_distribution(Timing::Took);
        assert_eq!((counts(&all), all.min(), all.max()), ([1, 0, 2, 8], Some(0), Some(5)));
    });
}
