//! The contents of buckets, in plain numbers.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use crate::ledger::Tally;

/// The number of times that each value was recorded.
pub(crate) type Values = BTreeMap<u64, u64>;

/// Tallies by event, and its values; an event that is missing has counted nothing.
#[derive(Clone, Debug)]
pub(crate) struct Tallies<E> {
    tallies: HashMap<E, Tally>,
    values: HashMap<E, Values>,
}

impl<E> Default for Tallies<E> {
    fn default() -> Self {
        Tallies { tallies: HashMap::new(), values: HashMap::new() }
    }
}

impl<E: Copy + Eq + Hash> Tallies<E> {
    /// Returns whether nothing was added.
    pub(super) fn is_empty(&self) -> bool {
        self.tallies.values().all(|tally| *tally == Tally::default())
    }

    pub(crate) fn of(&self, event: E) -> Tally {
        self.tallies.get(&event).copied().unwrap_or_default()
    }

    pub(crate) fn values_of(&self, event: E) -> Values {
        self.values.get(&event).cloned().unwrap_or_default()
    }

    /// Adds a tally, or one value.
    pub(super) fn note(&mut self, event: E, tally: Tally) {
        self.tallies.entry(event).or_default().merge(tally);
        if let (Some(value), 1) = (tally.min, tally.count) {
            add(self.values.entry(event).or_default(), [(&value, &1)]);
        }
    }

    pub(super) fn merge(&mut self, other: &Tallies<E>) {
        for (event, tally) in &other.tallies {
            self.tallies.entry(*event).or_default().merge(*tally);
        }
        for (event, values) in &other.values {
            add(self.values.entry(*event).or_default(), values);
        }
    }
}

fn add<'v>(to: &mut Values, values: impl IntoIterator<Item = (&'v u64, &'v u64)>) {
    values.into_iter().for_each(|(value, count)| *to.entry(*value).or_default() += count);
}

/// One bucket as a reader should see it.
#[derive(Clone, Debug)]
pub(crate) struct View<E> {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) tallies: Tallies<E>,
    /// True if the bucket must be closed; `None` if that depends on how fast buckets are closed.
    pub(crate) closed: Option<bool>,
}

/// Returns the sum of `views`, one event at a time.
pub(crate) fn total<E: Copy + Eq + Hash>(views: &[View<E>], event: E) -> Tally {
    let mut total = Tally::default();
    for view in views {
        total.merge(view.tallies.of(event));
    }
    total
}

/// Returns all values of `views`, of one event.
pub(crate) fn values<E: Copy + Eq + Hash>(views: &[View<E>], event: E) -> Values {
    let mut all = Values::new();
    for view in views {
        add(&mut all, &view.tallies.values_of(event));
    }
    all
}
