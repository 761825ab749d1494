//! The protocol's promise, for calls at times that a test has chosen.

use std::time::Duration;

use portable_atomic::AtomicU128;

use super::*;
use crate::limit::tests as racing;

mod deaths;

const MILLISECOND: u64 = 1_000_000;

/// The words of limits, all zero.
struct Words<W> {
    head: W,
    cells: Vec<W>,
}

impl Words<AtomicU128> {
    fn new() -> Words<AtomicU128> {
        let cells = (0..MOST).map(|_| AtomicU128::new(0)).collect();
        Words { head: AtomicU128::new(0), cells }
    }
}

impl<W: Wide> Words<W> {
    /// Returns limits of these periods, in milliseconds, and bursts.
    fn limits(&self, limits: &[(u64, u64)]) -> Ends<'_, W> {
        let terms = |(period, burst): &(u64, u64)| {
            Terms::new(Duration::from_millis(*period), *burst).unwrap()
        };
        let limits: Vec<_> = self.cells.iter().zip(limits.iter().map(terms)).collect();
        Ends::new(&self.head, &limits)
    }
}

fn wait(answer: Answer<Moved>) -> Option<u64> {
    match answer {
        Answer::Taken(taken) => Some(taken.wait() / MILLISECOND),
        Answer::Refused { .. } => None,
    }
}

fn taken(answer: Answer<Moved>) -> Taken {
    match answer {
        Answer::Taken(taken) => taken,
        answer @ Answer::Refused { .. } => panic!("{answer:?}"),
    }
}

fn ends<W: Wide>(limits: &Ends<'_, W>) -> Vec<u64> {
    limits.now().unwrap().collect()
}

#[test]
fn the_limit_that_admits_last_decides_and_a_refusal_takes_nothing() {
    let words = Words::new();
    let limits = words.limits(&[(1, 2), (10, 3)]);
    let waits: Vec<_> = (0..4).map(|_| wait(limits.take(7, 1, MILLISECOND))).collect();
    assert_eq!(waits, [Some(0), Some(0), Some(1), None]);
    assert_eq!(ends(&limits), [3 * MILLISECOND + 7, 30 * MILLISECOND + 7]);
    assert_eq!(limits.take(7, 1, 0), Answer::Refused { wait: Some(10 * MILLISECOND) });
    assert_eq!(limits.take(7, 3, u64::MAX), Answer::Refused { wait: None });
    assert_eq!(limits.take(7, 1 << 40, u64::MAX), Answer::Refused { wait: None });
    assert_eq!(wait(limits.take(7, 0, 0)), Some(0));
    assert_eq!(ends(&limits), [3 * MILLISECOND + 7, 30 * MILLISECOND + 7]);
}

#[test]
fn one_limit_decides_as_a_pace_does() {
    let words = Words::new();
    let limits = words.limits(&[(1, 3)]);
    let waits: Vec<_> = (0..6).map(|_| wait(limits.take(7, 1, 2 * MILLISECOND))).collect();
    assert_eq!(waits, [Some(0), Some(0), Some(0), Some(1), Some(2), None]);
}

#[test]
fn the_last_call_is_given_back_to_all_limits() {
    let words = Words::new();
    let limits = words.limits(&[(1, 5), (10, 6), (3, 9), (4, 5)]);
    let [first, second] = [2, 3].map(|n| taken(limits.take(5, n, u64::MAX)));
    assert!(!limits.give_back(first), "a later call was told its moment");
    assert!(limits.give_back(second) && !limits.give_back(second));
    assert!(limits.give_back(first) && !limits.give_back(first));
    assert!(!limits.give_back(taken(limits.take(5, 0, 0))));
    assert_eq!(ends(&limits), [5; 4]); // no time is left of any
}

/// Calls at times that step back and leap, from threads that race, as for one pace.
#[test]
fn no_span_has_more_than_any_limit_allows() {
    const LIMITS: [(u64, u64); 3] = [(1, 3), (2, 8), (3, 40)];
    let words = Words::new();
    let limits = words.limits(&LIMITS);
    let admitted = racing::admitted(
        |now, n, max_wait| limits.take(now, n, max_wait),
        |taken| limits.give_back(taken),
    );
    assert!(admitted.len() > 100, "{}", admitted.len());
    for (at, (from, _)) in admitted.iter().enumerate() {
        let mut weight = 0;
        for (to, n) in &admitted[at..] {
            weight += n;
            for (period, burst) in LIMITS {
                let most = burst + (to - from + 1) / (period * MILLISECOND);
                assert!(weight <= most, "{weight} from {from} to {to}, and not {most}");
            }
        }
    }
}

#[test]
fn any_words_that_another_process_writes_are_answered_at_once() {
    let values = [0, 1, 1 << 40, i64::MAX as u64, 1 << 63, u64::MAX - 1, u64::MAX];
    for low in values {
        for high in values {
            for place in 0..3 {
                let words = Words::new();
                let limits = words.limits(&[(1, 3), (10, 3)]);
                let _ = limits.take(5, 1, 0);
                let word = if place == 2 { &words.head } else { &words.cells[place] };
                assert!(word.exchange(word.words(), [low, high]));
                for (now, n, max_wait) in [(0, 1, 0), (9, 3, MILLISECOND), (1 << 62, 1, u64::MAX)] {
                    match limits.take(now, n, max_wait) {
                        Answer::Taken(taken) => {
                            assert!(taken.wait() <= max_wait && taken.due >= now);
                            limits.give_back(taken);
                        }
                        Answer::Refused { wait } => {
                            assert!(wait.is_none_or(|wait| wait > max_wait));
                        }
                    }
                }
            }
        }
    }
}
