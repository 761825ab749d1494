//! References to all that there is, taken so that no recorder waits for an export.
//!
//! A new key needs the registry's lock alone, and behind it waits each key that a thread does not
//! know yet. So an export has the lock for some series at a time, clones references, allocates
//! nothing, and lets it go: what is read of the cells, and written of the numbers, is done without
//! it. A series that is new meanwhile may be missing.

use std::ops::Bound;
use std::sync::Arc;

use crate::names::Labels;
use crate::registry::{Cells, Description, Head, Registry, Tabled};

/// For how many series an export has the lock at a time.
const SLICE: usize = 64;

/// One series.
pub(crate) struct Listed<T> {
    pub(crate) head: Arc<Head>,
    pub(crate) description: Option<Description>,
    pub(crate) labels: Labels,
    pub(crate) cells: Cells<T>,
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

    /// The next series behind those that there are.
    fn slice<T: Tabled>(&self, all: &mut Vec<Listed<T>>) {
        let last = all.last().map(|last| (Arc::clone(&last.head), Arc::clone(&last.labels)));
        let from = last.as_ref().map_or(Bound::Unbounded, |(head, _)| Bound::Included(&*head.name));
        let state = self.read();
        let mut room = SLICE;
        for (name, family) in T::table(&state).families.range::<str, _>((from, Bound::Unbounded)) {
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
