//! The word's promise, for calls at times that a test has chosen.

use std::time::Duration;

use super::*;
use crate::limit::tests as racing;

const MILLISECOND: u64 = 1_000_000;

fn word(end: &AtomicU64) -> Word<'_> {
    Word { end, terms: Terms::new(Duration::from_millis(1), 3).unwrap() }
}

fn wait(answer: Answer<Moved>) -> Option<u64> {
    match answer {
        Answer::Taken(taken) => Some(taken.wait()),
        Answer::Refused { .. } => None,
    }
}

#[test]
fn a_burst_comes_at_once_and_then_one_in_each_period() {
    let end = AtomicU64::new(0);
    let word = word(&end);
    let waits: Vec<_> = (0..6).map(|_| wait(word.take(7, 1, 2 * MILLISECOND))).collect();
    let [one, two] = [MILLISECOND, 2 * MILLISECOND].map(Some);
    assert_eq!(waits, [Some(0), Some(0), Some(0), one, two, None]);
    assert_eq!(word.take(7, 1, 0), Answer::Refused { wait: Some(3 * MILLISECOND) });
    assert_eq!(word.take(7, 4, u64::MAX), Answer::Refused { wait: None });
    assert_eq!(wait(word.take(7, 0, 0)), Some(0));
}

#[test]
fn the_last_call_is_given_back_as_if_it_had_never_been() {
    let end = AtomicU64::new(0);
    let word = word(&end);
    let taken = |n| match word.take(5, n, u64::MAX) {
        Answer::Taken(taken) => taken,
        answer @ Answer::Refused { .. } => panic!("{answer:?}"),
    };
    let [first, second] = [taken(2), taken(3)];
    assert!(!word.give_back(first), "a later call was told its moment");
    assert!(word.give_back(second) && word.give_back(first));
    assert!(!word.give_back(first) && !word.give_back(taken(0)));
    assert_eq!(word.now(), 0);
}

/// Calls at times that step back and leap, from threads that race: the promise is of moments and
/// weights, and asks for no order.
#[test]
fn no_span_has_more_than_the_burst_and_a_unit_for_each_period() {
    let end = AtomicU64::new(0);
    let word = word(&end);
    let admitted = racing::admitted(
        |now, n, max_wait| word.take(now, n, max_wait),
        |taken| word.give_back(taken),
    );
    assert!(admitted.len() > 300, "{}", admitted.len());
    for (at, (from, _)) in admitted.iter().enumerate() {
        let mut weight = 0;
        for (to, n) in &admitted[at..] {
            weight += n;
            assert!(weight <= 3 + (to - from) / MILLISECOND, "{weight} from {from} to {to}");
        }
    }
}

#[test]
fn any_end_that_another_process_writes_is_answered_at_once() {
    for written in [0, 1, 1 << 40, i64::MAX as u64, 1 << 63, u64::MAX - 1, u64::MAX] {
        let end = AtomicU64::new(written);
        let word = word(&end);
        for (now, n, max_wait) in [(0, 1, 0), (9, 3, MILLISECOND), (1 << 62, 1, u64::MAX)] {
            match word.take(now, n, max_wait) {
                Answer::Taken(taken) => {
                    assert!(taken.wait() <= max_wait && taken.due >= now);
                    assert!(word.give_back(taken));
                }
                Answer::Refused { wait } => assert!(wait.is_none_or(|wait| wait > max_wait)),
            }
            assert_eq!(word.now(), written);
        }
    }
}
