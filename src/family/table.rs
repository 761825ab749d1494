//! The hash table in which a family finds its series: a table of lists.
//!
//! A set of labels belongs to one list, by its hash; or, where each set has a number, by that. So a
//! table has at most one series for a set, as a list has: see `list`.

use std::iter;
use std::ops::Range;
use std::ptr::{self, null_mut};

use crate::family::hash::Secrets;
use crate::family::labels::Labels;
use crate::family::list::{List, first};
use crate::family::occupied::Occupied;
use crate::family::read::Read;
use crate::family::series::{Series, tag};
use crate::family::shared::Shared;
use crate::stripe;
use crate::sync::{AtomicPtr, Ordering, sized};

/// A table has a list for each possible series, up to this number. With more series, lists get
/// longer.
const MOST_LISTS: usize = 1 << 20;

pub(super) struct Table<L: Labels, M> {
    secrets: Secrets,
    /// True if lookups announce their series: see `series_hold`.
    pub(super) announces: bool,
    /// The number of lists minus 1, where a list is found by a hash: they are a power of two.
    mask: usize,
    heads: Box<[AtomicPtr<Series<L, M>>]>,
    occupied: Occupied,
}

impl<L: Labels, M> Table<L, M> {
    /// Returns a table for `series` series; `None` if there is no memory for it.
    pub(super) fn new(series: usize) -> Option<Table<L, M>> {
        let lists = L::COMBINATIONS
            .unwrap_or_else(|| sized(series.clamp(1, MOST_LISTS).next_power_of_two(), 1));
        let mut heads = Vec::new();
        heads.try_reserve_exact(lists).ok()?;
        heads.extend(iter::repeat_with(|| AtomicPtr::new(null_mut())).take(lists));
        let announces = L::COMBINATIONS.is_none() && stripe::families_announce();
        let (secrets, occupied) = (Secrets::new(), Occupied::new(lists)?);
        Some(Table { secrets, announces, mask: lists - 1, heads: heads.into(), occupied })
    }

    /// Returns the list to which a set of labels belongs.
    pub(super) fn list(&self, labels: L::Borrowed<'_>) -> List<'_, L, M> {
        self.list_read(labels, &mut Read::default())
    }

    /// Returns the head of the list of a set that has a number.
    #[inline]
    fn indexed(&self, labels: L::Borrowed<'_>, combinations: usize) -> &AtomicPtr<Series<L, M>> {
        let index = L::index(labels);
        assert!(index < combinations, "a set's number is below the number of sets");
        // SAFETY: there is a list for each set.
        unsafe { self.heads.get_unchecked(index) }
    }

    /// Returns the series of a set that has a number, if it is there and in use.
    #[inline]
    pub(super) fn indexed_in_use(&self, labels: L::Borrowed<'_>) -> Option<&Series<L, M>> {
        let head = self.indexed(labels, L::COMBINATIONS?);
        // SAFETY: a series that is found by its index is freed with the table.
        let series = unsafe { first(head).as_ref() }?;
        series.has_in_use(tag(0)).then_some(series)
    }

    /// Returns the list to which a set of labels belongs, and notes what of them was read.
    #[inline]
    pub(super) fn list_read(&self, labels: L::Borrowed<'_>, read: &mut Read) -> List<'_, L, M> {
        if let Some(combinations) = L::COMBINATIONS {
            return List { head: self.indexed(labels, combinations), tag: tag(0) };
        }
        let hash = L::hash(labels, self.secrets, read);
        // SAFETY: the mask is below the number of lists.
        let head = unsafe { self.heads.get_unchecked(hash as usize & self.mask) };
        List { head, tag: tag(hash) }
    }

    /// Returns all series in the table.
    ///
    /// # Safety
    ///
    /// The caller holds the lock under which series are removed, as long as it has the iterator or
    /// a series from it.
    pub(super) unsafe fn all(&self) -> impl Iterator<Item = &Series<L, M>> {
        // SAFETY: the contract.
        (0..self.heads.len()).flat_map(|list| unsafe { self.each_of(list) })
    }

    /// Appends all series in the table that [`all`](Self::all) returns, in another order: first the
    /// head of each list, then the rest of the lists. The address of a series is known many steps
    /// before the series is read, so the processor fetches many at a time.
    ///
    /// # Safety
    ///
    /// That of [`all`](Self::all), with the lock held as long as the caller has the references.
    pub(super) unsafe fn list_all<'t>(&'t self, listed: &mut Vec<&'t Series<L, M>>) {
        let mut at = listed.len();
        // SAFETY: the contract.
        listed.extend((0..self.heads.len()).filter_map(|list| unsafe { self.first_of(list) }));
        while let Some(series) = listed.get(at) {
            // Relaxed: heads publish: see `list`. SAFETY: as in `first_of`.
            listed.extend(unsafe { series.next.load(Ordering::Relaxed).as_ref() });
            at += 1;
        }
    }

    /// Returns the number of lists.
    pub(super) fn lists(&self) -> usize {
        self.heads.len()
    }

    /// Returns the numbers of the lists in a range that may have series, in order.
    pub(super) fn occupied(&self, lists: Range<usize>) -> impl Iterator<Item = usize> {
        self.occupied.each_in(lists)
    }

    /// Notes that a list of this table has a series.
    pub(super) fn note_series(&self, list: &List<'_, L, M>) {
        let first = self.heads.as_ptr().addr();
        let distance = ptr::from_ref(list.head).addr() - first;
        self.occupied.set(distance / size_of::<AtomicPtr<Series<L, M>>>());
    }

    /// Notes that a list was found empty, if it still is.
    ///
    /// # Safety
    ///
    /// The caller holds the lock under which series are removed.
    pub(super) unsafe fn note_empty(&self, list: usize) {
        self.occupied.clear(list);
        // Relaxed: the Acquire in `clear` keeps it behind.
        if !self.heads[list].load(Ordering::Relaxed).is_null() {
            self.occupied.set(list);
        }
    }

    /// Returns the series of a list, by its number.
    ///
    /// # Safety
    ///
    /// The caller holds the lock under which series are removed, as long as it has the iterator or
    /// a series from it. A series that the iterator has returned may be removed under that lock.
    pub(super) unsafe fn each_of(
        &self,
        list: usize,
    ) -> impl Iterator<Item = &Series<L, M>> + Clone {
        // SAFETY: the contract.
        let first = unsafe { self.first_of(list) };
        iter::successors(first, |series| unsafe {
            // SAFETY: as in `first_of`.
            series.next.load(Ordering::Relaxed).as_ref()
        })
    }

    /// Returns the first series of a list.
    ///
    /// # Safety
    ///
    /// That of [`each_of`](Self::each_of).
    unsafe fn first_of(&self, list: usize) -> Option<&Series<L, M>> {
        // SAFETY: a series in a list is not freed; one that is removed is kept until the lock is
        // released, by the contract.
        unsafe { first(&self.heads[list]).as_ref() }
    }
}

impl<L: Labels, M> Drop for Table<L, M> {
    fn drop(&mut self) {
        for head in &self.heads {
            let mut next = head.load(Ordering::Relaxed); // `&mut self`: no other access
            while !next.is_null() {
                // SAFETY: `insert` made it by `into_raw`. No thread has a hold for this family: it
                // would borrow it. (Announcements that were leaked are never followed.)
                let series = unsafe { Shared::from_raw(next) };
                next = series.next.load(Ordering::Relaxed);
            }
        }
    }
}
