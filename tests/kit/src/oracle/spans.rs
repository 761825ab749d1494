//! Comparisons of spans and tiers.

use std::time::Duration;

use proptest::prelude::*;
use windrow::{Event, Timestamp, snapshot::OutOfRangeError};

use super::compare::Pair;
use super::model::{Refused, Source};
use super::ops::Geometry;
use super::same::{Checked, same_number, same_snapshot, same_stats, same_sum, same_totals};
use super::seen::{Bits, EVENTS, Seen, if_summed, number};
use super::tallies::total;

impl Pair {
    /// Returns a span that need not be valid.
    pub(super) fn same_last(&self, span: Duration) -> Checked {
        let nanos = u64::try_from(span.as_nanos()).ok().filter(|nanos| *nanos > 0);
        let source = nanos.and_then(|nanos| Some((nanos, self.oracle.source(nanos)?)));
        prop_assert_eq!(self.window.over(span).is_ok(), source.is_some(), "over({:?})", span);
        match source {
            Some((nanos, Some(tier))) if self.is_held_up => self.like_over(nanos, tier),
            Some((nanos, source)) => self.same_over(nanos, source),
            None => Ok(()),
        }
    }

    /// Returns a span, as it is, without its newest bucket, and as it was at earlier times.
    fn same_over(&self, nanos: u64, source: Source) -> Checked {
        let over = self.window.over(Duration::from_nanos(nanos)).expect("a valid span");
        let Geometry { length, buckets: all } = self.oracle.geometry(source);
        let (now, buckets) = (self.now(), nanos.div_ceil(length));
        let newest = self.oracle.span(source, Some(now), buckets);
        let covers = Duration::from_nanos(newest.covers);
        for event in EVENTS {
            let expected = total(&newest.views, event);
            same_stats(over.stats(event), expected)?;
            let numbers = if_summed!(event, |of| (over.sum(of).bits(), over.rate(of)));
            same_sum(numbers, event, expected, covers)?;
            if let Some(answer) = if_summed!(event, |of| over.weighted_rate(of)) {
                same_number(answer, self.weighted(source, buckets.min(all - 1), event))?;
            }
        }
        same_totals(&over.totals(), now, &newest)?;

        let before = (now - now % length).checked_sub(1);
        let complete = self.oracle.span(source, before, buckets.min(all - 1));
        same_totals(&over.complete(), now, &complete)?;

        // In the newest bucket, and ever farther back, until the span has left the ring.
        for back in 0..=all {
            let Some(at) = now.checked_sub(back * length) else { break };
            let from = (at - at % length).saturating_sub((buckets - 1) * length);
            let answer = over.totals_at(Timestamp::from_nanos(at));
            match (answer, self.oracle.admits(source, now, from)) {
                (Ok(totals), Ok(())) => {
                    same_totals(&totals, at, &self.oracle.span(source, Some(at), buckets))?;
                }
                (Err(error), Err(Refused::BeforeRing { oldest })) => {
                    let [at, from, oldest] = [at, from, oldest].map(Timestamp::from_nanos);
                    prop_assert_eq!(error, OutOfRangeError::SpanBeforeRing { at, from, oldest });
                    break;
                }
                (answer, expected) => {
                    prop_assert!(false, "{:?} is not {:?}", answer, expected);
                }
            }
        }
        Ok(())
    }

    /// Returns the rate over the sliding span of `buckets` buckets.
    fn weighted(&self, source: Source, buckets: u64, event: Event<Seen>) -> f64 {
        let (now, length) = (self.now(), self.oracle.geometry(source).length);
        let span = self.oracle.span(source, Some(now), buckets);
        let before = span.views.first().and_then(|oldest| oldest.start.checked_sub(1));
        let share = 1.0 - (now % length) as f64 / length as f64;
        let part = self.oracle.span(source, before, 1).views;
        let (whole, part) = (total(&span.views, event), total(&part, event));
        let count = number(event, whole.count) + share * number(event, part.count);
        let rate = count / Duration::from_nanos(span.covers).as_secs_f64();
        if span.covers == 0 { 0.0 } else { rate }
    }

    /// Returns the buckets of a tier.
    pub(super) fn same_series(&self, tier: usize) -> Checked {
        if self.is_held_up {
            return self.like_series(tier);
        }
        let series = self.window.series(tier).expect("there is such a tier");
        let Geometry { length, buckets } = self.oracle.geometry(Some(tier));
        let expected = self.oracle.series(tier, self.now());
        same_snapshot(&series, self.now(), length * buckets, &expected)
    }
}
