//! Removing keys that are not used.
//!
//! A key that no thread can count in has two references to its cell: from its key, and from its
//! series. All other references belong to handles: those that a program keeps, and those that
//! threads keep by key. After each look the registry has another number, so that threads drop the
//! handles that they keep, and look up their keys anew.
//!
//! A key is removed if two consecutive looks have found that no thread can count in it, and no
//! thread has looked it up in between. The export that follows the first look has shown its counts
//! up to then, which are all its counts.

use std::ops::Bound;
use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use metrics::Key;

use crate::counter::CounterCell;
use crate::gauge::GaugeCell;
use crate::histogram::HistogramCell;
use crate::names::{self, metric_name};
use crate::registry::{Known, Registry, State, Tabled};

/// The number of keys for which a look holds the lock at a time.
const SLICE: usize = 64;

/// The number of references to a cell in which no thread can count: its key's, and its series'.
const OWN: usize = 2;

impl Registry {
    /// Looks for idle keys, if it is time.
    pub(crate) fn let_idle_leave(&self) {
        let Some(idle) = self.config.idle else { return };
        let looked = &mut *self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        if looked.elapsed() < idle / 2 {
            return;
        }
        *looked = Instant::now();
        self.look::<CounterCell>();
        self.look::<GaugeCell>();
        self.look::<HistogramCell>();
        self.next_number();
        // Pairs with the Release by which handles were dropped: their counts are in the export that
        // follows.
        fence(Ordering::Acquire);
    }

    fn look<T: Tabled>(&self) {
        let mut last = None;
        let mut gone = Vec::new();
        loop {
            // Dropped without the lock.
            gone.clear();
            gone.reserve(SLICE);
            let state = &mut *self.write();
            let from = last.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
            let (mut looked_at, mut newest) = (0, None);
            for (key, known) in T::table_mut(state).by_key.range_mut((from, Bound::Unbounded)) {
                looked_at += 1;
                let is_quiet = Arc::strong_count(&known.cell) == OWN;
                let was_quiet = known.is_quiet.get_mut();
                if is_quiet && *was_quiet {
                    gone.push((key.clone(), None));
                }
                *was_quiet = is_quiet;
                if looked_at == SLICE {
                    newest = Some(key.clone());
                    break;
                }
            }
            for (key, known) in &mut gone {
                *known = state.remove::<T>(key, &self.config.global_labels);
            }
            last = newest;
            if last.is_none() {
                return;
            }
        }
    }
}

impl State {
    /// Removes a key and its series, of which it is the only one.
    fn remove<T: Tabled>(&mut self, key: &Key, global: &[(String, String)]) -> Option<Known<T>> {
        let table = T::table_mut(self);
        let name = metric_name(key.name());
        let family = table.families.get_mut(&*name)?;
        let (labels, _) = names::labels(key, T::KIND, global);
        if family.series.get(&labels)?.len() != 1 {
            return None; // the counts of the other keys must not go back
        }
        family.series.remove(&labels);
        family.keys -= 1;
        if family.series.is_empty() {
            table.families.remove(&*name);
        }
        let known = table.by_key.remove(key);
        self.keys -= 1;
        known
    }
}
