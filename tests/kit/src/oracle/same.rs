//! Comparisons of one answer with the oracle's.

use std::time::Duration;

use proptest::prelude::*;
use windrow::{
    Event,
    histogram::Distribution,
    snapshot::{BucketSnapshot, Snapshot, Totals},
};

use super::seen::{Bits, EVENTS, Seen, WAITED, if_summed, number};
use super::tallies::{Values, View, total, values};
use super::tier::Span;
use crate::ledger::{Tally, summand};

pub(super) type Checked = Result<(), TestCaseError>;

pub(super) fn rate(event: Event<Seen>, count: u64, span: Duration) -> f64 {
    if span.is_zero() { 0.0 } else { number(event, count) / span.as_secs_f64() }
}

/// Sum and rate, if the event has them.
pub(super) fn same_sum(
    answer: Option<(u64, f64)>,
    event: Event<Seen>,
    expected: Tally,
    span: Duration,
) -> Checked {
    let Some((sum, per_second)) = answer else { return Ok(()) };
    prop_assert_eq!(sum, expected.sum);
    same_number(per_second, rate(event, expected.count, span))
}

/// Checks that each cell of a distribution has the number of values between its ends, and that each
/// value is in a cell.
pub(super) fn has_values(answer: &Distribution, expected: &Values) -> bool {
    let part = |(value, count): (&u64, &u64)| summand(*value).wrapping_mul(*count);
    let ends = (expected.keys().next().copied(), expected.keys().next_back().copied());
    answer.count() == expected.values().sum::<u64>()
        && answer.sum() == expected.iter().map(part).fold(0, u64::wrapping_add)
        && (answer.min(), answer.max()) == ends
        && answer.cells().all(|(holds, count)| {
            count == expected.range(holds).map(|(_, count)| count).sum::<u64>()
        })
}

pub(super) fn same_distribution(answer: &Distribution, expected: &Values) -> Checked {
    prop_assert!(has_values(answer, expected), "{:?} is not of {:?}", answer, expected);
    Ok(())
}

pub(super) fn same_totals(answer: &Totals<Seen>, at: u64, expected: &Span<Event<Seen>>) -> Checked {
    let covers = Duration::from_nanos(expected.covers);
    prop_assert_eq!((answer.at().as_nanos(), answer.interval()), (at, covers));
    for event in EVENTS {
        let expected = total(&expected.views, event);
        same_stats(answer.stats(event), expected)?;
        let numbers = if_summed!(event, |of| (answer.sum(of).bits(), answer.rate(of)));
        same_sum(numbers, event, expected, covers)?;
    }
    same_distribution(&answer.distribution(Seen::Waited), &values(&expected.views, WAITED))
}

pub(super) fn same_bucket(answer: &BucketSnapshot<Seen>, expected: &View<Event<Seen>>) -> Checked {
    prop_assert_eq!(answer.start().as_nanos(), expected.start);
    prop_assert_eq!(answer.end().as_nanos(), expected.end);
    for event in EVENTS {
        let tally = expected.tallies.of(event);
        prop_assert_eq!(Tally::from(answer.stats(event)), tally, "bucket {}", expected.start);
        if let Some(sum) = if_summed!(event, |of| answer.sum(of).bits()) {
            prop_assert_eq!(sum, tally.sum);
        }
    }
    same_distribution(&answer.distribution(Seen::Waited), &expected.tallies.values_of(WAITED))?;
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
    expected: &[View<Event<Seen>>],
) -> Checked {
    let (interval, all) = (Duration::from_nanos(interval), answer.totals());
    prop_assert_eq!((all.at().as_nanos(), all.interval()), (at, interval));
    prop_assert_eq!(answer.buckets().len(), expected.len());
    for (bucket, view) in answer.buckets().iter().zip(expected) {
        same_bucket(bucket, view)?;
    }
    for event in EVENTS {
        let expected = total(expected, event);
        same_stats(all.stats(event), expected)?;
        let numbers = if_summed!(event, |of| (all.sum(of).bits(), all.rate(of)));
        same_sum(numbers, event, expected, interval)?;
    }
    same_distribution(&all.distribution(Seen::Waited), &values(expected, WAITED))
}
