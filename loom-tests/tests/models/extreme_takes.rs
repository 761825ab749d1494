//! Takes of a maximum: each value is covered by exactly one of them, and none is taken twice.
//!
//! Explores a take against records to the same cell and to others, of zero too, and against another
//! take.

use windrow::Maximum;
use windrow_loom_tests::engine::{sync::Arc, thread};
use windrow_loom_tests::{Model, turn};

fn record(maximum: &Maximum, value: u64) {
    turn();
    maximum.record(value);
}

fn take(maximum: &Maximum) -> Option<u64> {
    turn();
    maximum.take()
}

/// The other thread records; the first take has either what was there before or the greater one.
fn take_against(
    name: &'static str,
    before: u64,
    values: [u64; 2],
    expected: &'static [[Option<u64>; 2]],
) {
    Model::new(name).explore(move || {
        let maximum = Arc::new(Maximum::new());
        record(&maximum, before);
        let other = thread::spawn({
            let maximum = Arc::clone(&maximum);
            move || values.into_iter().for_each(|value| record(&maximum, value))
        });
        let first = take(&maximum);
        other.join().unwrap();
        let taken = [first, maximum.take()];
        assert!(expected.contains(&taken), "{taken:?} of {before}, then {values:?}");
        assert_eq!(maximum.take(), None);
    });
}

/// A rise is taken by the first take or left to the second.
#[test]
fn take_against_a_rise() {
    let expected = &[[Some(5), Some(9)], [Some(7), Some(9)], [Some(9), None]];
    take_against("extreme_takes::take_against_a_rise", 5, [7, 9], expected);
}

/// A lesser value, which writes nothing, is covered by a take that has the greater one.
#[test]
fn take_against_a_lesser_value() {
    // A cell of its own has the lesser value, too.
    let expected = &[[Some(5), None], [Some(5), Some(3)], [Some(5), Some(2)]];
    take_against("extreme_takes::take_against_a_lesser_value", 5, [3, 2], expected);
}

/// Zero is a value, which a later one covers.
#[test]
fn take_against_zero() {
    let expected = &[[Some(0), Some(4)], [Some(4), None]];
    take_against("extreme_takes::take_against_zero", 0, [0, 4], expected);
}

/// Two takes share the values: together they have the greatest, once.
#[test]
fn take_against_take() {
    Model::new("extreme_takes::take_against_take").bounded(3).explore(|| {
        let maximum = Arc::new(Maximum::new());
        record(&maximum, 5);
        let other = thread::spawn({
            let maximum = Arc::clone(&maximum);
            move || {
                record(&maximum, 8);
                take(&maximum)
            }
        });
        let mine = take(&maximum);
        let theirs = other.join().unwrap();
        let taken = [mine, theirs, maximum.take()];
        let times = |value| taken.iter().filter(|taken| **taken == Some(value)).count();
        assert!(times(8) == 1 && times(5) <= 1, "{taken:?}");
    });
}

/// One of two takes has the zero.
#[test]
fn take_of_zero_against_take() {
    Model::new("extreme_takes::take_of_zero_against_take").explore(|| {
        let maximum = Arc::new(Maximum::new());
        record(&maximum, 0);
        let other = thread::spawn({
            let maximum = Arc::clone(&maximum);
            move || take(&maximum)
        });
        let mine = take(&maximum);
        let mut taken = [mine, other.join().unwrap()];
        taken.sort();
        assert_eq!(taken, [None, Some(0)]);
    });
}
