//! Whether one answer is the oracle's.

use std::time::Duration;

use proptest::prelude::*;
use windrow::{BucketSnapshot, Distribution, Snapshot, Totals};

use super::model::Span;
use super::seen::{EVENTS, Seen};
use super::tallies::{Values, View, total, values};
use crate::ledger::Tally;

pub(super) type Checked = Result<(), TestCaseError>;

pub(super) fn tally(event: Seen, n: u64) -> Tally {
    event.tally(n)
}

pub(super) fn rate(event: Seen, count: u64, span: Duration) -> f64 {
    if span.is_zero() { 0.0 } else { event.number(count) / span.as_secs_f64() }
}

/// Each cell of a distribution has as many values as lie between its ends, and no value is in none.
pub(super) fn has_values(answer: &Distribution, expected: &Values) -> bool {
    let sum = |sum: u64, (value, count): (&u64, &u64)| sum.wrapping_add(value.wrapping_mul(*count));
    let ends = (expected.keys().next().copied(), expected.keys().next_back().copied());
    answer.count() == expected.values().sum::<u64>()
        && answer.sum() == expected.iter().fold(0, sum)
        && (answer.min(), answer.max()) == ends
        && answer.cells().all(|(holds, count)| {
            count == expected.range(holds).map(|(_, count)| count).sum::<u64>()
        })
}

pub(super) fn same_distribution(answer: &Distribution, expected: &Values) -> Checked {
    prop_assert!(has_values(answer, expected), "{:?} is not of {:?}", answer, expected);
    Ok(())
}

pub(super) fn same_totals(answer: &Totals<Seen>, at: u64, expected: &Span<Seen>) -> Checked {
    let covers = Duration::from_nanos(expected.covers);
    prop_assert_eq!((answer.at().as_nanos(), answer.interval()), (at, covers));
    for event in EVENTS {
        let expected = total(&expected.views, event);
        same_stats(answer.stats(event), expected)?;
        same_number(answer.rate(event), rate(event, expected.count, covers))?;
    }
    same_distribution(&answer.distribution(Seen::Waited), &values(&expected.views, Seen::Waited))
}

pub(super) fn same_bucket(answer: &BucketSnapshot<Seen>, expected: &View<Seen>) -> Checked {
    prop_assert_eq!(answer.start().as_nanos(), expected.start);
    prop_assert_eq!(answer.end().as_nanos(), expected.end);
    for event in EVENTS {
        let tally = expected.tallies.of(event);
        prop_assert_eq!(Tally::from(answer.stats(event)), tally, "bucket {}", expected.start);
        prop_assert_eq!(answer.sum(event), tally.sum);
    }
    same_distribution(
        &answer.distribution(Seen::Waited),
        &expected.tallies.values_of(Seen::Waited),
    )?;
    if let Some(closed) = expected.closed {
        prop_assert_eq!(answer.is_closed(), closed, "bucket {}", expected.start);
    }
    Ok(())
}

pub(super) fn same_stats(answer: windrow::Stats, expected: Tally) -> Checked {
    prop_assert_eq!(Tally::from(answer), expected);
    match (answer.mean(), expected.mean()) {
        (Some(answer), Some(expected)) => same_number(answer, expected),
        (answer, expected) => {
            prop_assert_eq!(answer, expected, "the mean of {:?}", expected);
            Ok(())
        }
    }
}

/// Equal but for the order of rounding.
pub(super) fn same_number(answer: f64, expected: f64) -> Checked {
    let close = (answer - expected).abs() <= expected.abs() * 1e-12;
    prop_assert!(close, "{} is not {}", answer, expected);
    Ok(())
}

/// Every bucket of a snapshot, and all of it together.
pub(super) fn same_snapshot(
    answer: &Snapshot<Seen>,
    at: u64,
    interval: u64,
    expected: &[View<Seen>],
) -> Checked {
    let interval = Duration::from_nanos(interval);
    prop_assert_eq!((answer.at().as_nanos(), answer.interval()), (at, interval));
    prop_assert_eq!(answer.buckets().len(), expected.len());
    for (bucket, view) in answer.buckets().iter().zip(expected) {
        same_bucket(bucket, view)?;
    }
    for event in EVENTS {
        let expected = total(expected, event);
        same_stats(answer.stats(event), expected)?;
        prop_assert_eq!(answer.sum(event), expected.sum);
        same_number(answer.rate(event), rate(event, expected.count, interval))?;
    }
    same_distribution(&answer.distribution(Seen::Waited), &values(expected, Seen::Waited))
}
