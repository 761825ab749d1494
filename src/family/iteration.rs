//! Iterating over the series of a family.

use std::fmt::{self, Debug, Formatter};
use std::vec;

use crate::family::Family;
use crate::family::handle::{Handle, Pinned};
use crate::family::labels::Labels;
use crate::family::list::Search;
use crate::family::lookup;
use crate::family::metric::Metric;
use crate::family::order::sort_by_address;
use crate::family::read::Read;
use crate::family::series::Series;
use crate::family::series_hold::Hold;
use crate::family::shared::Shared;

impl<L: Labels, M: Metric, F> Family<L, M, F> {
    /// Returns all series, in no order; and last the overflow series, if any set was refused.
    ///
    /// Other threads may add and make series meanwhile. A series that existed before the call and
    /// was not removed is included. Takes the lock for a moment, and allocates eight bytes for each
    /// series; under the lock, sixteen.
    ///
    /// ```
    /// # use windrow::{Counter, Family, labels};
    /// # labels! { pub struct Route { route: str } }
    /// let requests: Family<Route, Counter> = Family::new();
    /// requests.with(Route { route: "/a" }).add(2);
    /// requests.with(Route { route: "/b" }).add(3);
    /// assert_eq!(requests.iter().map(|series| series.sum()).sum::<u64>(), 5);
    /// ```
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Handle<L, M>> + use<L, M, F> {
        self.into_iter()
    }

    fn list(&self) -> FamilyIter<L, M> {
        let locked = self.lock();
        let mut listed = Vec::with_capacity(self.len() + 1);
        if let Some(table) = self.table.get() {
            // SAFETY: we have the lock.
            unsafe { table.list_all(&mut listed) };
            if L::COMBINATIONS.is_some() {
                listed.retain(|series| !series.is_hidden()); // of others, none is hidden
            }
        }
        // In the order of their addresses: an iteration mostly waits for memory, and a table has no
        // order.
        sort_by_address(&mut listed);
        // SAFETY: the series are in the table, which has a reference to each.
        let share = |series: &Series<L, M>| unsafe { Shared::another(series) };
        let mut all: Vec<Shared<L, M>> = listed.into_iter().map(share).collect(); // in place
        drop(locked);
        all.extend(self.overflow.get().cloned());
        FamilyIter(all.into_iter())
    }

    /// Returns the metric of a set of labels, if the set has a series. Makes no series, and does
    /// not mark it as used.
    ///
    /// Never waits, and costs the same as [`with`](Self::with): use the result at once and drop it.
    ///
    /// ```
    /// # use windrow::{Counter, Family, labels};
    /// # labels! { pub struct Route { route: str } }
    /// let requests: Family<Route, Counter> = Family::new();
    /// requests.with(Route { route: "/a" }).add(2);
    /// assert_eq!(requests.get(Route { route: "/a" }).map(|requests| requests.sum()), Some(2));
    /// assert!(requests.get(Route { route: "/b" }).is_none());
    /// assert_eq!((requests.len(), requests.refused()), (1, 0));
    /// ```
    pub fn get(&self, labels: L::Borrowed<'_>) -> Option<Pinned<'_, L, M>> {
        let table = self.table.get()?;
        let mut read = Read::default();
        let list = table.list_read(labels, &mut read);
        let announced = lookup::announced(table, list, labels, &read); // in use, and so not hidden
        if announced.is_some() {
            return announced;
        }
        let hold = Hold::pinned(Hold::<L>::pin(table.announces));
        // SAFETY: the series is used under this hold, as in `with`.
        match unsafe { list.search(labels) } {
            Search::Found(series) if !series.is_hidden() => {
                // SAFETY: as above; the family has a reference to it.
                Some(unsafe { Pinned::new(series, hold) })
            }
            _ => None,
        }
    }

    /// Returns the number of series, without the overflow series.
    ///
    /// ```
    /// # use windrow::{Counter, Family, labels};
    /// # labels! { pub struct Route { route: str } }
    /// let requests: Family<Route, Counter> = Family::new();
    /// requests.with(Route { route: "/a" }).increment();
    /// requests.with(Route { route: "/a" }).increment();
    /// assert_eq!(requests.len(), 1);
    /// ```
    #[doc(alias = "is_empty")]
    #[allow(clippy::len_without_is_empty)] // a family is compared with its limit, and rarely empty
    pub fn len(&self) -> usize {
        self.places.series()
    }

    /// Returns the number of uses that were refused, and counted in the overflow series.
    ///
    /// It counts uses, not sets: to count sets, a family would have to remember each of them.
    ///
    /// ```
    /// # use windrow::{Counter, Family, labels};
    /// # labels! { pub struct Route { route: str } }
    /// let requests: Family<Route, Counter> = Family::new().with_max_series(0);
    /// requests.with(Route { route: "/a" }).add(7);
    /// assert_eq!(requests.refused(), 1);
    /// ```
    pub fn refused(&self) -> u64 {
        self.refused.sum()
    }

    /// Returns the all-time total of all series: removed ones and the overflow series included.
    ///
    /// Exact when no add is running; otherwise as consistent as a metric's own total. Takes the
    /// lock, and reads every series.
    ///
    /// ```
    /// # use windrow::{Counter, Family, labels};
    /// # labels! { pub struct Route { route: str } }
    /// let requests: Family<Route, Counter> = Family::new();
    /// requests.with(Route { route: "/a" }).add(2);
    /// requests.with(Route { route: "/b" }).add(3);
    /// requests.remove(Route { route: "/a" });
    /// assert_eq!(requests.lifetime(), 5);
    /// ```
    pub fn lifetime(&self) -> M::Total {
        let mut freed = Vec::new(); // dropped after the lock, also while a panic unwinds
        let mut forgotten = self.lock();
        forgotten.free(usize::MAX, self.announces(), &mut freed);
        let mut total = forgotten.total();
        if let Some(table) = self.table.get() {
            // SAFETY: we have the lock.
            unsafe { table.all() }.for_each(|series| M::merge(&mut total, series.metric.total()));
        }
        if let Some(overflow) = self.overflow.get() {
            M::merge(&mut total, overflow.metric.total());
        }
        total
    }
}

/// An iterator over a family's series, as they were when it was made: see [`Family::iter`].
#[must_use = "its series are read as it goes"]
pub struct FamilyIter<L: Labels, M>(vec::IntoIter<Shared<L, M>>);

impl<L: Labels, M> Iterator for FamilyIter<L, M> {
    type Item = Handle<L, M>;

    fn next(&mut self) -> Option<Handle<L, M>> {
        self.0.next().map(Handle::new)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<L: Labels, M> ExactSizeIterator for FamilyIter<L, M> {}

impl<L: Labels, M: Metric, F> IntoIterator for &Family<L, M, F> {
    type Item = Handle<L, M>;
    type IntoIter = FamilyIter<L, M>;

    fn into_iter(self) -> FamilyIter<L, M> {
        self.list()
    }
}

/// Shows the series that are left.
impl<L: Labels, M: Debug> Debug for FamilyIter<L, M> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let left = self.0.as_slice().iter().map(|series| Handle::new(series.clone()));
        f.debug_list().entries(left).finish()
    }
}
