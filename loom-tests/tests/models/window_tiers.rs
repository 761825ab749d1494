//! I9, of a tier: what a span of a tier holds is the true count at some instant during the call,
//! and the coarse buckets add up to it.
//!
//! The models use values: in a model only they are added through the block of a bucket that they
//! have opened.

use windrow::{SlidingWindow, Stats, events};
use windrow_loom_tests::Model;
use windrow_loom_tests::engine::sync::Arc;
use windrow_loom_tests::turn;
use windrow_loom_tests::window::{LENGTH, Local, Window, interval, set_time};

use crate::spawn;

events! {
    enum Times { Took: Value }
}

/// Returns a window of two buckets, with a tier of three pairs of buckets.
fn window() -> Window<Times> {
    window_with(3)
}

/// Returns a window of two buckets, with a tier of a number of pairs of buckets. One of more than
/// 32 has slices of eight pairs, too.
fn window_with(pairs: usize) -> Window<Times> {
    SlidingWindow::<Times>::builder()
        .interval(interval(2))
        .buckets(2)
        .tier(interval(2), pairs)
        .clock(Local)
        .build()
        .expect("the tier fits")
}

fn record(window: &Window<Times>, bucket: u64, value: u64) {
    set_time(bucket);
    turn();
    window.record(Times::Took, value);
}

/// Returns what the four buckets that end with one hold.
fn sum(window: &Window<Times>, bucket: u64) -> u64 {
    set_time(bucket);
    turn();
    window.over(interval(4)).expect("the tier reaches so far").sum(Times::Took)
}

/// Returns what each pair of buckets holds, oldest first.
fn each(window: &Window<Times>, bucket: u64) -> Vec<u64> {
    set_time(bucket);
    turn();
    let series = window.series(0).expect("there is a tier");
    assert_eq!(series.buckets()[0].start().as_nanos() % (2 * LENGTH), 0);
    series.buckets().iter().map(|bucket| bucket.sum(Times::Took)).collect()
}

/// A span begins at a boundary, while another thread goes over the next.
#[test]
fn span_against_a_rotation_over_a_boundary() {
    let name = "window_tiers::span_against_a_rotation_over_a_boundary";
    Model::new(name).bounded(1).bounded_over_epoch(1).bounded_per_core(1).explore(|| {
        set_time(4);
        let window = Arc::new(window());
        record(&window, 4, 1);
        record(&window, 5, 2);
        let other = spawn(&window, |window| {
            record(window, 6, 4);
            record(window, 7, 8);
        });
        let found = sum(&window, 7);
        assert!([3, 7, 15].contains(&found), "{found} was never the sum");
        other.join().unwrap();
        assert_eq!(sum(&window, 7), 15);
    });
}

/// A span begins before the window, while another thread goes over a boundary in it.
#[test]
fn span_from_before_the_window_against_a_rotation() {
    let name = "window_tiers::span_from_before_the_window_against_a_rotation";
    Model::new(name).bounded(1).bounded_over_epoch(1).bounded_per_core(1).explore(|| {
        set_time(4);
        let window = Arc::new(window());
        record(&window, 4, 1);
        let other = spawn(&window, |window| {
            record(window, 6, 2);
            record(window, 7, 4);
        });
        let sum = || {
            set_time(7);
            turn();
            window.over(interval(6)).expect("the tier reaches so far").sum(Times::Took)
        };
        let found = sum();
        assert!([1, 3, 7].contains(&found), "{found} was never the sum");
        other.join().unwrap();
        assert_eq!(sum(), 7);
    });
}

/// A span begins at the boundary that another thread goes over, and notes.
#[test]
fn span_against_the_note_that_it_begins_with() {
    let name = "window_tiers::span_against_the_note_that_it_begins_with";
    Model::long(name).explore(|| {
        set_time(5);
        let window = Arc::new(window());
        record(&window, 5, 1);
        record(&window, 6, 2);
        let other = spawn(&window, |window| record(window, 7, 4));
        set_time(9);
        turn();
        let found = window.over(interval(4)).expect("the tier reaches so far").totals();
        // If 5 was not closed in time, the boundary is not known, and the span begins with the one
        // before.
        let before = u64::from(found.interval() > interval(4));
        let sum = found.sum(Times::Took) - before;
        assert!(
            [2, 6].contains(&sum),
            "{sum} was never the sum: {:?} of {:?}",
            found.stats(Times::Took),
            found.interval()
        );
        // The extremes are those of the counted values; a record that is being made may have raised
        // the greatest.
        let Stats { count, min, max, .. } = found.stats(Times::Took);
        assert_eq!(min, Some(if before > 0 { 1 } else { 2 }), "the minimum is another span's");
        let greatest = if count - before > 1 { 4 } else { 2 };
        assert!(max >= Some(greatest), "the maximum got lost on its way: {max:?} of {count}");
        other.join().unwrap();
    });
}

/// A series is read bucket by bucket. Adds that could not be closed in time are in an older bucket.
#[test]
fn series_against_a_rotation_over_a_boundary() {
    let name = "window_tiers::series_against_a_rotation_over_a_boundary";
    Model::new(name).bounded(1).bounded_over_epoch(1).bounded_per_core(1).explore(|| {
        set_time(4);
        let window = Arc::new(window());
        record(&window, 5, 1);
        let other = spawn(&window, |window| record(window, 6, 4));
        let found = each(&window, 6);
        assert!([[1, 0], [1, 4], [5, 0]].iter().any(|pair| found.ends_with(pair)), "{found:?}");
        other.join().unwrap();
        assert_eq!(each(&window, 6).iter().sum::<u64>(), 5);
    });
}

/// A span ends with the boundary before the live bucket, while another thread retires and closes
/// that, and notes the boundary.
#[test]
fn span_against_the_note_that_it_ends_with() {
    let name = "window_tiers::span_against_the_note_that_it_ends_with";
    Model::long(name).explore(|| {
        set_time(4);
        let window = Arc::new(window());
        record(&window, 4, 1);
        record(&window, 6, 2);
        let other = spawn(&window, |window| record(window, 7, 4));
        set_time(6);
        turn();
        // Longer than the ring: so of the tier.
        let found = window.over(interval(3)).expect("the tier reaches so far").complete();
        // If 4 was not closed in time, that boundary is not known, and the span ends with the next.
        let sum = found.sum(Times::Took);
        let sums: &[u64] = if found.end().as_nanos() == 6 * LENGTH { &[1] } else { &[3, 7] };
        assert!(sums.contains(&sum), "{sum} was never the sum up to {:?}", found.end());
        other.join().unwrap();
    });
}

/// Two threads note the same boundary, or one notes what the other has retired. (Loom does not come
/// to an end with it: too many steps.)
#[cfg(not(loom))]
#[test]
fn note_against_note() {
    let name = "window_tiers::note_against_note";
    Model::new(name).bounded(1).bounded_over_epoch(1).bounded_per_core(1).explore(|| {
        set_time(4);
        let window = Arc::new(window());
        record(&window, 4, 1);
        let other = spawn(&window, |window| record(window, 6, 2));
        record(&window, 8, 4);
        other.join().unwrap();
        let found = each(&window, 8);
        assert_eq!(found.iter().sum::<u64>(), 7, "{found:?}");
        assert!(found[2] <= 4 && found[1] + found[2] <= 6, "{found:?} is newer than it was");
    });
}

/// A reader that has counted a back-dated record, in `lifetime`, counts it in a span of a tier.
#[test]
fn span_behind_a_lifetime_that_counts_a_back_dated_add() {
    let name = "window_tiers::span_behind_a_lifetime_that_counts_a_back_dated_add";
    Model::new(name).bounded(1).bounded_over_epoch(1).bounded_per_core(1).explore(|| {
        set_time(5);
        let window = Arc::new(window());
        record(&window, 5, 1);
        record(&window, 6, 2);
        let other = spawn(&window, |window| record(window, 5, 16));
        set_time(6);
        turn();
        let all = window.lifetime(Times::Took).sum;
        let found = sum(&window, 6);
        assert!([3, 19].contains(&found) && found >= all, "{all} in all, and then {found}");
        other.join().unwrap();
    });
}

/// Returns what the nine pairs of buckets that end with one hold. Where that is the last of eight
/// pairs, these are read as one slice.
fn sum_of_nine_pairs(window: &Window<Times>, bucket: u64) -> u64 {
    set_time(bucket);
    turn();
    window.over(interval(18)).expect("the tier reaches so far").sum(Times::Took)
}

/// A reader that has counted a late record, in `late`, counts it in a span that is read as slices.
#[test]
fn long_span_behind_a_late_add_that_is_counted() {
    let name = "window_tiers::long_span_behind_a_late_add_that_is_counted";
    Model::new(name).bounded(3).explore(|| {
        set_time(159);
        let window = Arc::new(window_with(33));
        record(&window, 159, 1);
        let other = spawn(&window, |window| record(window, 150, 16));
        set_time(159);
        turn();
        let late = window.late(Times::Took).sum;
        let found = sum_of_nine_pairs(&window, 159);
        assert!([1, 17].contains(&found) && found > late, "{late} late, and then {found}");
        other.join().unwrap();
        assert_eq!(sum_of_nine_pairs(&window, 159), 17);
    });
}

/// While a span is read as slices, the tier goes round, and the slices stand for other times.
#[test]
fn long_span_against_the_next_round_of_its_slices() {
    let name = "window_tiers::long_span_against_the_next_round_of_its_slices";
    Model::long(name).explore(|| {
        set_time(159);
        let window = Arc::new(window_with(33));
        record(&window, 159, 1);
        record(&window, 150, 2);
        let other = spawn(&window, |window| {
            // Five slices of eight pairs later: in the same slots.
            record(window, 159 + 80, 4);
            record(window, 150 + 80, 8);
        });
        let found = sum_of_nine_pairs(&window, 159);
        // By then the clock may be behind the ring, and the span have left the tier.
        assert!([3, 0].contains(&found), "{found} was never the sum");
        other.join().unwrap();
        assert_eq!(sum_of_nine_pairs(&window, 159 + 80), 12);
    });
}
