//! Removing series from a family.

use std::time::Duration;

use crate::family::Family;
use crate::family::forgotten::{Forgotten, LOOKS};
use crate::family::handle::Handle;
use crate::family::labels::Labels;
use crate::family::metric::Metric;
use crate::family::series::Series;
use crate::family::table::Search;
use crate::sync::{Arc, Ordering};

impl<L: Labels, M: Metric, F> Family<L, M, F> {
    /// Removes the series for which `keep` returns false, and returns their number.
    ///
    /// `keep` is called with each series and its idle time: the time since a call of this method
    /// last found that the series had been used. (So the first call finds all series in use, and
    /// with a call each minute the idle time is right to a minute.) A series that has a [`Handle`]
    /// is in use, and is not removed even if `keep` returns false. (An iteration has handles of all
    /// series that it has not returned yet.)
    ///
    /// ```
    /// use std::time::Duration;
    /// # use windrow::{Counter, Family, labels};
    /// # labels! { pub struct Route { route: str } }
    /// # static REQUESTS: Family<Route, Counter> = Family::new();
    /// REQUESTS.with(Route { route: "/cart" }).increment();
    /// // Every minute:
    /// let removed = REQUESTS.retain(|_, idle| idle < Duration::from_secs(3_600));
    /// assert_eq!(removed, 0);
    /// ```
    pub fn retain(&self, mut keep: impl FnMut(&Handle<L, M>, Duration) -> bool) -> usize {
        let mut removed = 0;
        for series in self.iter().filter(|series| series.labels().is_some()) {
            // One reference is the table's, one is ours.
            let is_kept = || Arc::strong_count(series.series()) > 2;
            if !keep(&series, series.series().idle(is_kept())) {
                let mut forgotten = self.lock();
                if !is_kept() {
                    removed += usize::from(self.remove_from_table(series.series(), &mut forgotten));
                }
            }
        }
        let mut freed = Vec::new(); // dropped after the lock, also while a panic unwinds
        self.lock().free(usize::MAX, &mut freed);
        removed
    }

    /// Removes a series, and returns whether it existed. Its handles stay usable; their adds count
    /// only in [`lifetime`](Self::lifetime).
    ///
    /// ```
    /// # use windrow::{Counter, Family, labels};
    /// # labels! { pub struct Route { route: str } }
    /// let requests: Family<Route, Counter> = Family::new();
    /// requests.with(Route { route: "/a" }).add(2);
    /// assert!(requests.remove(Route { route: "/a" }));
    /// assert!(requests.is_empty());
    /// assert_eq!(requests.with(Route { route: "/a" }).sum(), 0);
    /// ```
    #[doc(alias = "remove_label_values")]
    pub fn remove(&self, labels: L::Borrowed<'_>) -> bool {
        self.remove_if(labels, |_| true)
    }

    /// Removes the series, as [`remove`](Self::remove) does, if it exists and `which` returns true
    /// for its metric. Returns whether it was removed.
    ///
    /// No other thread removes a series while `which` runs, so exactly the series that it was
    /// called with is removed, and no newer one of the same set. `which` runs under the family's
    /// lock, so it must not call methods of the family that take it.
    ///
    /// ```
    /// # use windrow::{Counter, Family, labels};
    /// # labels! { pub struct Route { route: str } }
    /// let requests: Family<Route, Counter> = Family::new();
    /// requests.with(Route { route: "/a" }).add(2);
    /// assert!(!requests.remove_if(Route { route: "/a" }, |requests| requests.sum() == 0));
    /// assert!(requests.remove_if(Route { route: "/a" }, |requests| requests.sum() == 2));
    /// assert!(requests.is_empty());
    /// ```
    pub fn remove_if(&self, labels: L::Borrowed<'_>, which: impl FnOnce(&M) -> bool) -> bool {
        let mut freed = Vec::new(); // dropped after the lock, also while a panic unwinds
        let mut forgotten = self.lock();
        forgotten.free(LOOKS, &mut freed);
        // SAFETY: this thread holds the lock.
        let found = self.table.get().map(|table| unsafe { table.list(labels).search(labels) });
        match found {
            Some(Search::Found(series)) if series.is_there() && which(&series.metric) => {
                self.remove_from_table(series, &mut forgotten)
            }
            _ => false,
        }
    }

    /// Removes a series. Returns false if it was removed before.
    fn remove_from_table(&self, series: &Series<L, M>, forgotten: &mut Forgotten<L, M>) -> bool {
        let (Some(table), Some(labels)) = (self.table.get(), &series.labels) else { return false };
        let is_first = if L::COMBINATIONS.is_some() {
            series.hide()
        } else if series.take_out() {
            let list = table.list(L::borrow(labels));
            // SAFETY: the caller holds the lock. The series was not taken out before, so it is in
            // its list.
            forgotten.take(unsafe { list.remove(series) });
            true
        } else {
            false
        };
        if is_first {
            self.series.fetch_sub(1, Ordering::Relaxed);
        }
        is_first
    }
}
