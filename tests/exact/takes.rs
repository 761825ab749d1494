//! Maxima and minima that are taken while threads record, and counters that are compared.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use windrow::{Maximum, Minimum, diagnostics::columns};

const RECORDS: u64 = 200_000;

/// Each thread's values rise, so that each is the maximum of its cell, and none is another's.
#[test]
fn no_maximum_is_taken_twice_and_none_is_lost() {
    let (maximum, minimum, done) = (Maximum::new(), Minimum::new(), AtomicBool::new(false));
    let (mut most, mut least) = thread::scope(|scope| {
        let taker = scope.spawn(|| {
            let (mut most, mut least) = (Vec::new(), Vec::new());
            while !done.load(Ordering::Acquire) {
                most.extend(maximum.take());
                least.extend(minimum.take());
            }
            (most, least)
        });
        let recorder = |first: u64| {
            let (maximum, minimum) = (&maximum, &minimum);
            move || {
                for value in (first..RECORDS).step_by(2) {
                    maximum.record(value);
                    minimum.record(RECORDS - value);
                }
            }
        };
        let recorders = [scope.spawn(recorder(1)), scope.spawn(recorder(2))];
        for recorder in recorders {
            recorder.join().expect("a recorder");
        }
        done.store(true, Ordering::Release);
        taker.join().expect("the taker")
    });
    most.extend(maximum.take());
    least.extend(minimum.take());
    for (taken, end) in [(&mut most, RECORDS - 1), (&mut least, 1)] {
        assert!(taken.contains(&end), "the last value is in no take");
        taken.sort_unstable();
        assert!(taken.is_sorted_by(|one, next| one < next), "a value was taken twice");
    }
    assert_eq!((maximum.take(), minimum.take()), (None, None));
}

#[test]
fn zero_and_the_greatest_number_are_values() {
    let (maximum, minimum) = (Maximum::new(), Minimum::new());
    for (high, low) in [(0, u64::MAX), (u64::MAX, 0), (1, u64::MAX - 1)] {
        assert_eq!((maximum.get(), minimum.get()), (None, None));
        maximum.record(0);
        maximum.record(high);
        minimum.record(u64::MAX);
        minimum.record(low);
        assert!(columns().claimed >= 2, "each in a column");
        assert_eq!((maximum.get(), minimum.get()), (Some(high), Some(low)));
        assert_eq!((maximum.take(), minimum.take()), (Some(high), Some(low)));
        assert_eq!((maximum.take(), minimum.take()), (None, None));
    }
    maximum.record(0);
    _ = maximum.take();
    minimum.record(3);
    _ = minimum.take();
    assert_eq!((maximum.get(), minimum.get()), (None, None));
}
