//! Histories that no counter and no window may have: the checkers say so, and say why.

use windrow_loom_tests::histories::WindowCall::{self, Add, Buckets, Drained, Late, Lifetime, Sum};
use windrow_loom_tests::histories::{Call, CounterCall, Span, WindowHistory, check_counter};

/// Returns a call from one stamp to another.
fn call<C>(thread: usize, begin: u64, end: u64, did: C) -> Call<C> {
    Call { thread, span: Span { begin, end }, did }
}

/// Returns the violation in a counter's history.
fn counter(calls: &[(usize, u64, u64, CounterCall)]) -> Result<(), String> {
    let calls: Vec<_> =
        calls.iter().map(|(thread, begin, end, did)| call(*thread, *begin, *end, *did)).collect();
    check_counter(&calls)
}

/// Returns the violation in the history of a window of two buckets that was built in bucket 0.
fn window(calls: &[(u64, u64, WindowCall)]) -> Result<(), String> {
    let calls = calls
        .iter()
        .enumerate()
        .map(|(thread, (begin, end, did))| call(thread, *begin, *end, did.clone()))
        .collect();
    WindowHistory { buckets: 2, built_at: 0, calls }.check()
}

#[track_caller]
fn rejects(verdict: Result<(), String>, because: &str) {
    let why = verdict.expect_err("the checker let it pass");
    assert!(why.contains(because), "it said: {why}");
}

mod counters {
    use super::{counter, rejects};
    use windrow_loom_tests::histories::CounterCall::{Add, Drain, Sum};

    /// A correct history, which must not be rejected.
    #[test]
    fn adds_under_way_may_be_in_a_sum_or_not() {
        for found in [4, 5, 6, 7] {
            let calls =
                [(0, 0, 1, Add(4)), (0, 2, 9, Add(1)), (1, 3, 8, Add(2)), (2, 4, 5, Sum(found))];
            assert_eq!(counter(&[&calls[..], &[(2, 10, 11, Sum(7))]].concat()), Ok(()));
        }
    }

    /// Three drains and a sum, all at once, that fit in one order alone: 1, 2, 4, and the sum
    /// third.
    #[test]
    fn drains_at_once_may_come_in_any_order() {
        let calls = [
            (0, 0, 1, Add(1)),
            (1, 2, 20, Drain(4)),
            (2, 3, 21, Drain(2)),
            (3, 4, 22, Drain(1)),
            (0, 5, 6, Add(2)),
            (4, 7, 23, Sum(0)),
            (0, 8, 9, Add(4)),
            (0, 30, 31, Drain(0)),
        ];
        assert_eq!(counter(&calls), Ok(()));
    }

    #[test]
    fn a_sum_without_an_add_that_had_returned() {
        let calls = [(0, 0, 1, Add(1)), (1, 2, 3, Sum(0)), (1, 4, 5, Sum(1))];
        rejects(counter(&calls), "a sum found adds [] with adds [] drained");
    }

    #[test]
    fn a_sum_with_an_add_that_had_not_begun() {
        let calls = [(1, 0, 1, Sum(1)), (0, 2, 3, Add(1)), (1, 4, 5, Sum(1))];
        rejects(counter(&calls), "a sum found adds [0]");
    }

    /// Among numbers, 2 lies between 1 and 3; but it is another add.
    #[test]
    fn a_sum_with_one_add_in_the_place_of_another() {
        let calls = [(0, 0, 1, Add(1)), (1, 2, 9, Add(2)), (2, 3, 4, Sum(2)), (2, 10, 11, Sum(3))];
        rejects(counter(&calls), "a sum found adds [1]");
    }

    #[test]
    fn an_add_in_two_drains() {
        let calls =
            [(0, 0, 1, Add(1)), (1, 2, 6, Drain(1)), (2, 3, 7, Drain(1)), (0, 8, 9, Drain(0))];
        rejects(counter(&calls), "a drain found adds [0] with adds [0] drained before it");
    }

    #[test]
    fn an_add_in_no_drain() {
        let calls = [(0, 0, 5, Add(1)), (1, 1, 4, Drain(0)), (1, 6, 7, Drain(0))];
        rejects(counter(&calls), "a drain found adds []");
    }

    #[test]
    fn a_drain_below_zero() {
        let calls = [
            (0, 0, 1, Add(1)),
            (1, 2, 3, Drain(1)),
            (2, 4, 5, Drain(u64::MAX)),
            (1, 6, 7, Drain(1)),
        ];
        rejects(counter(&calls), "a drain found");
    }

    /// The baseline was read before a drain, the cells after it: 3 is more than there ever was.
    #[test]
    fn a_sum_of_what_was_drained_and_what_came_after() {
        let calls = [
            (0, 0, 1, Add(1)),
            (1, 2, 20, Sum(3)),
            (0, 3, 4, Drain(1)),
            (0, 5, 6, Add(2)),
            (0, 21, 22, Sum(2)),
        ];
        rejects(counter(&calls), "a sum found adds [0, 1] with adds");
    }

    /// The cells were read before a drain, the baseline after it: the sum is below zero.
    #[test]
    fn a_sum_less_what_it_had_not_counted() {
        let calls = [
            (0, 0, 10, Add(1)),
            (1, 2, 20, Sum(u64::MAX)),
            (2, 3, 11, Drain(1)),
            (0, 21, 22, Sum(0)),
        ];
        rejects(counter(&calls), "a sum found");
    }

    #[test]
    fn a_sum_that_goes_back() {
        let calls = [(0, 0, 9, Add(1)), (1, 1, 2, Sum(1)), (2, 3, 4, Sum(0)), (1, 10, 11, Sum(1))];
        rejects(counter(&calls), "the sum went back from adds [0] to adds []");
    }

    #[test]
    fn no_read_at_rest() {
        rejects(counter(&[(1, 0, 2, Sum(0)), (0, 1, 3, Add(1))]), "does not end with a read");
    }

    /// Adds that are no bits are compared as numbers.
    #[test]
    fn a_lost_add_among_equals() {
        let calls = [(0, 0, 1, Add(3)), (1, 2, 3, Add(3)), (0, 4, 5, Drain(3))];
        rejects(counter(&calls), "a drain found 3 with 0 drained before it, where 6 were added");
    }
}

/// Returns what every window's history below begins with: adds 1 and 2 in buckets 0 and 1, one
/// after the other.
fn two_adds() -> Vec<(u64, u64, WindowCall)> {
    vec![(0, 1, Add(0, 1)), (2, 3, Add(1, 2))]
}

/// The reads at rest in bucket 1.
fn at_rest(live: u64, late: u64, lifetime: u64) -> Vec<(u64, u64, WindowCall)> {
    let rest = vec![Buckets(1, vec![(1, live)]), Late(late), Lifetime(lifetime)];
    (100..).step_by(2).zip(rest).map(|(begin, did)| (begin, begin + 1, did)).collect()
}

/// Something between those adds and those reads.
fn between(calls: Vec<(u64, u64, WindowCall)>) -> Result<(), String> {
    window(&[two_adds(), calls, at_rest(2, 0, 3)].concat())
}

/// A correct history, which must not be rejected.
#[test]
fn a_bucket_may_leave_the_interval_during_a_sum() {
    for found in [3, 2, 6, 7] {
        let calls = vec![(4, 9, Sum(1, found & 3)), (5, 8, Add(2, 4)), (6, 7, Sum(2, found & 6))];
        let rest = [Buckets(2, vec![(1, 2), (2, 4)]), Late(0), Lifetime(7)];
        let rest = rest.into_iter().map(|did| (100, 101, did)).collect();
        assert_eq!(window(&[two_adds(), calls, rest].concat()), Ok(()), "{found}");
    }
}

#[test]
fn a_window_sum_without_a_bucket_of_its_interval() {
    rejects(between(vec![(4, 5, Sum(1, 2))]), "the sum at bucket 1 is adds [1], where adds [0, 1]");
}

#[test]
fn a_window_sum_with_a_bucket_of_the_future() {
    rejects(between(vec![(4, 5, Sum(0, 3))]), "the sum at bucket 0 is adds [0, 1]");
}

#[test]
fn a_window_sum_with_a_bucket_before_its_interval() {
    let calls = vec![(4, 5, Sum(2, 3))];
    rejects(between(calls), "the sum at bucket 2 is adds [0, 1], where adds [1] must");
}

#[test]
fn an_add_in_the_next_bucket() {
    let calls = vec![(4, 5, Buckets(1, vec![(0, 0), (1, 3)]))];
    rejects(between(calls), "bucket 0 of a snapshot is adds []");
}

#[test]
fn a_lifetime_that_goes_back() {
    let calls = vec![(4, 50, Add(1, 4)), (5, 6, Lifetime(7)), (7, 8, Lifetime(3))];
    let verdict = window(&[two_adds(), calls, at_rest(6, 0, 7)].concat());
    rejects(verdict, "lifetime went back from adds [0, 1, 2] to adds [0, 1]");
}

#[test]
fn a_lifetime_that_has_lost_an_add() {
    let verdict = window(&[two_adds(), at_rest(2, 0, 2)].concat());
    rejects(verdict, "lifetime is adds [1], where adds [0, 1] must be in it");
}

#[test]
fn an_add_that_was_not_late() {
    let verdict = window(&[two_adds(), at_rest(2, 1, 3)].concat());
    rejects(verdict, "late is adds [0], where adds [] must be in it and adds [] may");
}

#[test]
fn a_bucket_handed_out_twice() {
    let calls = vec![(4, 5, Drained(0, 1)), (6, 7, Drained(0, 1))];
    rejects(between(calls), "bucket 0 was handed out after bucket 0");
}

#[test]
fn a_bucket_handed_out_of_turn() {
    let calls = vec![(4, 5, Drained(1, 2)), (6, 7, Drained(0, 1))];
    rejects(between(calls), "bucket 0 was handed out after bucket 1");
}

#[test]
fn a_bucket_handed_out_without_an_add_that_had_returned() {
    let calls = vec![(4, 5, Drained(0, 0))];
    rejects(between(calls), "bucket 0, handed out, is adds []");
}

/// The first turn is bucket 0's, and its add had returned long before.
#[test]
fn a_bucket_that_nobody_was_handed_out() {
    let calls = vec![(4, 5, Add(2, 4)), (6, 7, Drained(0, 1))];
    let rest = [Buckets(2, vec![(1, 2), (2, 4)]), Late(0), Lifetime(7)];
    let rest = rest.into_iter().map(|did| (100, 101, did)).collect();
    let verdict = window(&[two_adds(), calls, rest].concat());
    rejects(verdict, "the sum that was never handed out is adds [1], where adds [] must be in it");
}

#[test]
fn no_reads_at_rest() {
    rejects(window(&two_adds()), "does not end with reads at rest");
}
