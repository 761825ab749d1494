//! The retry budget of the guide keeps what its page promises.

use std::thread;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use windrow::clock::Manual;

use recipe::RetryBudget;

#[expect(unreachable_pub, reason = "the page has it for a library")]
mod recipe;

const MS: u64 = 1_000_000;

#[test]
fn the_page_has_the_recipe() {
    let page = include_str!("../../docs/guide/retry-budget.md");
    let (_, recipe) = include_str!("retry_budget/recipe.rs").split_once("events! {").unwrap();
    assert!(page.contains(recipe), "the page has another recipe than this test");
}

fn budget() -> (Manual, RetryBudget<Manual>) {
    let clock = Manual::default();
    (clock.clone(), RetryBudget::new(clock).expect("a budget"))
}

#[test]
fn without_calls_there_are_ten_a_second_and_one_each_tenth() {
    let (clock, budget) = budget();
    for millisecond in 0..110_000 {
        let retries = (0..20).filter(|_| budget.withdraw()).count();
        let expected = match millisecond {
            0 => 10, // after a rest
            _ => usize::from(millisecond % 100 == 0),
        };
        assert_eq!(retries, expected, "at {millisecond} ms");
        clock.advance(Duration::from_millis(1));
    }
}

/// All calls fail and are retried for as long as the budget allows: 20 a second by the calls, and
/// ten of the reserve, in each second and in each part of it.
#[test]
fn a_steady_flow_of_calls_has_a_steady_flow_of_retries() {
    let (clock, budget) = budget();
    for tenth in 0..1_200 {
        let mut retries = 0;
        for _ in 0..10 {
            budget.deposit();
            retries += (0..100).filter(|_| budget.withdraw()).count();
            clock.advance(Duration::from_millis(10));
        }
        if tenth > 0 {
            assert_eq!(retries, 3, "in tenth {tenth}");
        }
    }
}

/// Checks the times of calls and of retries: a retry's latest calls, of a little more than ten
/// seconds, pay for the retries of ten seconds beyond the reserve.
fn check(calls: &[u64], retries: &[u64]) {
    let calls_until = |end: u64| calls.partition_point(|&at| at < end);
    for (last, &until) in retries.iter().enumerate() {
        let paid = calls_until(until + 1) - calls_until(until.saturating_sub(10_100 * MS));
        let in_ten_seconds = |since: &u64| until - since < 10_000 * MS;
        let firsts = (0..=last).rev().take_while(|&first| in_ten_seconds(&retries[first]));
        for first in firsts {
            let (count, span) = (last - first + 1, until - retries[first]);
            let most = paid / 5 + 10 + (span / (100 * MS)) as usize;
            assert!(count <= most, "{count} in {span} ns at {until}");
        }
    }
}

proptest! {
    #[test]
    fn no_ten_seconds_have_more_than_a_fifth_of_the_calls_and_the_reserve(
        steps in vec((0..3_000_u64, 0..60_u64, 0..40_u64), 1..40),
    ) {
        let (clock, budget) = budget();
        let (mut calls, mut retries) = (vec![], vec![]);
        let mut now = 0;
        for (later, deposits, wanted) in steps {
            clock.advance(Duration::from_millis(later));
            now += later * MS;
            for _ in 0..deposits {
                budget.deposit();
                calls.push(now);
            }
            retries.extend((0..wanted).filter(|_| budget.withdraw()).map(|_| now));
        }
        check(&calls, &retries);
    }
}

/// Threads that call and retry while the clock goes on take no more together.
#[test]
fn threads_that_retry_at_once_overdraw_nothing() {
    let (clock, budget) = budget();
    let (mut calls, mut retries) = (vec![], vec![]);
    for round in 0..200 {
        let now = round * 73 * MS;
        let taken: u64 = thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        (0..5).for_each(|_| budget.deposit());
                        (0..20).map(|_| u64::from(budget.withdraw())).sum::<u64>()
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("a thread")).sum()
        });
        calls.extend([now; 20]);
        retries.extend((0..taken).map(|_| now));
        clock.advance(Duration::from_millis(73));
    }
    check(&calls, &retries);
}
