//! Keys that are not used leave.
//!
//! A key that no thread can count in has two references to its cell: from its key, and from its
//! series. All others are of handles: of those that a program keeps, and of those that threads keep
//! by key. After each look the registry has another number, so that threads let go of the handles
//! that they keep, and look for their keys anew.
//!
//! A key leaves if two looks, one after the other, have found that no thread can count in it, and
//! no thread has looked for it in between. The export that follows the first look has shown what it
//! had counted by then, which is all that it ever counted.

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

/// For how many keys a look has the lock at a time.
const SLICE: usize = 64;

/// References to a cell in which no thread can count: its key's, and its series'.
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
        // Pairs with the Release by which handles were let go: what they have counted is in the
        // export that follows.
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
            return None; // what the other keys have counted must not go back
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
