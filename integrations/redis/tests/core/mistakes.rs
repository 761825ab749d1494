//! Mistakes that are easily made in this protocol. Each has a test.

use super::ledger::Ledger;
use super::twin::Twin;
use crate::machine::{Answer, Ask, DRIFT, MAX_LIMIT, Machine, Return, State, Terms};
use crate::permits::Permits;

const TERMS: Terms = Terms { limit: 100, version: 1, length: 100_000, buckets: 10, drift: DRIFT };

const START: u64 = 1_000_000_000;

fn asked(number: u64) -> Ask {
    Ask { number, want: 10, need: 1, back: Return::default() }
}

fn granted(number: u64, bucket: u64) -> Answer {
    let engine = &mut Ledger::warm();
    engine.ask(bucket * TERMS.length, 1, &asked(number), &TERMS, Twin::None)
}

#[test]
fn silence_is_not_taken_for_lost_memory() {
    let mut engine = Ledger::warm();
    assert_eq!(engine.ask(START, 1, &asked(1), &TERMS, Twin::None).state, State::Answered);
    // The ledger expires, since all in it has left. The epoch tells that it was there.
    for (pause, number) in [(2_400_000, 2), (86_400_000_000, 3)] {
        let answer = engine.ask(START + pause, 1, &asked(number), &TERMS, Twin::None);
        assert_eq!((answer.state, answer.granted), (State::Answered, 10), "after {pause} us");
    }
    // A key of which no client has asked before is not cold either: it shares the epoch.
    let mut other = Ledger { sheet: None, ..engine };
    assert_eq!(other.ask(2 * START, 1, &asked(4), &TERMS, Twin::None).granted, 10);
}

#[test]
fn clients_that_knew_an_earlier_run_do_not_begin_an_epoch() {
    let mut engine = Ledger::warm().restarted();
    let (mut old, new) = (asked(1), asked(1));
    let born = engine.ask(START, 1, &old, &TERMS, Twin::None).born;
    let warm = START + 12 * TERMS.length;
    for number in 2..100 {
        // One gives back what an earlier epoch granted, as long as it likes.
        let at = warm + number * 7_000;
        let back = Return { count: 1, bucket: at / TERMS.length, born: 5 };
        old = Ask { back, ..asked(number) };
        let new = Ask { number, ..new };
        for (client, ask) in [(1, &old), (2, &new)] {
            let answer = engine.ask(at, client, ask, &TERMS, Twin::None);
            assert_eq!((answer.state, answer.born), (State::Answered, born));
        }
    }
    assert_eq!(engine.used(), TERMS.limit, "what another epoch granted is not taken off");
}

#[test]
fn an_answer_counts_from_the_attempt_that_it_answers() {
    let (mut machine, permits) = (Machine::new(TERMS), Permits::new());
    permits.miss(1);
    let first = machine.poll(&permits, START, 1).unwrap();
    let second = machine.repeat(START + 150_000).unwrap();
    assert_eq!((first.ask, first.attempt, second.attempt), (second.ask, 0, 1));
    // The answer to the first attempt arrives after the second was sent.
    let answer = granted(first.ask.number, START / TERMS.length);
    machine.answer(&permits, START + 151_000, first.ask.number, first.attempt, &answer);
    let allowed = (2 * TERMS.length) * (1_000_000 - DRIFT) / 1_000_000 - 2;
    assert!(permits.take(START + allowed - 1, 1));
    assert!(!permits.take(START + allowed + 2, 1));
}

#[test]
fn epochs_are_not_told_apart_by_bucket_numbers() {
    let terms = Terms { buckets: 1, ..TERMS };
    let mut engine = Ledger::warm();
    let bucket = START / terms.length;
    let first = engine.ask(START, 1, &asked(1), &terms, Twin::None);
    // A replica that lacks this takes over. Its clock is three buckets behind, so once it is warm
    // it shows the same bucket.
    engine = Ledger::warm();
    engine.run = 2;
    let cold = engine.ask(START - 3 * terms.length, 2, &asked(1), &terms, Twin::None);
    assert_eq!(cold.state, State::Cold);
    let all = Ask { want: 100, ..asked(2) };
    let second = engine.ask(START, 2, &all, &terms, Twin::None);
    assert_eq!((second.bucket, second.granted), (bucket, 100));
    // Permits of the first bucket with that number are not taken off the second.
    let back = Return { count: 10, bucket: first.bucket, born: first.born };
    let back = Ask { back, ..asked(2) };
    let answer = engine.ask(START + 10, 1, &back, &terms, Twin::None);
    assert_eq!((answer.granted, engine.used()), (0, 100));
}

#[test]
fn an_answer_given_again_does_not_grow_younger_with_the_clock() {
    let mut engine = Ledger::warm();
    engine.ask(START, 1, &asked(1), &TERMS, Twin::None);
    engine.ask(START + 2 * TERMS.length, 2, &asked(1), &TERMS, Twin::None);
    // The clock falls back by two buckets, and the first ask is repeated.
    let again = engine.ask(START + 5, 1, &asked(1), &TERMS, Twin::None);
    assert_eq!((again.granted, again.age), (10, 2 * TERMS.length));
    let (mut machine, permits) = (Machine::new(TERMS), Permits::new());
    permits.miss(1);
    let attempt = machine.poll(&permits, START, 1).unwrap();
    machine.answer(&permits, START, attempt.ask.number, 0, &again);
    assert!(!permits.take(START, 1));
}

#[test]
fn of_two_versions_the_higher_one_is_the_limit() {
    let mut engine = Ledger::warm();
    let second = Terms { limit: 50, version: 2, ..TERMS };
    let same = Terms { limit: 70, version: 2, ..TERMS };
    for (terms, number, expected) in
        [(TERMS, 1, 100), (second, 2, 50), (TERMS, 3, 50), (same, 4, 50)]
    {
        let answer = engine.ask(START, 1, &asked(number), &terms, Twin::None);
        assert_eq!(answer.limit, expected, "{terms:?}");
    }
    let (mut machine, permits) = (Machine::new(TERMS), Permits::new());
    permits.miss(1);
    let attempt = machine.poll(&permits, START, 1).unwrap();
    let answer = engine.ask(START, 2, &attempt.ask, &attempt.terms, Twin::None);
    machine.answer(&permits, START, attempt.ask.number, 0, &answer);
    assert_eq!((machine.terms.limit, machine.terms.version), (50, 2));
    assert_eq!(machine.set_limit(500), 3);
}

#[test]
fn a_refusal_of_a_large_weight_does_not_hold_back_small_ones() {
    let (mut machine, permits) = (Machine::new(TERMS), Permits::new());
    let mut engine = Ledger::warm();
    let rest = Ask { want: 95, ..asked(1) };
    engine.ask(START, 9, &rest, &TERMS, Twin::None);
    permits.miss(50);
    let attempt = machine.poll(&permits, START, 50).unwrap();
    let answer = engine.ask(START, 1, &attempt.ask, &attempt.terms, Twin::None);
    machine.answer(&permits, START, attempt.ask.number, 0, &answer);
    assert!(machine.refusal.covers(START, 50) && !machine.refusal.covers(START, 1));
    permits.miss(1);
    assert!(machine.poll(&permits, START, 50).is_none());
    let attempt = machine.poll(&permits, START, 1).unwrap();
    let answer = engine.ask(START, 1, &attempt.ask, &attempt.terms, Twin::None);
    machine.answer(&permits, START, attempt.ask.number, 0, &answer);
    assert!(permits.take(START, 1));
}

#[test]
fn a_foreign_answer_changes_nothing() {
    let (mut machine, permits) = (Machine::new(TERMS), Permits::new());
    permits.miss(1);
    let attempt = machine.poll(&permits, START, 1).unwrap();
    let answer = granted(attempt.ask.number, START / TERMS.length);
    machine.answer(&permits, START, attempt.ask.number + 1, 0, &answer);
    assert_eq!(machine.pending(), Some(attempt));
    let wild = Answer { granted: u64::MAX, limit: MAX_LIMIT + 1, age: u64::MAX, ..answer };
    machine.answer(&permits, START, attempt.ask.number, 0, &wild);
    assert_eq!((machine.terms, permits.left(START)), (TERMS, 0));
    for wrong in [vec![], vec![0; 9], vec![0; 11], vec![3; 10], vec![0, -1, 0, 0, 0, 0, 0, 0, 0, 0]]
    {
        assert_eq!(Answer::read(&wrong), None, "{wrong:?}");
    }
}
