//! Freed columns are never missed for good, even if claims were refused meanwhile.
//!
//! Explores a thread that makes room in a full segment while another claims. When both are done,
//! there is room, and a claim finds it.

use windrow::{Counter, Histogram, histogram::Scale};
use windrow_loom_tests::engine::thread;
use windrow_loom_tests::{Model, turn};

/// The number of columns in a model's arena.
const ALL: usize = 16;

/// Half of them, which are a word of the bitmap.
const WORD: Scale = Scale::fixed::<0, 1, 16>();

fn counter() -> Counter {
    let counter = Counter::new();
    counter.add(1);
    counter
}

fn histogram(scale: Scale) -> Histogram {
    let histogram = Histogram::with_scale(scale);
    histogram.record(1);
    histogram
}

/// A histogram is dropped beside one that asks for the same number of columns, and may be refused.
#[test]
fn a_claim_against_the_room_that_a_histogram_leaves() {
    let name = "refusals::a_claim_against_the_room_that_a_histogram_leaves";
    Model::new(name).bounded(3).bounded_over_epoch(1).explore(|| {
        let rest = histogram(WORD);
        let last = histogram(WORD);
        assert!(last.is_striped(), "the arena has {ALL} columns");
        let other = thread::spawn(move || {
            turn();
            drop(last);
        });
        turn();
        drop(histogram(WORD)); // refused or not, it leaves all that there is
        other.join().unwrap();
        assert!(histogram(WORD).is_striped(), "a word is free, and was missed");
        drop(rest);
    });
}

/// A counter is dropped beside one that asks for a column, and may be refused. The column becomes a
/// spare one, of either thread.
#[test]
fn a_claim_against_the_room_that_a_counter_leaves() {
    Model::new("refusals::a_claim_against_the_room_that_a_counter_leaves").explore(|| {
        let rest: Vec<Counter> = (1..ALL).map(|_| counter()).collect();
        let last = counter();
        assert!(last.is_striped(), "the arena has {ALL} columns");
        let other = thread::spawn(move || {
            last.add(1);
            turn();
            drop(last);
        });
        turn();
        drop(counter()); // refused or not, it leaves all that there is
        other.join().unwrap();
        assert!(counter().is_striped(), "a column is free, and was missed");
        drop(rest);
    });
}

/// Two threads ask for the last columns, are refused by each other's claim, and give back theirs.
#[test]
fn claims_against_each_other() {
    Model::new("refusals::claims_against_each_other").bounded(3).bounded_over_epoch(1).explore(
        || {
            let rest: Vec<Counter> = (1..ALL).map(|_| counter()).collect();
            let other = thread::spawn(|| {
                turn();
                drop(counter());
            });
            turn();
            drop(counter());
            other.join().unwrap();
            assert!(counter().is_striped(), "a column is free, and was missed");
            drop(rest);
        },
    );
}

/// One takes a word on the way to both words, and gives it back; meanwhile the other has met it
/// taken.
#[test]
fn a_claim_against_a_long_one_that_is_given_up() {
    /// Both words.
    const BOTH: Scale = Scale::fixed::<0, 1, 4096>();
    let name = "refusals::a_claim_against_a_long_one_that_is_given_up";
    Model::new(name).bounded(2).bounded_over_epoch(1).explore(|| {
        assert_eq!((1 + WORD.cells() + 2, 1 + BOTH.cells() + 2), (ALL / 2, ALL));
        drop(histogram(WORD)); // so that there is a segment, with all of its columns free
        let other = thread::spawn(|| {
            turn();
            drop(histogram(BOTH));
        });
        turn();
        let one = counter();
        turn();
        drop(histogram(WORD));
        other.join().unwrap();
        assert!(histogram(WORD).is_striped(), "a word is free, and was missed");
        drop(one); // it has a column of the other word, or none
    });
}

/// A spare column is missing in a run that is free without it. One thread asks for the run while
/// another, which has no spare column, asks for one.
#[test]
fn a_long_claim_against_a_short_one_for_a_spare_column() {
    let name = "refusals::a_long_claim_against_a_short_one_for_a_spare_column";
    Model::new(name).bounded(3).bounded_over_epoch(1).explore(|| {
        let rest = histogram(WORD);
        drop((0..ALL / 2).map(|_| counter()).collect::<Vec<_>>());
        let other = thread::spawn(|| {
            turn();
            drop(counter());
        });
        turn();
        drop(histogram(WORD));
        other.join().unwrap();
        assert!(histogram(WORD).is_striped(), "a word is free, and was missed");
        drop(rest);
    });
}
