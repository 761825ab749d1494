//! Finding the series of a set of labels, and making it.

use crate::family::Family;
use crate::family::handle::{Handle, Pinned};
use crate::family::labels::Labels;
use crate::family::list::{List, Search};
use crate::family::metric::Metric;
use crate::family::places::Found;
use crate::family::read::Read;
use crate::family::series::Series;
use crate::family::series_hold::Hold;
use crate::family::shared::Shared;
use crate::family::table::Table;
use crate::reclaim::Guard;

/// Returns the metric of a set of labels that belongs to a list of the table, if its series is
/// there and can be announced.
#[inline]
pub(super) fn announced<'t, L: Labels, M>(
    table: &'t Table<L, M>,
    list: List<'t, L, M>,
    labels: L::Borrowed<'_>,
    read: &Read,
) -> Option<Pinned<'t, L, M>> {
    if !table.announces {
        return None;
    }
    // SAFETY: the announcement lasts as long as the result.
    let (series, kept) = unsafe { list.announced(labels, read) }?;
    // SAFETY: the table has another reference. Once the series is removed, `forgotten` has it, and
    // keeps it as long as a hold needs it: see `series_hold`.
    Some(unsafe { Pinned::new(series, Hold::announced(kept)) })
}

impl<L: Labels, M: Metric, F: Fn() -> M> Family<L, M, F> {
    /// Returns the metric of a set of labels, and makes its series first if there is none.
    ///
    /// Use the result at once and drop it; see [`Pinned`]. A set that has a series is found without
    /// waiting, and one is made without waiting as long as there is room. If the last place is
    /// being taken or given back by another thread at this moment, a new set waits for some
    /// instructions of that thread, and is refused only if all places are other sets' then; or if
    /// that thread is suspended there for longer than a thousand yields take. (A family's first use
    /// may ask the system for something, which takes up to a millisecond.)
    ///
    /// ```
    /// # use windrow::{Counter, Family, labels};
    /// # labels! { pub struct Route { route: str } }
    /// static REQUESTS: Family<Route, Counter> = Family::new();
    ///
    /// REQUESTS.with(Route { route: "/cart" }).add(3);
    /// assert_eq!(REQUESTS.with(Route { route: "/cart" }).sum(), 3);
    /// ```
    #[inline]
    #[doc(alias = "with_label_values")]
    #[doc(alias = "get_or_create")]
    pub fn with(&self, labels: L::Borrowed<'_>) -> Pinned<'_, L, M> {
        if L::COMBINATIONS.is_some() {
            let series = self.table.get().and_then(|table| table.indexed_in_use(labels));
            let series = series.unwrap_or_else(|| self.find_indexed(labels));
            // SAFETY: a series that is found by its index is never freed.
            return unsafe { Pinned::new(series, Hold::nothing()) };
        }
        let Some(table) = self.table.get().or_else(|| self.first_table()) else {
            // SAFETY: the overflow series is never freed before the family.
            return unsafe { Pinned::new(self.refuse(), Hold::nothing()) };
        };
        let mut read = Read::default();
        let list = table.list_read(labels, &mut read);
        if let Some(metric) = announced(table, list, labels, &read) {
            return metric;
        }
        let mut guard = None;
        let series = self.find_pinned(list, labels, &mut guard);
        // SAFETY: the series is used under this hold, which lives as long as the result. The
        // family's references live as long: a series that was removed meanwhile is freed later.
        unsafe { Pinned::new(series, Hold::pinned(guard)) }
    }

    /// Returns the series of a set that has a number, where there may be no table yet, or no series
    /// in use.
    #[cold]
    #[inline(never)]
    fn find_indexed(&self, labels: L::Borrowed<'_>) -> &Series<L, M> {
        match self.table.get().or_else(|| self.first_table()) {
            // SAFETY: the family finds its series by index.
            Some(table) => unsafe { self.find(table.list(labels), labels) },
            None => self.refuse(),
        }
    }

    /// Makes the table, at the family's first use; returns `None` if there is no memory for it.
    #[cold]
    fn first_table(&self) -> Option<&Table<L, M>> {
        Table::new(self.limit).map(|table| self.table.set(table))
    }

    /// Returns the series of a set of labels that belongs to this list of the table, and makes it
    /// first if there is none. Pins the thread, for as long as the series is used.
    #[inline(never)]
    fn find_pinned<'f>(
        &'f self,
        list: List<'f, L, M>,
        labels: L::Borrowed<'_>,
        guard: &mut Option<Guard>,
    ) -> &'f Series<L, M> {
        *guard = Hold::<L>::pin(self.announces());
        // SAFETY: the series is used under this pin.
        unsafe { self.find(list, labels) }
    }

    /// Returns a handle of the series of a set of labels, and makes the series first if there is
    /// none.
    ///
    /// Takes a lock, which other threads hold while they [remove](Self::retain) series or
    /// [iterate](Self::iter) over all of them: call it where a connection is opened, not where a
    /// request is counted.
    ///
    /// ```
    /// # use windrow::{Counter, Family, labels};
    /// # labels! { pub struct Route { route: str } }
    /// # static REQUESTS: Family<Route, Counter> = Family::new();
    /// let cart = REQUESTS.handle(Route { route: "/cart" });
    /// cart.increment();
    /// assert_eq!(cart.sum(), 1);
    /// ```
    pub fn handle(&self, labels: L::Borrowed<'_>) -> Handle<L, M> {
        loop {
            // Made without the lock, because the function that makes a metric is the user's, and
            // may use the family.
            let handle = self.with(labels).keep();
            let locked = self.lock();
            // Otherwise it was removed before the handle was made. From now on `retain` sees the
            // handle.
            if handle.series().is_there() {
                return handle;
            }
            drop(locked);
        }
    }

    /// # Safety
    /// The caller is pinned or holds the lock, and uses the result no longer than that, unless the
    /// family finds its series by index.
    #[inline]
    unsafe fn find<'f>(
        &'f self,
        list: List<'f, L, M>,
        labels: L::Borrowed<'_>,
    ) -> &'f Series<L, M> {
        // SAFETY: the contract.
        match unsafe { list.search(labels) } {
            Search::Found(series) if series.is_in_use() => series,
            // Out of line, so that it costs the common path nothing. SAFETY: the contract.
            found => unsafe { self.settle(list, found, labels) },
        }
    }

    /// Returns the series of a set that was not in use, or makes it.
    ///
    /// # Safety
    /// The contract of [`find`](Self::find), which has `found` this in `list`.
    #[cold]
    #[allow(clippy::needless_pass_by_value)] // a few words, which are copied on this path alone
    unsafe fn settle<'f>(
        &'f self,
        list: List<'f, L, M>,
        found: Search<'f, L, M>,
        labels: L::Borrowed<'_>,
    ) -> &'f Series<L, M> {
        match found {
            Search::Found(series) => {
                self.note_use(series);
                series
            }
            // SAFETY: the contract.
            Search::Nothing(first) => unsafe { self.make_series(&list, first, labels) },
        }
    }

    /// Makes the series of a set of labels, unless the family is [full](crate::family::places), or
    /// another thread is faster.
    ///
    /// # Safety
    /// The contract of [`find`](Self::find), which has found nothing in `list` from `first` on.
    unsafe fn make_series<'f>(
        &'f self,
        list: &List<'f, L, M>,
        mut first: *mut Series<L, M>,
        labels: L::Borrowed<'_>,
    ) -> &'f Series<L, M> {
        let limit = if L::COMBINATIONS.is_some() { usize::MAX } else { self.limit };
        if !self.keeps(labels) {
            return self.refuse();
        }
        let mut made = None;
        loop {
            match self.places.look(limit) {
                Found::Full { removals } => {
                    if list.begins_with(first) && self.places.no_removal_since(removals) {
                        return self.refuse();
                    }
                }
                Found::Room => {
                    // Before there is a place for it, because the function is the user's.
                    let new = made.take().unwrap_or_else(|| self.new_series(list.tag, labels));
                    if let Some(place) = self.places.take(limit) {
                        // SAFETY: the contract.
                        match unsafe { list.insert(new, first, labels) } {
                            Ok(series) => {
                                place.keep();
                                if let Some(table) = self.table.get() {
                                    table.note_series(list);
                                }
                                return series;
                            }
                            Err(twice) => {
                                drop(place);
                                drop(twice.ours); // last: the drop of a metric may panic
                                return twice.there;
                            }
                        }
                    }
                    made = Some(new);
                }
            }
            // SAFETY: the contract.
            match unsafe { list.search(labels) } {
                Search::Found(series) => {
                    self.note_use(series);
                    return series;
                }
                Search::Nothing(now) => first = now,
            }
        }
    }

    /// Makes a series that is not in the table yet.
    fn new_series(&self, tag: u32, labels: L::Borrowed<'_>) -> Shared<L, M> {
        Shared::new(Series::new(tag, self.names.clone(), Some(L::store(labels)), (self.make)()))
    }

    /// Marks a series as used, which may have been hidden.
    fn note_use(&self, series: &Series<L, M>) {
        loop {
            // Counted before it is visible again: from then on another thread can remove it, and
            // subtracts it.
            let was_hidden = series.is_hidden();
            if was_hidden {
                self.places.show();
            }
            if series.try_use(was_hidden) {
                return;
            }
            if was_hidden {
                self.places.hide();
            }
        }
    }

    /// Returns the overflow series.
    #[cold]
    fn refuse(&self) -> &Series<L, M> {
        let new = || Shared::new(Series::new(0, self.names.clone(), None, (self.make)()));
        let overflow = self.overflow.get().unwrap_or_else(|| self.overflow.set(new()));
        self.refused.increment(); // afterwards, because a series that cannot be made counts nothing
        overflow
    }
}
