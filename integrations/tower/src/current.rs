//! The rules in force, the locks that exclude swaps, and the changes that a swap has made.

use std::fmt::{self, Display, Formatter};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use arc_swap::{ArcSwapOption, Guard};
use windrow::Family;
use windrow::family::Metric;
use windrow::labels::Labels;

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
            let setting = rules.setting_of::<L>(family.names(), key.labels());
            let has_changed = go_by(&key, setting);
            changes.keys += usize::from(has_changed == Some(true));
            changes.failed += usize::from(has_changed.is_none());
        }
        changes
    }
}

/// The changes that a swap of rules has made: from [`Limits::replace`](crate::Limits::replace),
/// [`Rooms::replace`](crate::Rooms::replace) and [`Routes::replace`](crate::Routes::replace).
///
/// ```
/// use windrow_tower::Changes;
///
/// assert_eq!(Changes::default().to_string(), "changed keys: 0");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changes {
    /// The number of keys (in [`Routes`](crate::Routes), of series) whose setting has changed.
    /// (Waits are not compared.)
    pub keys: usize,
    /// The number of keys that could not be changed, because there is no memory for their buckets.
    /// They keep their interval and buckets, and have the lower one of the old and the new limit.
    /// All other keys follow the rules. When there is memory, replace the rules again.
    pub failed: usize,
}

impl Display for Changes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "changed keys: {}", self.keys)?;
        if self.failed > 0 {
            write!(f, "; keys that could not be changed: {}", self.failed)?;
        }
        Ok(())
    }
}
