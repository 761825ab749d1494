//! Wide cells: a histogram's, in groups that a bucket has only once they are used. I1 and I9: none
//! of them is lost, and a reader finds a group that is not there, or has just come, to hold its
//! values.
//!
//! Explores first records of one group, by two threads; reads against a first record, against the
//! closing that writes a group, and against the reuse of the block that has the prefix.

use windrow::{events, histogram::Scale};
use windrow_loom_tests::engine::sync::Arc;
use windrow_loom_tests::window::{Window, at, set_time, window};
use windrow_loom_tests::{Model, turn};

use crate::spawn;

events! {
    /// Three places: up to 1, up to 2, and above. Each is a group.
    enum Latency { Rt: Histogram(Scale::fixed::<0, 1, 1>()) }
}

fn record(window: &Window<Latency>, bucket: u64, value: u64) {
    set_time(bucket);
    turn();
    window.record(Latency::Rt, value);
}

fn record_at(window: &Window<Latency>, bucket: u64, value: u64) {
    turn();
    window.record_at(at(bucket), Latency::Rt, value).expect("in the ring");
}

/// Count and sum over the interval that ends with a bucket.
fn read(window: &Window<Latency>, bucket: u64) -> (u64, u64) {
    set_time(bucket);
    turn();
    let of = window.distribution(Latency::Rt);
    (of.count(), of.sum())
}

/// Both attach the group.
#[test]
fn two_first_records_of_one_group() {
    Model::new("wide::two_first_records_of_one_group").bounded(2).bounded_over_epoch(1).explore(
        || {
            set_time(2);
            let window: Arc<Window<Latency>> = Arc::new(window(2));
            record_at(&window, 1, 5); // inserts the bucket
            let other = spawn(&window, |window| {
                set_time(2);
                record_at(window, 1, 1);
            });
            record_at(&window, 1, 1);
            other.join().unwrap();
            assert_eq!(read(&window, 2), (3, 7));
        },
    );
}

/// The group comes while it is read.
#[test]
fn read_against_a_first_record() {
    Model::new("wide::read_against_a_first_record").bounded(2).bounded_over_epoch(1).explore(
        || {
            set_time(2);
            let window: Arc<Window<Latency>> = Arc::new(window(2));
            record_at(&window, 1, 5);
            let other = spawn(&window, |window| {
                set_time(2);
                record_at(window, 1, 1);
            });
            let found = read(&window, 2);
            assert!([(1, 5), (1, 6), (2, 6)].contains(&found), "{found:?} was never there");
            other.join().unwrap();
            assert_eq!(read(&window, 2), (2, 6));
        },
    );
}

/// The count and the sum alone: those of all pairs are added up without a distribution.
#[test]
fn stats_against_a_record() {
    Model::new("wide::stats_against_a_record").bounded(2).bounded_over_epoch(1).explore(|| {
        set_time(2);
        let window: Arc<Window<Latency>> = Arc::new(window(2));
        record_at(&window, 1, 5);
        let other = spawn(&window, |window| {
            set_time(2);
            record_at(window, 1, 7); // in the group that is there
        });
        set_time(2);
        turn();
        let found = window.stats(Latency::Rt);
        let found = (found.count, found.sum);
        assert!([(1, 5), (1, 12), (2, 12)].contains(&found), "{found:?} was never there");
        other.join().unwrap();
        assert_eq!(read(&window, 2), (2, 12));
    });
}

/// The closing writes totals into groups that are not there yet; the reader finds the bucket open,
/// or closed.
#[test]
fn read_against_the_closing_of_a_bucket() {
    let name = "wide::read_against_the_closing_of_a_bucket";
    Model::new(name).bounded(2).bounded_over_epoch(1).bounded_per_core(1).explore(|| {
        set_time(0);
        let window: Arc<Window<Latency>> = Arc::new(window(2));
        record(&window, 0, 5);
        record(&window, 0, 5); // through the block
        let other = spawn(&window, |window| record(window, 1, 1));
        let found = read(&window, 1);
        assert!([(2, 10), (2, 11), (3, 11)].contains(&found), "{found:?} was never there");
        other.join().unwrap();
        assert_eq!(read(&window, 1), (3, 11));
    });
}

/// The reader is late with the prefix of a bucket, whose block the bucket after next has. The
/// counts that have left are in the prefix.
#[test]
fn read_against_the_reuse_of_its_prefix() {
    let name = "wide::read_against_the_reuse_of_its_prefix";
    Model::new(name).bounded(2).bounded_over_epoch(1).bounded_per_core(0).explore(|| {
        set_time(3);
        let window: Arc<Window<Latency>> = Arc::new(window(2));
        for (bucket, value) in [(3, 5), (4, 7), (5, 9)] {
            record(&window, bucket, value);
            record(&window, bucket, value); // through the block: the first has opened the bucket
        }
        let other = spawn(&window, |window| {
            record(window, 6, 1);
            record(window, 7, 1);
        });
        let found = read(&window, 5);
        assert!([(4, 32), (2, 18), (0, 0)].contains(&found), "{found:?} was never there");
        other.join().unwrap();
        assert_eq!(read(&window, 7), (2, 2));
    });
}

/// The all-time count and sum, while the block that was at rest is taken, closed, and at rest
/// again. A value that is counted is in the sum.
#[test]
fn lifetime_against_the_reuse_of_a_block() {
    let name = "wide::lifetime_against_the_reuse_of_a_block";
    Model::new(name).bounded(2).bounded_over_epoch(1).bounded_per_core(2).explore(|| {
        set_time(1);
        let window: Arc<Window<Latency>> = Arc::new(window(1));
        for bucket in [1, 2] {
            record(&window, bucket, 5);
            record(&window, bucket, 5); // through the block: the first has opened the bucket
        }
        let other = spawn(&window, |window| {
            record(window, 3, 7);
            record(window, 3, 7);
            record(window, 4, 9);
        });
        let look = || {
            turn();
            let of = window.lifetime(Latency::Rt);
            (of.count, of.sum)
        };
        let (count, sum) = look();
        assert!((4..=7).contains(&count), "{count} were never there");
        let least = [20, 27, 34, 43][count as usize - 4];
        assert!((least..=43).contains(&sum), "{count} values of {sum}");
        other.join().unwrap();
        assert_eq!(look(), (7, 43));
    });
}
