//! Windows of the last n calls: what they hold is what a list of the last n calls holds.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use proptest::prelude::*;
use windrow::last_calls::{CallTotals, Outcome};
use windrow::{LastCalls, LimitError};

const GOOD: Outcome = Outcome { failed: false, slow: false };
const FAILED: Outcome = Outcome { failed: true, slow: false };
const SLOW: Outcome = Outcome { failed: false, slow: true };
const BOTH: Outcome = Outcome { failed: true, slow: true };

/// Counts a list.
fn counted(calls: &VecDeque<Outcome>) -> CallTotals {
    let number = |of: fn(&&Outcome) -> bool| calls.iter().filter(of).count() as u64;
    CallTotals { calls: number(|_| true), failed: number(|c| c.failed), slow: number(|c| c.slow) }
}

/// A step of a history.
#[derive(Clone, Copy, Debug)]
enum Step {
    Record(Outcome),
    Renew,
}

fn step() -> impl Strategy<Value = Step> {
    let outcome = prop::sample::select(vec![GOOD, FAILED, SLOW, BOTH]);
    prop_oneof![20 => outcome.prop_map(Step::Record), 1 => Just(Step::Renew)]
}

proptest! {
    #[test]
    fn histories_have_what_a_list_has(
        size in 1_usize..40,
        steps in prop::collection::vec(step(), 0..300),
    ) {
        let (mut calls, mut list) = (LastCalls::new(size).unwrap(), VecDeque::new());
        for step in steps {
            match step {
                Step::Record(outcome) => {
                    calls.record(outcome);
                    list.push_back(outcome);
                    list.drain(..list.len().saturating_sub(size));
                }
                Step::Renew => (calls, list) = (LastCalls::new(size).unwrap(), VecDeque::new()),
            }
            prop_assert_eq!(calls.totals(), counted(&list));
        }
    }
}

/// Runs `body` in each of some threads.
fn in_threads(threads: usize, body: impl Fn(usize) + Sync) {
    thread::scope(|scope| {
        for thread in 0..threads {
            let body = &body;
            scope.spawn(move || body(thread));
        }
    });
}

/// Each round fills the window, so the totals are the round's.
#[test]
fn rounds_of_many_threads_are_exact() {
    const THREADS: usize = 8;
    for size in [THREADS, 5 * THREADS, 100 * THREADS] {
        let calls = LastCalls::new(size).unwrap();
        for round in 0..400 {
            // Each thread has some failures and some slow calls, of a number that the round says.
            let each = size / THREADS;
            let (failed, slow) = (round % (each + 1), round / 7 % (each + 1));
            in_threads(THREADS, |_| {
                for call in 0..each {
                    calls.record(Outcome { failed: call < failed, slow: call < slow });
                }
            });
            let expected = [size, THREADS * failed, THREADS * slow].map(|number| number as u64);
            let totals = calls.totals();
            assert_eq!([totals.calls, totals.failed, totals.slow], expected, "round {round}");
        }
    }
}

/// A running record is off by one call, and no more.
#[test]
fn reads_beside_records_are_off_by_the_running_ones() {
    const THREADS: u64 = 4;
    const SIZE: usize = 64;
    let (calls, over) = (LastCalls::new(SIZE).unwrap(), AtomicBool::new(false));
    (0..SIZE).for_each(|_| calls.record(FAILED));
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    calls.record(FAILED);
                }
            });
        }
        for _ in 0..100_000 {
            let totals = calls.totals();
            assert!(totals.failed + THREADS >= SIZE as u64 && totals.slow <= THREADS, "{totals:?}");
            assert!(totals.failed <= totals.calls && totals.calls <= SIZE as u64, "{totals:?}");
        }
        over.store(true, Ordering::Relaxed);
    });
    assert_eq!(calls.totals(), CallTotals { calls: 64, failed: 64, slow: 0 });
}

#[test]
fn sizes_are_one_to_a_million() {
    let (size, most) = ((1 << 20) + 1, 1 << 20);
    assert_eq!(LastCalls::new(0).unwrap_err(), LimitError::LastCalls { calls: 0, most });
    assert_eq!(LastCalls::new(size).unwrap_err(), LimitError::LastCalls { calls: size, most });
    assert!(LastCalls::new(usize::MAX).is_err());

    let largest = LastCalls::new(most).unwrap();
    (0..most + 5).for_each(|_| largest.record(BOTH));
    let all = most as u64;
    assert_eq!(largest.totals(), CallTotals { calls: all, failed: all, slow: all });

    let smallest = LastCalls::new(1).unwrap();
    smallest.record(BOTH);
    smallest.record(GOOD);
    assert_eq!(smallest.totals(), CallTotals { calls: 1, failed: 0, slow: 0 });
}
