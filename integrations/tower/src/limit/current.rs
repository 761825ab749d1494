//! The rules in force, and the locks that exclude swaps.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use arc_swap::{ArcSwapOption, Guard};

use crate::rules::Rules;

/// The rules in force, if there are any.
pub(super) struct Current {
    rules: ArcSwapOption<Rules>,
    /// Shared while a gate is given its rate and published; exclusive while the rules are
    /// exchanged.
    publishing: RwLock<()>,
    /// Held from the exchange until all gates have their new rate.
    swapping: Mutex<()>,
}

impl Current {
    pub(super) const fn new() -> Current {
        Current {
            rules: ArcSwapOption::const_empty(),
            publishing: RwLock::new(()),
            swapping: Mutex::new(()),
        }
    }

    /// Returns the rules in force, without a lock.
    pub(super) fn load(&self) -> Guard<Option<Arc<Rules>>> {
        self.rules.load()
    }

    /// Publishes a gate with its rate by the rules in force, which are not exchanged meanwhile.
    pub(super) fn publish(&self, publish: impl FnOnce(Option<&Rules>)) {
        let _shared = self.publishing.read().unwrap_or_else(PoisonError::into_inner);
        publish(self.rules.load().as_deref());
    }

    /// Exchanges the rules, then runs `apply`. Each gate is published before `apply` begins, or has
    /// its rate by the new rules. Swaps run one after the other.
    pub(super) fn swap<T>(&self, rules: Arc<Rules>, apply: impl FnOnce() -> T) -> T {
        let _one = self.swapping.lock().unwrap_or_else(PoisonError::into_inner);
        let alone = self.publishing.write().unwrap_or_else(PoisonError::into_inner);
        self.rules.store(Some(rules));
        drop(alone);
        apply()
    }
}
