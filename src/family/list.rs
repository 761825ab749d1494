//! The lists of a family's table, in which its series are.
//!
//! # Theorem
//!
//! At any moment a list has at most one series for a set of labels. A search that finds none began
//! before there was one. Searches and insertions are lock-free.
//!
//! # Why
//!
//! A series is inserted at the head of its list, by a compare-exchange of the head that was loaded
//! *before* the list was searched. If it succeeds, no series was inserted into this list meanwhile:
//! so the set is not there. (The head cannot have returned to the same address, either: its memory
//! is not freed while this thread is pinned, or holds the lock under which series are freed.)
//!
//! One thread at a time removes series, under the family's lock. It changes the link that leads to
//! the series. Of links that are not heads, only removals change them; a head it changes by a
//! compare-exchange, as an insertion does. A thread that stands on a removed series follows its
//! link to the rest of the list. That rest is unchanged, except for series that were removed since.
//!
//! A removed series is freed when no thread can stand on it (see `series_hold` and
//! `removed_totals`).
//!
//! # Orderings
//!
//! Only heads publish. A thread that inserts a series has acquired the head, and with it the rest
//! of the list, which is older; and it releases both with the new head. So a thread that has
//! acquired a head sees everything to which its list leads, and links are relaxed. A removal of the
//! first series is a read-modify-write of the head: a thread that acquires the value it stored also
//! acquires everything that the insertions before it have released.

use std::ptr;

use crate::address_dependency;
use crate::family::labels::Labels;
use crate::family::read::Read;
use crate::family::series::Series;
use crate::family::shared::Shared;
use crate::reclaim::announced::{self, Kept, Slot, Word};
use crate::sync::{AtomicPtr, Ordering};

/// The list to which a set of labels belongs.
pub(super) struct List<'t, L: Labels, M> {
    pub(super) head: &'t AtomicPtr<Series<L, M>>,
    /// The tag of the set's hash: see `series`.
    pub(super) tag: u32,
}

impl<L: Labels, M> Clone for List<'_, L, M> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<L: Labels, M> Copy for List<'_, L, M> {}

/// The result of a search.
pub(super) enum Search<'t, L: Labels, M> {
    Found(&'t Series<L, M>),
    /// No series, in the list that begins with this one.
    Nothing(*mut Series<L, M>),
}

/// Two series of one set: the one in the table, and the one of the thread that came second.
pub(super) struct Twice<'t, L: Labels, M> {
    pub(super) there: &'t Series<L, M>,
    pub(super) ours: Shared<L, M>,
}

/// Returns the first series of a list.
#[inline]
pub(super) fn first<L: Labels, M>(head: &AtomicPtr<Series<L, M>>) -> *mut Series<L, M> {
    // Acquire: pairs with the Release in `insert`.
    head.load(Ordering::Acquire)
}

impl<'t, L: Labels, M> List<'t, L, M> {
    /// Returns the series of a set of labels, announced, if it is in use and the first or the
    /// second of its list, and the thread can announce it.
    ///
    /// # Safety
    ///
    /// The caller uses the series only as long as the announcement lasts.
    #[inline]
    pub(super) unsafe fn announced(
        &self,
        labels: L::Borrowed<'_>,
        read: &Read,
    ) -> Option<(&'t Series<L, M>, Kept)> {
        let slot = announced::mine()?;
        let (first, kept) = slot.keep(Word::First, self.head)?;
        // SAFETY: the head has led there after the announcement. So the series is not freed before
        // that is taken back: see `series_hold`.
        let first = unsafe { &*first };
        // What the user does with the series, and with its labels, is not all reached by its
        // address.
        address_dependency::acquire();
        // SAFETY: a series in a table is not the overflow series.
        if first.has_in_use(self.tag) && unsafe { first.is_read(labels, read) } {
            return Some((first, kept));
        }
        // SAFETY: the contract.
        unsafe { self.second_announced(slot, first, labels) }
    }

    /// Returns the second series of the list, as [`announced`](Self::announced) does, if the first
    /// one, which is announced, is not of this set.
    ///
    /// # Safety
    ///
    /// The caller uses the series only as long as the announcement lasts.
    #[inline(never)]
    unsafe fn second_announced(
        self,
        slot: &'static Slot,
        first: &'t Series<L, M>,
        labels: L::Borrowed<'_>,
    ) -> Option<(&'t Series<L, M>, Kept)> {
        let is_it = |series: &Series<L, M>| series.has(self.tag) && series.is(labels);
        if is_it(first) {
            return None; // it was found idle since it was last used
        }
        let (second, kept) = slot.keep(Word::Second, &first.next)?;
        // Relaxed: nothing is read through it. If the first one is still in the list, the second
        // is, too: see `series_hold`.
        if !ptr::eq(self.head.load(Ordering::Relaxed), first) {
            return None;
        }
        // SAFETY: as above.
        let second = unsafe { &*second };
        address_dependency::acquire();
        (is_it(second) && second.is_in_use()).then_some((second, kept))
    }

    /// Searches for a set of labels.
    ///
    /// # Safety
    ///
    /// The caller uses the series found, and the argument for [`insert`](Self::insert), only under
    /// the pin or the lock that it has now. (Or the family finds series by index: those are never
    /// freed.)
    #[inline]
    pub(super) unsafe fn search(&self, labels: L::Borrowed<'_>) -> Search<'t, L, M> {
        let first = first(self.head);
        // SAFETY: the contract.
        unsafe { self.search_from(first, labels) }
    }

    /// Returns whether the list begins with this series, as it did for a search.
    pub(super) fn begins_with(&self, first: *mut Series<L, M>) -> bool {
        // Relaxed: nothing is read through it. (`Places::no_removal_since` has a fence behind it.)
        ptr::eq(self.head.load(Ordering::Relaxed), first)
    }

    /// # Safety
    /// The contract of [`search`](Self::search); `first` was loaded from the head under the same
    /// pin or lock.
    #[inline]
    unsafe fn search_from(
        &self,
        first: *mut Series<L, M>,
        labels: L::Borrowed<'_>,
    ) -> Search<'t, L, M> {
        // SAFETY: the contract.
        match unsafe { self.of_hash(first) } {
            None => Search::Nothing(first),
            Some(series) if series.is(labels) => Search::Found(series),
            // SAFETY: as above.
            Some(other) => unsafe { self.search_behind(other, first, labels) },
        }
    }

    /// Returns the first series with this hash from `next` on.
    ///
    /// # Safety
    ///
    /// The contract of [`search_from`](Self::search_from).
    #[inline]
    unsafe fn of_hash(&self, mut next: *mut Series<L, M>) -> Option<&'t Series<L, M>> {
        loop {
            // SAFETY: the contract: not freed before the pin or the lock ends.
            let series = unsafe { next.as_ref() }?;
            if series.has(self.tag) {
                return Some(series);
            }
            next = series.next.load(Ordering::Relaxed); // heads publish, as said above
        }
    }

    /// Continues after a series with the same hash and other labels.
    ///
    /// # Safety
    ///
    /// The contract of [`search_from`](Self::search_from).
    #[cold]
    unsafe fn search_behind(
        &self,
        mut other: &'t Series<L, M>,
        first: *mut Series<L, M>,
        labels: L::Borrowed<'_>,
    ) -> Search<'t, L, M> {
        // SAFETY: the contract. Relaxed: as in `of_hash`.
        while let Some(series) = unsafe { self.of_hash(other.next.load(Ordering::Relaxed)) } {
            if series.is(labels) {
                return Search::Found(series);
            }
            other = series;
        }
        Search::Nothing(first)
    }

    /// Inserts a series after a search that found nothing from `first` on. Returns an error if
    /// another thread has inserted one with these labels.
    ///
    /// # Safety
    ///
    /// The contract of [`search`](Self::search), which returned `first`.
    pub(super) unsafe fn insert(
        &self,
        new: Shared<L, M>,
        mut first: *mut Series<L, M>,
        labels: L::Borrowed<'_>,
    ) -> Result<&'t Series<L, M>, Twice<'t, L, M>> {
        let new = new.into_raw();
        loop {
            // SAFETY: ours, and no other thread has seen it.
            unsafe { (*new).next.store(first, Ordering::Relaxed) };
            // Release: publishes the series. Acquire, on failure: as in `search`.
            let (order, failed) = (Ordering::Release, Ordering::Acquire);
            match self.head.compare_exchange(first, new, order, failed) {
                // SAFETY: the series is in the list now, and is not freed before the pin or the
                // lock ends.
                Ok(_) => return Ok(unsafe { &*new }),
                Err(now) => first = now,
            }
            // SAFETY: the contract.
            if let Search::Found(series) = unsafe { self.search_from(first, labels) } {
                // SAFETY: made above by `into_raw`; no other thread has seen it.
                return Err(Twice { there: series, ours: unsafe { Shared::from_raw(new) } });
            }
        }
    }

    /// Takes a series out of its list, and returns the list's reference to it. Other threads may
    /// still stand on it.
    ///
    /// # Safety
    ///
    /// The caller holds the lock under which series are removed. The series is in this list.
    pub(super) unsafe fn remove(&self, series: &Series<L, M>) -> Shared<L, M> {
        let gone = std::ptr::from_ref(series).cast_mut();
        let rest = series.next.load(Ordering::Relaxed);
        // Relaxed: this store publishes nothing. Acquire, on failure: as in `search`.
        let (order, failed) = (Ordering::Relaxed, Ordering::Acquire);
        if let Err(first) = self.head.compare_exchange(gone, rest, order, failed) {
            let mut before = first;
            loop {
                // SAFETY: the series is in the list, by the contract, and only this thread removes.
                let series = unsafe { &*before };
                before = series.next.load(Ordering::Relaxed);
                if before == gone {
                    series.next.store(rest, Ordering::Relaxed);
                    break;
                }
            }
        }
        // SAFETY: `insert` made it by `into_raw`, and the list no longer has it.
        unsafe { Shared::of(series) }
    }
}
