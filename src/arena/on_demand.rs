//! Columns that are claimed when they are first needed.
//!
//! They are made in a `const`, without a column. The first need claims a run of columns. If the
//! arena is full there are none from then on either, and the numbers are in other cells. The word
//! changes once, from null to a column or to [`TaggedColumn::Unavailable`]. So readers need not
//! retry: the adds with which they have synchronised went to a cell that they find.

use std::ptr::null_mut;

use super::arena;
use crate::address_dependency;
use crate::memory::column::Column;
use crate::stripe;
use crate::stripe::column_word::TaggedColumn;
use crate::sync::{AtomicPtr, AtomicU64, Ordering, const_fn};

/// A run of neighbouring columns, or none yet.
pub(crate) struct OnDemand {
    /// The first column's [`TaggedColumn`], encoded.
    first: AtomicPtr<AtomicU64>,
}

impl OnDemand {
    const_fn! {
        pub(crate) const fn new() -> OnDemand {
            OnDemand { first: AtomicPtr::new(null_mut()) }
        }
    }

    /// Returns the first column's word: a [`TaggedColumn`], encoded.
    #[inline]
    pub(crate) fn word(&self) -> *mut AtomicU64 {
        word(&self.first)
    }

    /// Returns the word as [`word`](Self::word) does, to a caller that reaches all data by
    /// addresses that depend on it: an add, or a grant (see [`address_dependency`]).
    #[inline]
    pub(crate) fn dependent_word(&self) -> *mut AtomicU64 {
        dependent_word(&self.first)
    }

    /// Returns the first column, and the way to add to it.
    #[inline]
    pub(crate) fn tagged(&self) -> TaggedColumn {
        // SAFETY: null at first; `claim` stores only words.
        unsafe { TaggedColumn::decode(self.word()) }
    }

    /// Returns the first column, if there are any.
    #[inline]
    pub(crate) fn column(&self) -> Option<Column> {
        self.tagged().column()
    }

    /// Claims `length` columns, unless that was tried already. Must not be called while the
    /// strategy is undecided.
    #[cold]
    pub(crate) fn claim(&self, length: usize) {
        if self.tagged() == TaggedColumn::Unclaimed
            && let Some(strategy) = stripe::decided()
        {
            let claimed = arena().claim(length);
            // Release: publishes the claimed columns, with their cells zero.
            let (order, failed) = (Ordering::Release, Ordering::Relaxed);
            let word = TaggedColumn::encode(claimed, strategy);
            let won = self.first.compare_exchange(null_mut(), word, order, failed).is_ok();
            if let Some(column) = claimed.filter(|_| !won) {
                // SAFETY: claimed above; no other thread has seen it.
                unsafe { arena().free(column, length) };
            }
        }
    }

    /// Gives the columns back.
    ///
    /// # Safety
    /// `length` is that of each call of [`claim`](Self::claim). This is not used afterwards.
    pub(crate) unsafe fn free(&mut self, length: usize) {
        if let Some(column) = self.column() {
            // SAFETY: claimed by `claim`. `&mut self`: every use happened before, and no thread can
            // reach the columns now.
            unsafe { arena().free(column, length) };
        }
    }
}

/// A word of columns on demand, repeated elsewhere; null at first.
pub(crate) struct Repeated(AtomicPtr<AtomicU64>);

impl Repeated {
    pub(crate) fn new() -> Repeated {
        Repeated(AtomicPtr::new(null_mut()))
    }

    /// Returns the word that was repeated last: see [`OnDemand::dependent_word`].
    #[inline]
    pub(crate) fn dependent_word(&self) -> *mut AtomicU64 {
        dependent_word(&self.0)
    }

    /// Repeats the word that the caller has found. It is always that of the same columns.
    pub(crate) fn repeat(&self, word: *mut AtomicU64) {
        // Null says nothing: another thread may have repeated the word already.
        if !word.is_null() {
            // Release: as in `claim`, which the caller has acquired. Pairs with the Acquire in
            // `word`.
            self.0.store(word, Ordering::Release);
        }
    }
}

#[inline]
fn word(place: &AtomicPtr<AtomicU64>) -> *mut AtomicU64 {
    // Acquire: pairs with the Release in `claim`, and in `repeat`. The cells are seen as zero, and
    // the data that the strategy has detected is seen.
    place.load(Ordering::Acquire)
}

#[inline]
fn dependent_word(place: &AtomicPtr<AtomicU64>) -> *mut AtomicU64 {
    if address_dependency::ON {
        // Relaxed: the cells are seen as zero, because their addresses are computed from it. A
        // caller that finds null goes on to `claim`, which loads it with Acquire.
        return place.load(Ordering::Relaxed);
    }
    word(place)
}
