//! Removing keys that are not used.
//!
//! A key that no thread can count in has two references to its cell: from its key, and from its
//! series. All other references belong to handles: those that a program keeps, and those that
//! threads keep by key. After each look the registry has another number, so that threads drop the
//! handles that they keep, and look up their keys anew.
//!
//! A key is removed if a look has found that no thread can count in it, as an earlier one has, and
//! no thread has looked it up in between. The export that follows the earlier look has shown its
//! counts up to then, which are all its counts.

use std::sync::PoisonError;
use std::sync::atomic::{Ordering, fence};
use std::time::Instant;

use metrics::Key;

use crate::counter::CounterCell;
use crate::gauge::GaugeCell;
use crate::histogram::HistogramCell;
use crate::index::{Known, Shard};
use crate::names::{self, metric_name};
use crate::registry::{Registry, Tabled};

impl Registry {
    /// Looks for idle keys, if it is time.
    pub(crate) fn let_idle_leave(&self) {
        let Some(idle) = self.config.idle else { return };
        let looked = &mut *self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        if looked.elapsed() < idle / 2 {
            return;
        }
        *looked = Instant::now();
        let look = self.number() + 1;
        self.look::<CounterCell>(look);
        self.look::<GaugeCell>(look);
        self.look::<HistogramCell>(look);
        self.next_number();
        // Pairs with the Release by which handles were dropped: their counts are in the export that
        // follows.
        fence(Ordering::Acquire);
    }

    /// Removes the keys of a kind that are quiet at this look as at an earlier one.
    fn look<T: Tabled>(&self, look: u64) {
        let mut quiet = Vec::new();
        for shard in T::index(self).shards() {
            let keys = shard.read().len();
            quiet.reserve(keys); // without the lock; newer keys cannot be quiet yet
            shard.write().quiet(look, &mut quiet);
            for (at, key) in quiet.drain(..) {
                drop(self.remove(shard, at, &key, look)); // without the lock
            }
        }
    }

    /// Removes a key that is still quiet, and its series, of which it is the only one.
    fn remove<T: Tabled>(
        &self,
        shard: &Shard<T>,
        at: u64,
        key: &Key,
        look: u64,
    ) -> Option<Known<T>> {
        let name = metric_name(key.name());
        let (labels, _) = names::labels(key, T::KIND, &self.config.global_labels);
        let state = &mut *self.write();
        let families = T::table_mut(state);
        let family = families.get_mut(&*name)?;
        if family.series.get(&labels)?.len() != 1 {
            return None; // the counts of the other keys must not go back
        }
        let known = shard.write().remove(at, look)?;
        family.series.remove(&labels);
        family.keys -= 1;
        if family.series.is_empty() {
            families.remove(&*name);
        }
        state.keys -= 1;
        Some(known)
    }
}
