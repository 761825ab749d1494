//! Series leave a family.

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
    /// Removes the series for which `keep` says false, and tells how many they were.
    ///
    /// `keep` is given each series, and for how long it has been idle: how long before this call it
    /// was found to have been used, by this method. (So the first call finds all series in use, and
    /// calls a minute apart tell the idle time to a minute.) A series of which there is a
    /// [`Handle`] is in use, and is not removed, whatever `keep` says. (A walk that is under way
    /// has handles of all series that it has not come to.)
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
        let mut freed = Vec::new(); // dropped behind the lock, also while a panic unwinds
        self.lock().free(usize::MAX, &mut freed);
        removed
    }

    /// Removes a series, and tells whether there was one. Handles of it count on, in
    /// [`lifetime`](Self::lifetime) alone.
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
    pub fn remove(&self, labels: L::Borrowed<'_>) -> bool {
        self.remove_if(labels, |_| true)
    }

    /// Removes a series, if there is one and its metric is such; and tells whether it did. As
    /// [`remove`](Self::remove).
    ///
    /// No other thread removes a series while `which` runs: so what it is given is what is removed,
    /// and no newer series of the same set. It has the family's lock, and so may call nothing of
    /// the family that takes it.
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
        let mut freed = Vec::new(); // dropped behind the lock, also while a panic unwinds
        let mut forgotten = self.lock();
        forgotten.free(LOOKS, &mut freed);
        // SAFETY: we have the lock.
        let found = self.table.get().map(|table| unsafe { table.place(labels).search(labels) });
        match found {
            Some(Search::Found(series)) if series.is_there() && which(&series.metric) => {
                self.remove_from_table(series, &mut forgotten)
            }
            _ => false,
        }
    }

    /// False if it was removed before.
    fn remove_from_table(&self, series: &Series<L, M>, forgotten: &mut Forgotten<L, M>) -> bool {
        let (Some(table), Some(labels)) = (self.table.get(), &series.labels) else { return false };
        let is_first = if L::COMBINATIONS.is_some() {
            series.hide()
        } else if series.take_out() {
            let place = table.place(L::borrow(labels));
            // SAFETY: the caller has the lock. It was not taken out before, so it is in its list.
            forgotten.take(unsafe { place.remove(series) });
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
