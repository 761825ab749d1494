//! What buckets hold, told plainly.

use std::collections::HashMap;
use std::hash::Hash;

use crate::ledger::Tally;

/// Tallies by event; an event that is missing has counted nothing.
#[derive(Clone, Debug)]
pub(crate) struct Tallies<E>(HashMap<E, Tally>);

impl<E> Default for Tallies<E> {
    fn default() -> Self {
        Tallies(HashMap::new())
    }
}

impl<E: Copy + Eq + Hash> Tallies<E> {
    /// Whether nothing was added.
    pub(super) fn is_empty(&self) -> bool {
        self.0.values().all(|tally| *tally == Tally::default())
    }

    pub(crate) fn of(&self, event: E) -> Tally {
        self.0.get(&event).copied().unwrap_or_default()
    }

    pub(super) fn note(&mut self, event: E, tally: Tally) {
        self.0.entry(event).or_default().merge(tally);
    }

    pub(super) fn merge(&mut self, other: &Tallies<E>) {
        other.0.iter().for_each(|(&event, &tally)| self.note(event, tally));
    }
}

/// One bucket as a reader should see it.
#[derive(Clone, Debug)]
pub(crate) struct View<E> {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) tallies: Tallies<E>,
    /// Whether it must be closed; `None` where that depends on how fast buckets are closed.
    pub(crate) closed: Option<bool>,
}

/// The sum of `views`, one event at a time.
pub(crate) fn total<E: Copy + Eq + Hash>(views: &[View<E>], event: E) -> Tally {
    let mut total = Tally::default();
    for view in views {
        total.merge(view.tallies.of(event));
    }
    total
}
