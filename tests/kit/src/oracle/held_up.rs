//! The answers of a tier about a time in which buckets could not be closed.
//!
//! The beginning of a coarse bucket may be unknown then. The bucket before it holds the counts of
//! both, and a span begins and ends at other times, and says so. That is allowed for a boundary
//! only if the first bucket behind it that was ever the newest one, or another of that coarse
//! bucket, was replaced meanwhile; all other boundaries must be exact.

use std::time::Duration;

use proptest::prelude::*;
use windrow::{
    Event, Kind, Timestamp, Typed,
    snapshot::{BucketSnapshot, Totals},
};

use super::compare::Pair;
use super::model::Refused;
use super::ops::Geometry;
use super::same::{Checked, has_values, same_distribution, same_stats};
use super::seen::{Bits, EVENTS, Seen, WAITED, if_summed};
use super::tallies::{Values, View, total, values};
use crate::ledger::Tally;

impl Pair {
    /// Returns the buckets of a tier.
    pub(super) fn like_series(&self, tier: usize) -> Checked {
        let series = self.window.series(tier).expect("there is such a tier");
        let length = self.oracle.geometry(Some(tier)).length;
        let expected = self.oracle.series(tier, self.now());
        prop_assert_eq!(series.buckets().len(), expected.len());
        for (bucket, view) in series.buckets().iter().zip(&expected) {
            prop_assert_eq!(bucket.start().as_nanos(), view.start);
            let next = view.start.saturating_add(length);
            let is_known = self.newest.knows(view.start, length) && self.newest.knows(next, length);
            for event in EVENTS {
                let stats = bucket.stats(event);
                if is_known || matches!(event.kind(), Kind::Maximum | Kind::Minimum) {
                    prop_assert_eq!(Tally::from(stats), view.tallies.of(event), "{:?}", view.start);
                }
                self.is_of(tier, view, event, bucket)?;
            }
            if is_known {
                let expected = view.tallies.values_of(WAITED);
                same_distribution(&bucket.distribution(Seen::Waited), &expected)?;
            }
        }
        // From each start on, they hold no more than they should.
        for (from, first) in expected.iter().enumerate() {
            for event in EVENTS {
                let since = series.buckets()[from..].iter().map(|bucket| bucket.stats(event).count);
                let since = since.fold(0, u64::wrapping_add);
                let all = total(&self.since(tier, first), event).count;
                prop_assert!(since <= all, "{} of {} from {}", since, all, first.start);
            }
        }
        Ok(())
    }

    /// Checks that the numbers of a bucket are of the same values, which were recorded in it or
    /// later.
    fn is_of(
        &self,
        tier: usize,
        view: &View<Event<Seen>>,
        event: Event<Seen>,
        bucket: &BucketSnapshot<Seen>,
    ) -> Checked {
        if !matches!(event.kind(), Kind::Value | Kind::Histogram(_)) {
            return Ok(());
        }
        let stats = bucket.stats(event);
        let (Some(min), Some(max)) = (stats.min, stats.max) else {
            prop_assert_eq!(Tally::from(stats), Tally::default());
            return Ok(());
        };
        let recorded = values(&self.since(tier, view), event);
        prop_assert!(recorded.contains_key(&min) && recorded.contains_key(&max), "{:?}", stats);
        let sums = min * stats.count..=max * stats.count; // values are small
        prop_assert!(stats.count > 0 && sums.contains(&stats.sum), "{:?}", stats);
        let Typed::Histogram(event) = event.typed() else { return Ok(()) };
        let distribution = bucket.distribution(event);
        let mut cells = distribution.cells().filter(|(_, count)| *count > 0).map(|(cell, _)| cell);
        if let Some(first) = cells.next() {
            let last = cells.last().unwrap_or_else(|| first.clone());
            prop_assert!(first.contains(&min) && last.contains(&max), "{:?}", distribution);
        }
        Ok(())
    }

    /// Returns a span of a tier, as it is, without its newest bucket, and as it was at earlier
    /// times.
    pub(super) fn like_over(&self, nanos: u64, tier: usize) -> Checked {
        let over = self.window.over(Duration::from_nanos(nanos)).expect("a valid span");
        let Geometry { length, buckets: all } = self.oracle.geometry(Some(tier));
        let (now, buckets) = (self.now(), nanos.div_ceil(length));
        let totals = over.totals();
        self.like_totals(tier, &totals, now, buckets)?;
        for event in EVENTS {
            same_stats(over.stats(event), Tally::from(totals.stats(event)))?;
            let sums = if_summed!(event, |of| (over.sum(of).bits(), totals.sum(of).bits()));
            prop_assert!(sums.is_none_or(|(one, other)| one == other), "{:?}: {:?}", event, sums);
        }
        if let Some(before) = (now - now % length).checked_sub(1) {
            self.like_totals(tier, &over.complete(), before, buckets.min(all - 1))?;
        }
        for back in 0..=all {
            let Some(at) = now.checked_sub(back * length) else { break };
            let from = (at - at % length).saturating_sub((buckets - 1) * length);
            let answer = over.totals_at(Timestamp::from_nanos(at));
            match (answer, self.oracle.admits(Some(tier), now, from)) {
                (Ok(totals), Ok(())) => self.like_totals(tier, &totals, at, buckets)?,
                (Err(_), Err(Refused::BeforeRing { .. })) => break,
                (answer, expected) => prop_assert!(false, "{:?} is not {:?}", answer, expected),
            }
        }
        Ok(())
    }

    /// Checks a tier's answer for `buckets` buckets up to the one of `at`: it is the sum of the
    /// adds between the ends that it states, and those are the requested ends, if it must know
    /// them.
    fn like_totals(&self, tier: usize, totals: &Totals<Seen>, at: u64, buckets: u64) -> Checked {
        let Geometry { length, buckets: all } = self.oracle.geometry(Some(tier));
        let (newest, live) = (at - at % length, self.oracle.newest());
        let (end, covers) = (totals.end().as_nanos(), totals.interval().as_nanos() as u64);
        let asked = newest.saturating_add(length); // or the end of time
        let from = match buckets.checked_sub(1) {
            Some(older) => newest.saturating_sub(older * length),
            None => asked,
        };
        let oldest = (live.max(at) - live.max(at) % length).saturating_sub((all - 1) * length);
        let is_known = |boundary| self.newest.knows(boundary, length);
        if buckets > 0 && from >= oldest && is_known(from) && is_known(asked) {
            prop_assert_eq!((end, covers), (asked, buckets * length), "up to {}", at);
        }
        let mut expected = Vec::new();
        if covers > 0 {
            let is_boundary = end.is_multiple_of(length);
            prop_assert!(end >= asked && (is_boundary || end == u64::MAX), "it ends at {}", end);
            // The end of time may be a boundary, too: then it is the last bucket's that was asked.
            let has_last = !is_boundary || newest.checked_add(length).is_none();
            let last = if has_last { end } else { end - 1 };
            expected = self.oracle.span(Some(tier), Some(last), covers / length).views;
        }
        for event in EVENTS {
            let expected = total(&expected, event);
            prop_assert_eq!(Tally::from(totals.stats(event)), expected, "{:?}", totals);
        }
        let expected: Values = values(&expected, WAITED);
        let waited = totals.distribution(Seen::Waited);
        prop_assert!(has_values(&waited, &expected), "{:?} is not of {:?}", waited, expected);
        Ok(())
    }

    /// Returns a tier's buckets from one on.
    fn since(&self, tier: usize, from: &View<Event<Seen>>) -> Vec<View<Event<Seen>>> {
        let mut views = self.oracle.series(tier, self.now().max(self.oracle.newest()));
        views.retain(|view| view.start >= from.start);
        views
    }
}
