//! Where a family finds its series: lists of them, each with a place in a table.
//!
//! # Theorem
//!
//! At any moment a table has at most one series for a set of labels. A search that finds none began
//! before there was one. Searches and insertions are lock-free.
//!
//! # Why
//!
//! A series is inserted at the head of its list, by a compare-exchange of the head that was loaded
//! *before* the list was searched. If it succeeds, no series was inserted into this list meanwhile:
//! so the set is not there. (The head cannot have come back to the same address, either: its memory
//! is not freed while this thread is pinned, or has the lock under which series are freed.)
//!
//! One thread at a time removes series, under the family's lock. It changes the link that leads to
//! the series. Of links that are not heads, only removals change them; a head it changes by a
//! compare-exchange, as an insertion does. A thread that stands on a removed series goes on by its
//! link to the rest of the list. That rest is what it was, less what was removed since.
//!
//! A removed series is freed when no thread can stand on it: after a grace period (see
//! `forgotten`).
//!
//! # Orderings
//!
//! Heads alone publish. Whoever inserts a series has acquired the head, and with it the rest of the
//! list, which is older; and releases both with the new head. So a thread that has acquired a head
//! sees whatever its list leads to, and links are relaxed. A removal of the first series is a
//! read-modify-write of the head: who acquires what it stored acquires what the insertions before
//! it have released.

use std::ptr::null_mut;
use std::{hash::BuildHasher, iter};

use foldhash::quality::RandomState;

use crate::family::labels::Labels;
use crate::family::series::Series;
use crate::sync::{Arc, AtomicPtr, Ordering, sized};

/// A table has a place for each series that there may be, up to so many. With more series, lists
/// get longer.
const MOST_PLACES: usize = 1 << 17;

pub(super) struct Table<L: Labels, M> {
    random: RandomState,
    heads: Box<[AtomicPtr<Series<L, M>>]>,
}

/// Where a set of labels belongs.
pub(super) struct Place<'t, L: Labels, M> {
    head: &'t AtomicPtr<Series<L, M>>,
    pub(super) hash: u64,
}

/// What a search has found.
pub(super) enum Search<'t, L: Labels, M> {
    Found(&'t Series<L, M>),
    /// Nothing, in the list that begins with this series.
    Nothing(*mut Series<L, M>),
}

/// Two series of one set: that in the table, and the one that another thread was quicker than.
pub(super) struct Twice<'t, L: Labels, M> {
    pub(super) there: &'t Series<L, M>,
    pub(super) ours: Arc<Series<L, M>>,
}

impl<L: Labels, M> Table<L, M> {
    /// A table for so many series; `None` if there is no memory for it.
    pub(super) fn new(series: usize) -> Option<Table<L, M>> {
        let places = L::COMBINATIONS
            .unwrap_or_else(|| sized(series.clamp(1, MOST_PLACES).next_power_of_two(), 1));
        let mut heads = Vec::new();
        heads.try_reserve_exact(places).ok()?;
        heads.extend(iter::repeat_with(|| AtomicPtr::new(null_mut())).take(places));
        Some(Table { random: RandomState::default(), heads: heads.into() })
    }

    #[inline]
    pub(super) fn place(&self, labels: L::Borrowed<'_>) -> Place<'_, L, M> {
        if L::COMBINATIONS.is_some() {
            return Place { head: &self.heads[L::index(labels)], hash: 0 };
        }
        #[allow(clippy::needless_borrows_for_generic_args)] // by value, the set would be copied
        let hash = self.random.hash_one(&labels);
        // The number of places is a power of two, and not zero.
        Place { head: &self.heads[hash as usize & (self.heads.len() - 1)], hash }
    }

    /// All series that are in the table.
    ///
    /// # Safety
    /// The caller has the lock under which series are removed, as long as it has the iterator or a
    /// series from it.
    pub(super) unsafe fn all(&self) -> impl Iterator<Item = &Series<L, M>> {
        self.heads.iter().flat_map(|head| {
            // Acquire: pairs with the Release in `insert`.
            // SAFETY: what is in a list is not freed; it is not removed either, by the contract.
            let first = unsafe { head.load(Ordering::Acquire).as_ref() };
            iter::successors(first, |series| unsafe {
                // SAFETY: as above.
                series.next.load(Ordering::Relaxed).as_ref()
            })
        })
    }
}

impl<'t, L: Labels, M> Place<'t, L, M> {
    /// Looks for a set of labels.
    ///
    /// # Safety
    /// What is found is used, and what [`insert`](Self::insert) is called with, under the pin or
    /// the lock that the caller has now. (Or the family finds series by their index: those are
    /// never freed.)
    #[inline]
    pub(super) unsafe fn search(&self, labels: L::Borrowed<'_>) -> Search<'t, L, M> {
        // Acquire: pairs with the Release in `insert`.
        let first = self.head.load(Ordering::Acquire);
        // SAFETY: the contract.
        unsafe { self.search_from(first, labels) }
    }

    /// # Safety
    /// As [`search`](Self::search); `first` was loaded from the head under the same pin or lock.
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

    /// The first series with this hash from `next` on.
    ///
    /// # Safety
    /// As [`search_from`](Self::search_from).
    #[inline]
    unsafe fn of_hash(&self, mut next: *mut Series<L, M>) -> Option<&'t Series<L, M>> {
        loop {
            // SAFETY: the contract: not freed before the pin or the lock ends.
            let series = unsafe { next.as_ref() }?;
            if series.has(self.hash) {
                return Some(series);
            }
            next = series.next.load(Ordering::Relaxed); // see above: heads publish
        }
    }

    /// Goes on behind a series that has the same hash, and other labels.
    ///
    /// # Safety
    /// As [`search_from`](Self::search_from).
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

    /// Inserts a series after a search that found nothing from `first` on. Err: another thread
    /// has inserted one with these labels.
    ///
    /// # Safety
    /// As [`search`](Self::search), which `first` is from.
    pub(super) unsafe fn insert(
        &self,
        new: Arc<Series<L, M>>,
        mut first: *mut Series<L, M>,
        labels: L::Borrowed<'_>,
    ) -> Result<&'t Series<L, M>, Twice<'t, L, M>> {
        let new = Arc::into_raw(new).cast_mut();
        loop {
            // SAFETY: ours, and no other thread has seen it.
            unsafe { (*new).next.store(first, Ordering::Relaxed) };
            // Release: publishes the series. Acquire, on failure: as in `search`.
            let (order, failed) = (Ordering::Release, Ordering::Acquire);
            match self.head.compare_exchange(first, new, order, failed) {
                // SAFETY: it is in the list now, and so is not freed before the pin or the lock
                // ends.
                Ok(_) => return Ok(unsafe { &*new }),
                Err(now) => first = now,
            }
            // SAFETY: the contract.
            if let Search::Found(series) = unsafe { self.search_from(first, labels) } {
                // SAFETY: made above by `into_raw`; no other thread has seen it.
                return Err(Twice { there: series, ours: unsafe { Arc::from_raw(new) } });
            }
        }
    }

    /// Takes a series out of its list, and returns the list's reference to it. Threads may still
    /// stand on it.
    ///
    /// # Safety
    /// The caller has the lock under which series are removed. The series is in this list.
    pub(super) unsafe fn remove(&self, series: &Series<L, M>) -> Arc<Series<L, M>> {
        let gone = std::ptr::from_ref(series).cast_mut();
        let rest = series.next.load(Ordering::Relaxed);
        // Relaxed: it publishes nothing. Acquire, on failure: as in `search`.
        let (order, failed) = (Ordering::Relaxed, Ordering::Acquire);
        if let Err(first) = self.head.compare_exchange(gone, rest, order, failed) {
            let mut before = first;
            loop {
                // SAFETY: it is in the list, by the contract, and only this thread removes.
                let series = unsafe { &*before };
                before = series.next.load(Ordering::Relaxed);
                if before == gone {
                    series.next.store(rest, Ordering::Relaxed);
                    break;
                }
            }
        }
        // SAFETY: `insert` made it by `into_raw`, and the list has it no more.
        unsafe { Arc::from_raw(series.in_arc()) }
    }
}

impl<L: Labels, M> Drop for Table<L, M> {
    fn drop(&mut self) {
        for head in &self.heads {
            let mut next = head.load(Ordering::Relaxed); // `&mut self`: all else happened before
            while !next.is_null() {
                // SAFETY: `insert` made it by `into_raw`. No thread is pinned for this family: they
                // borrow it.
                let series = unsafe { Arc::from_raw(next) };
                next = series.next.load(Ordering::Relaxed);
            }
        }
    }
}
