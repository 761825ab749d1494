//! Listing all series for an export, so that no recorder waits for it.
//!
//! A new key needs the registry's lock alone, and behind it waits each key that a thread does not
//! know yet. So an export holds the lock for a slice of series at a time, clones references,
//! allocates nothing, and releases it: cells are read, and numbers are written, without the lock. A
//! series that is new meanwhile may be missing.

use std::ops::Bound;
use std::sync::Arc;

use crate::names::Labels;
use crate::registry::{Description, Head, KeyCells, Registry, Tabled};

/// The number of series for which an export holds the lock at a time.
const SLICE: usize = 64;

/// One series.
pub(crate) struct Listed<T> {
    pub(crate) head: Arc<Head>,
    pub(crate) description: Option<Description>,
    pub(crate) labels: Labels,
    pub(crate) cells: KeyCells<T>,
}

impl Registry {
    /// Returns all series of one kind, by name and labels.
    pub(crate) fn listed<T: Tabled>(&self) -> Vec<Listed<T>> {
        let mut all = Vec::new();
        loop {
            all.reserve(SLICE); // before there is a lock
            let before = all.len();
            self.slice(&mut all);
            if all.len() < before + SLICE {
                return all;
            }
        }
    }

    /// Adds the next slice of series.
    fn slice<T: Tabled>(&self, all: &mut Vec<Listed<T>>) {
        let last = all.last().map(|last| (Arc::clone(&last.head), Arc::clone(&last.labels)));
        let from = last.as_ref().map_or(Bound::Unbounded, |(head, _)| Bound::Included(&*head.name));
        let state = self.read();
        let mut room = SLICE;
        for (name, family) in T::table(&state).range::<str, _>((from, Bound::Unbounded)) {
            let behind = match &last {
                Some((head, labels)) if head.name == *name => Bound::Excluded(labels),
                _ => Bound::Unbounded,
            };
            let description = state.descriptions.get(&**name);
            for (labels, cells) in
                family.series.range::<Labels, _>((behind, Bound::Unbounded)).take(room)
            {
                room -= 1;
                all.push(Listed {
                    head: Arc::clone(&family.head),
                    description: description.cloned(),
                    labels: Arc::clone(labels),
                    cells: Arc::clone(cells),
                });
            }
            if room == 0 {
                return;
            }
        }
    }
}
