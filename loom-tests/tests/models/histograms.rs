//! I11: a record that a histogram counts is in its sum and within its extremes; each is counted by
//! exactly one drain; no read goes back.
//!
//! Explores one thread that records against reads and drains. The scale has three places: for 0,
//! for 1, and for greater values.

use windrow::{
    Histogram,
    histogram::{Distribution, Scale},
};
use windrow_loom_tests::engine::{
    sync::Arc,
    thread::{self, JoinHandle},
};
use windrow_loom_tests::{Model, turn};

fn histogram() -> Arc<Histogram> {
    Arc::new(Histogram::with_scale(Scale::fixed::<0, 1, 1>()))
}

fn record(histogram: &Histogram, value: u64) {
    turn();
    histogram.record(value);
}

fn spawn<R: Send + 'static>(
    histogram: &Arc<Histogram>,
    body: impl FnOnce(&Histogram) -> R + Send + 'static,
) -> JoinHandle<R> {
    let histogram = Arc::clone(histogram);
    thread::spawn(move || body(&histogram))
}

/// Returns the counts of 0, of 1, and of greater values; and the sum.
fn counts(of: &Distribution) -> [u64; 4] {
    let count = |value| of.cells().filter(|(cell, _)| cell.contains(&value)).map(|(_, n)| n).sum();
    let counts: [u64; 3] = [0, 1, 2].map(count);
    assert!(counts.iter().all(|count| *count < 1 << 32), "below zero: {counts:?}");
    [counts[0], counts[1], counts[2], of.sum()]
}

fn plus(one: [u64; 4], other: [u64; 4]) -> [u64; 4] {
    std::array::from_fn(|at| one[at].wrapping_add(other[at]))
}

/// A counted value is in the sum and within the extremes; and the next read has every value of the
/// one before.
#[test]
fn record_against_reads() {
    Model::new("histograms::record_against_reads").bounded(3).bounded_over_epoch(1).explore(|| {
        let histogram = histogram();
        histogram.record(1);
        let other = spawn(&histogram, |histogram| record(histogram, 5));
        let read = || {
            turn();
            let read = histogram.lifetime();
            let [_, ones, above, sum] = counts(&read);
            assert_eq!(ones, 1);
            assert!(sum == 1 && above == 0 || sum == 6, "counted {above}, sum {sum}");
            assert_eq!((read.min(), read.max()), (Some(1), Some(if above == 1 { 5 } else { 1 })));
            above
        };
        let (first, second) = (read(), read());
        assert!(first <= second, "{first}, then {second}");
        other.join().unwrap();
        assert_eq!(counts(&histogram.lifetime()), [0, 1, 1, 6]);
    });
}

/// A value that is a new maximum in a cell that was used: a read that counts it finds it within the
/// extremes.
#[test]
fn record_in_a_used_cell() {
    let name = "histograms::record_in_a_used_cell";
    Model::new(name).bounded(3).bounded_over_epoch(1).explore(|| {
        let histogram = histogram();
        histogram.record(4);
        let other = spawn(&histogram, |histogram| record(histogram, 5));
        turn();
        let read = histogram.lifetime();
        let [_, _, above, sum] = counts(&read);
        assert!(sum == 9 || sum == 4 && above == 1, "counted {above}, sum {sum}");
        assert!(above == 1 || read.max() == Some(5), "{:?}", read.max());
        other.join().unwrap();
        assert_eq!(counts(&histogram.lifetime()), [0, 0, 2, 9]);
    });
}

/// Two threads make the first records, and so the columns.
#[test]
fn the_first_records_of_two_threads() {
    let name = "histograms::the_first_records_of_two_threads";
    Model::new(name).bounded(2).bounded_over_epoch(1).explore(|| {
        let histogram = histogram();
        let other = spawn(&histogram, |histogram| record(histogram, 1));
        record(&histogram, 0);
        let [zeros, ones, above, sum] = counts(&histogram.lifetime());
        assert_eq!((zeros, above), (1, 0));
        assert!(ones <= sum && sum <= 1, "counted {ones}, sum {sum}");
        other.join().unwrap();
        assert_eq!(counts(&histogram.lifetime()), [1, 1, 0, 1]);
    });
}

/// A read of what came since a drain, while another drain comes: it has what came before it, or
/// after.
#[test]
fn read_against_a_drain() {
    let name = "histograms::read_against_a_drain";
    Model::new(name).bounded(3).bounded_over_epoch(1).explore(|| {
        let histogram = histogram();
        histogram.record(1);
        _ = histogram.take();
        histogram.record(1);
        let other = spawn(&histogram, |histogram| {
            turn();
            let taken = counts(&histogram.take());
            histogram.record(1);
            taken
        });
        turn();
        let [_, ones, _, sum] = counts(&histogram.distribution());
        assert!(
            ones <= 1 && ones <= sum && sum <= 1,
            "counted {ones}, sum {sum}: never since a drain"
        );
        assert_eq!(other.join().unwrap(), [0, 1, 0, 1]);
        assert_eq!(counts(&histogram.distribution()), [0, 1, 0, 1]);
    });
}

/// A drain against the sum alone.
#[test]
fn sum_against_a_drain() {
    let name = "histograms::sum_against_a_drain";
    Model::new(name).bounded(3).bounded_over_epoch(1).explore(|| {
        let histogram = histogram();
        histogram.record(1);
        let other = spawn(&histogram, |histogram| {
            turn();
            _ = histogram.take();
            histogram.record(1);
        });
        turn();
        let sum = histogram.sum();
        assert!(sum <= 1, "{sum}: never since a drain");
        other.join().unwrap();
        assert_eq!(histogram.sum(), 1);
    });
}

/// A record is counted by the drain that it meets, or by the next; in the sum it may be before.
#[test]
fn record_against_a_drain() {
    let name = "histograms::record_against_a_drain";
    Model::new(name).bounded_over_epoch(1).explore(|| {
        let histogram = histogram();
        histogram.record(1);
        let other = spawn(&histogram, |histogram| record(histogram, 5));
        turn();
        let first = counts(&histogram.take());
        assert!(
            first == [0, 1, 0, 1] || first == [0, 1, 0, 6] || first == [0, 1, 1, 6],
            "{first:?}"
        );
        other.join().unwrap();
        let second = histogram.take();
        assert_eq!(plus(first, counts(&second)), [0, 1, 1, 6]);
        assert_eq!(second.max(), Some(5).filter(|_| first[2] == 0));
        assert_eq!(counts(&histogram.lifetime()), [0, 1, 1, 6]);
    });
}

/// Two threads drain, and each has recorded.
#[test]
fn drain_against_drain() {
    let name = "histograms::drain_against_drain";
    Model::new(name).bounded(3).bounded_over_epoch(1).explore(|| {
        let histogram = histogram();
        histogram.record(1);
        let other = spawn(&histogram, |histogram| {
            record(histogram, 0);
            counts(&histogram.take())
        });
        turn();
        let mine = counts(&histogram.take());
        let all = plus(mine, other.join().unwrap());
        assert_eq!(plus(all, counts(&histogram.take())), [1, 1, 0, 1]);
    });
}
