//! The rules in force, and the locks that exclude swaps.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use arc_swap::{ArcSwapOption, Guard};
use windrow::Family;
use windrow::family::Metric;
use windrow::labels::Labels;

use crate::changes::Changes;
use crate::rules::{Rules, Setting};

/// The rules in force, if there are any.
pub(crate) struct Current<T> {
    rules: ArcSwapOption<Rules<T>>,
    /// Shared while a key is given its setting and published; exclusive while the rules are
    /// exchanged.
    publishing: RwLock<()>,
    /// Held from the exchange until all keys have their new setting.
    swapping: Mutex<()>,
}

impl<T: Setting> Current<T> {
    pub(crate) const fn new() -> Current<T> {
        Current {
            rules: ArcSwapOption::const_empty(),
            publishing: RwLock::new(()),
            swapping: Mutex::new(()),
        }
    }

    /// Returns the rules in force, without a lock.
    pub(crate) fn load(&self) -> Guard<Option<Arc<Rules<T>>>> {
        self.rules.load()
    }

    /// Publishes a key with its setting by the rules in force, which are not exchanged meanwhile.
    pub(crate) fn publish(&self, publish: impl FnOnce(Option<&Rules<T>>)) {
        let _shared = self.publishing.read().unwrap_or_else(PoisonError::into_inner);
        publish(self.rules.load().as_deref());
    }

    /// Exchanges the rules, then has each key of a family go by its new setting: `go_by` returns
    /// whether the key had another, or `None` if it could not be changed. Each key is published
    /// before that begins, or has its setting by the new rules. Swaps run one after the other.
    pub(crate) fn replace<L: Labels, M: Metric>(
        &self,
        rules: Rules<T>,
        family: &Family<L, M>,
        go_by: impl Fn(&M, T) -> Option<bool>,
    ) -> Changes {
        let rules = Arc::new(rules);
        let _one = self.swapping.lock().unwrap_or_else(PoisonError::into_inner);
        let alone = self.publishing.write().unwrap_or_else(PoisonError::into_inner);
        self.rules.store(Some(Arc::clone(&rules)));
        drop(alone);
        let mut changes = Changes::default();
        for key in family {
            changes.note(go_by(&key, rules.setting_of::<L>(family.names(), key.labels())));
        }
        changes
    }
}
