//! Removing series from a family.

use std::sync::TryLockError;
use std::time::Duration;

use crate::family::Family;
use crate::family::handle::Handle;
use crate::family::labels::Labels;
use crate::family::list::Search;
use crate::family::metric::Metric;
use crate::family::removed_totals::{Forgotten, LOOKS};
use crate::family::series::Series;
use crate::family::shared::Shared;

impl<L: Labels, M: Metric, F> Family<L, M, F> {
    /// Removes the series for which `keep` returns false, and returns their number.
    ///
    /// `keep` is called with each series and its idle time: the time since a call of this method
    /// last found that the series had been used. (So the first call finds all series in use, and
    /// with a call each minute the idle time is right to a minute. It may be 67 ms too short, and
    /// wraps after 4.5 years.) A series that has a [`Handle`] is in use, and is not removed even if
    /// `keep` returns false. (An iteration has handles of all series that it has not returned yet.)
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
            let is_kept = || Shared::count(series.series()) > 2;
            let idle = {
                let _locked = self.lock();
                series.series().idle(is_kept())
            };
            if !keep(&series, idle) {
                let mut forgotten = self.lock();
                if !is_kept() {
                    removed += usize::from(self.remove_from_table(series.series(), &mut forgotten));
                    if forgotten.is_batch_full() {
                        forgotten.settle(self.announces());
                    }
                }
            }
        }
        let mut freed = Vec::new(); // dropped after the lock, also while a panic unwinds
        self.lock().free(usize::MAX, self.announces(), &mut freed);
        removed
    }

    /// Looks at the next `count` series, or at all if there are fewer, and removes those for which
    /// `keep` returns false. Returns the number of removed series.
    ///
    /// The family has a clock hand, which goes on where the last call of this method has stopped,
    /// and begins anew behind the last series. So a family whose users call this whenever they
    /// insert a series never needs a sweep: each call takes time for `count` series, and not for
    /// all. A series that has a [`Handle`] is kept, without a call of `keep`. The call does nothing
    /// while another thread holds the family's lock. Removed series are freed by later calls, 64 of
    /// them together.
    ///
    /// Each call looks at exactly the smaller one of `count` and [`len`](Self::len) series, and
    /// successive calls look at all in turn, as long as no other thread inserts or removes one
    /// meanwhile. (An insertion that has not returned may be missed; a removal between two calls
    /// may have a series looked at twice.) Between two series, a call may load a word for each 64
    /// of the [limit](Self::with_max_series): some microseconds for a million, if hardly one is
    /// there.
    ///
    /// No other thread removes a series while `keep` runs. It runs under the family's lock, so it
    /// must not call methods of the family that take it.
    ///
    /// ```
    /// use windrow::{Counter, Family, labels};
    ///
    /// labels! { pub struct Client { client: u32 } }
    ///
    /// let clients: Family<Client, Counter> = Family::new().with_max_series(100);
    /// for client in 0..1_000 {
    ///     clients.with(Client { client }).increment();
    ///     clients.retain_next(2, |requests| requests.sum() > 1);
    /// }
    /// assert!(clients.len() < 50);
    /// ```
    pub fn retain_next(&self, count: usize, mut keep: impl FnMut(&M) -> bool) -> usize {
        let mut freed = Vec::new(); // dropped after the lock, also while a panic unwinds
        let Some(table) = self.table.get() else { return 0 };
        let mut forgotten = match self.forgotten.try_lock() {
            Ok(forgotten) => forgotten,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(), // as in `lock`
            Err(TryLockError::WouldBlock) => return 0,
        };
        if forgotten.is_batch_full() {
            forgotten.free(LOOKS, self.announces(), &mut freed);
        }
        let mut removed = 0;
        // SAFETY: this thread holds the lock, and `forgotten` keeps what it removes.
        let round = unsafe { forgotten.hand.round(table) };
        for (behind, series) in round.filter(|(_, series)| series.is_there()).take(count) {
            forgotten.hand = behind; // first: `keep` may panic
            let is_kept = Shared::count(series) > 1; // one reference is the table's
            if !is_kept && !keep(&series.metric) {
                removed += usize::from(self.remove_from_table(series, &mut forgotten));
            }
        }
        removed
    }

    /// Removes a series, and returns whether it existed. Its handles stay usable; their adds count
    /// only in [`lifetime`](Self::lifetime).
    ///
    /// If the set is used again, it has a new series, which begins at zero. If all labels are
    /// enums, the series is hidden instead: the set goes on with the counts that it had.
    ///
    /// ```
    /// # use windrow::{Counter, Family, labels};
    /// # labels! { pub struct Route { route: str } }
    /// let requests: Family<Route, Counter> = Family::new();
    /// requests.with(Route { route: "/a" }).add(2);
    /// assert!(requests.remove(Route { route: "/a" }));
    /// assert_eq!(requests.len(), 0);
    /// assert_eq!(requests.with(Route { route: "/a" }).sum(), 0);
    ///
    /// # labels! { pub struct Flag { on: bool } }
    /// let flags: Family<Flag, Counter> = Family::new();
    /// flags.with(Flag { on: true }).add(2);
    /// assert!(flags.remove(Flag { on: true }));
    /// assert_eq!(flags.len(), 0);
    /// assert_eq!(flags.with(Flag { on: true }).sum(), 2);
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
    /// assert_eq!(requests.len(), 0);
    /// ```
    pub fn remove_if(&self, labels: L::Borrowed<'_>, which: impl FnOnce(&M) -> bool) -> bool {
        let mut freed = Vec::new(); // dropped after the lock, also while a panic unwinds
        let mut forgotten = self.lock();
        forgotten.free(LOOKS, self.announces(), &mut freed);
        // SAFETY: this thread holds the lock.
        let found = self.table.get().map(|table| unsafe { table.list(labels).search(labels) });
        match found {
            Some(Search::Found(series)) if series.is_there() && which(&series.metric) => {
                let is_removed = self.remove_from_table(series, &mut forgotten);
                forgotten.settle(self.announces());
                is_removed
            }
            _ => false,
        }
    }

    /// Removes a series. Returns false if it was removed before.
    fn remove_from_table(&self, series: &Series<L, M>, forgotten: &mut Forgotten<L, M>) -> bool {
        let (Some(table), Some(labels)) = (self.table.get(), series.labels()) else { return false };
        if L::COMBINATIONS.is_some() {
            let is_first = series.hide();
            if is_first {
                self.places.hide();
            }
            return is_first;
        }
        let is_first = series.take_out();
        if is_first {
            let list = table.list(L::borrow(labels));
            self.places.begin_removal();
            // SAFETY: the caller holds the lock. The series was not taken out before, so it is in
            // its list.
            forgotten.take(unsafe { list.remove(series) });
            self.places.end_removal();
        }
        is_first
    }
}
