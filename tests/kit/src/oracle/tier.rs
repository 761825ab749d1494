//! A tier in the plainest way: a map from the starts of its coarse buckets to tallies.

use std::collections::BTreeMap;
use std::hash::Hash;

use super::ops::Geometry;
use super::tallies::{Tallies, View};
use crate::ledger::Tally;

/// The contents of a span.
pub(crate) struct Span<E> {
    /// Nanoseconds that its buckets cover, those before time zero too.
    pub(crate) covers: u64,
    /// Its buckets, oldest first.
    pub(crate) views: Vec<View<E>>,
}

/// In the methods, `live` is any time in the newest bucket that was ever opened.
#[derive(Debug)]
pub(super) struct Tier<E> {
    pub(super) geometry: Geometry,
    ring: BTreeMap<u64, Tallies<E>>,
}

impl<E: Copy + Eq + Hash> Tier<E> {
    pub(super) fn new(geometry: Geometry) -> Tier<E> {
        Tier { geometry, ring: BTreeMap::new() }
    }

    fn start_of(&self, at: u64) -> u64 {
        at - at % self.geometry.length
    }

    /// Returns the start of the oldest bucket, where the newest is the one of a time.
    fn oldest(&self, newest: u64) -> u64 {
        let Geometry { length, buckets } = self.geometry;
        self.start_of(newest).saturating_sub(length * (buckets - 1))
    }

    /// Counts in the bucket of a time, unless it has left the tier.
    pub(super) fn count(&mut self, at: u64, live: u64, event: E, tally: Tally) {
        let start = self.start_of(at);
        if start >= self.oldest(live) {
            self.ring.entry(start).or_default().note(event, tally);
        }
    }

    pub(super) fn forget(&mut self, live: u64) {
        self.ring = self.ring.split_off(&self.oldest(live));
    }

    /// Returns the span of `buckets` buckets up to the one of `at`, as far as they were not
    /// forgotten.
    pub(super) fn span(&self, at: u64, buckets: u64, live: u64) -> Span<E> {
        let length = self.geometry.length;
        let newest = self.start_of(at);
        let wanted = newest.saturating_sub(length * buckets.saturating_sub(1));
        let oldest = self.oldest(live.max(at));
        let mut views = self.views(at, buckets, live);
        views.retain(|view| view.start >= oldest);
        // Time before zero counts, forgotten buckets do not.
        let covers = if wanted < oldest { views.len() as u64 } else { buckets } * length;
        Span { covers, views }
    }

    /// Returns the views of `buckets` buckets up to the one of `at`, except those before time zero.
    pub(super) fn views(&self, at: u64, buckets: u64, live: u64) -> Vec<View<E>> {
        let (length, newest) = (self.geometry.length, self.start_of(at));
        let back = |k: u64| newest.checked_sub(k.checked_mul(length)?);
        (0..buckets).rev().filter_map(back).map(|start| self.view(start, newest, live)).collect()
    }

    fn view(&self, start: u64, newest: u64, live: u64) -> View<E> {
        let live = self.start_of(live);
        let closed = if start >= live {
            Some(false)
        } else if start < newest {
            Some(true)
        } else {
            None // the newest is one that adds go to, for all that a series says
        };
        View {
            start,
            end: start.saturating_add(self.geometry.length),
            tallies: self.ring.get(&start).cloned().unwrap_or_default(),
            closed,
        }
    }
}
