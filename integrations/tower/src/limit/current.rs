//! The rules in force, and who may not act while they are swapped.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use arc_swap::{ArcSwapOption, Guard};

use crate::rules::Rules;

/// The rules in force, if there are any.
pub(super) struct Current {
    rules: ArcSwapOption<Rules>,
    /// Shared by all that make gates, each for the moment in which a gate is given its rate and
    /// published; taken alone for the moment of a swap.
    publishing: RwLock<()>,
    /// Held through a swap, and until all gates go by the new rules.
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

    /// Takes no lock, and waits for nobody.
    pub(super) fn load(&self) -> Guard<Option<Arc<Rules>>> {
        self.rules.load()
    }

    /// Publishes a gate that goes by the rules in force: they are not swapped meanwhile.
    pub(super) fn publish(&self, publish: impl FnOnce(Option<&Rules>)) {
        let _shared = self.publishing.read().unwrap_or_else(PoisonError::into_inner);
        publish(self.rules.load().as_deref());
    }

    /// Swaps the rules, and then runs `apply`: each gate is published before that begins, or goes
    /// by the new rules. One swap is made after the other.
    pub(super) fn swap<T>(&self, rules: Arc<Rules>, apply: impl FnOnce() -> T) -> T {
        let _one = self.swapping.lock().unwrap_or_else(PoisonError::into_inner);
        let alone = self.publishing.write().unwrap_or_else(PoisonError::into_inner);
        self.rules.store(Some(rules));
        drop(alone);
        apply()
    }
}
