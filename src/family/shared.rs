//! References to series: an `Arc` without weak ones, whose count is in the series' own first line.
//!
//! A family has very many series, so each of their words counts: std's `Arc` has two, of which one
//! would count weak references.

use std::ops::Deref;
use std::ptr::{NonNull, from_ref, with_exposed_provenance_mut};

use crate::family::labels::Labels;
use crate::family::series::Series;
use crate::sync::{Ordering, fence};

/// The greatest number of references that is counted. A series with more, of which nearly all must
/// have been leaked, is kept [for ever](FOREVER): the hot path cannot fail.
const MOST: u32 = u32::MAX / 2;

/// The count of a series that is not freed any more. Each thread that finds more than [`MOST`]
/// writes it again: for the count to come back, or to wrap, a thousand million threads would have
/// to be between their two steps.
const FOREVER: u32 = MOST + MOST / 2;

/// A reference that owns a series together with others: the last one drops it.
#[repr(transparent)] // for `handle::counter`
pub(super) struct Shared<L: Labels, M>(NonNull<Series<L, M>>);

impl<L: Labels, M> Shared<L, M> {
    /// Returns the first reference of a series, which has counted it.
    pub(super) fn new(series: Series<L, M>) -> Shared<L, M> {
        let series = Box::into_raw(Box::new(series));
        let _ = series.expose_provenance(); // for `of`
        // SAFETY: made here, with one reference.
        unsafe { Shared::from_raw(series) }
    }

    /// Returns one more reference to a series.
    ///
    /// # Safety
    ///
    /// There is at least one reference.
    pub(super) unsafe fn another(series: &Series<L, M>) -> Shared<L, M> {
        // Relaxed: a reference is made of another, or under a hold or the family's lock.
        if series.references.fetch_add(1, Ordering::Relaxed) >= MOST {
            series.references.store(FOREVER, Ordering::Relaxed); // only a number
        }
        // SAFETY: counted above.
        unsafe { Shared::of(series) }
    }

    /// Returns a reference that is counted already.
    ///
    /// # Safety
    ///
    /// The series was made by [`new`](Self::new). The caller has a counted reference that no other
    /// `Shared` has: one that was taken out by [`into_raw`](Self::into_raw), or is just counted.
    pub(super) unsafe fn from_raw(series: *mut Series<L, M>) -> Shared<L, M> {
        // SAFETY: the contract: not null.
        Shared(unsafe { NonNull::new_unchecked(series) })
    }

    /// Returns the reference of a series that is counted already.
    ///
    /// # Safety
    ///
    /// As for [`from_raw`](Self::from_raw).
    pub(super) unsafe fn of(series: &Series<L, M>) -> Shared<L, M> {
        // Unlike a pointer from `series`, one of the exposed provenance may free the series.
        let whole = with_exposed_provenance_mut(from_ref(series).addr());
        // SAFETY: the contract; `new` has exposed the pointer.
        unsafe { Shared::from_raw(whole) }
    }

    /// Returns the series, whose reference stays counted.
    pub(super) fn into_raw(self) -> *mut Series<L, M> {
        let series = self.0.as_ptr();
        std::mem::forget(self);
        series
    }

    /// Returns the number of references to a series.
    pub(super) fn count(series: &Series<L, M>) -> u32 {
        // Relaxed: the number alone. (`forgotten` has a fence behind it.)
        series.references.load(Ordering::Relaxed)
    }
}

impl<L: Labels, M> Clone for Shared<L, M> {
    fn clone(&self) -> Shared<L, M> {
        // SAFETY: this is one.
        unsafe { Shared::another(self) }
    }
}

impl<L: Labels, M> Deref for Shared<L, M> {
    type Target = Series<L, M>;

    #[inline]
    fn deref(&self) -> &Series<L, M> {
        // SAFETY: this reference keeps the series.
        unsafe { self.0.as_ref() }
    }
}

impl<L: Labels, M> Drop for Shared<L, M> {
    fn drop(&mut self) {
        // Release: pairs with the fence below, and with that in `forgotten`.
        let before = self.references.fetch_sub(1, Ordering::Release);
        if before > MOST {
            self.references.store(FOREVER, Ordering::Relaxed); // as in `another`
        } else if before == 1 {
            // Acquire: what other threads have done by their references was before.
            fence(Ordering::Acquire);
            // SAFETY: `new` made it of a box. This was the last reference, and others are made
            // only of one.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}

// SAFETY: as `Arc`: it gives out `&Series`, and any thread may drop the series.
unsafe impl<L: Labels, M> Send for Shared<L, M> where Series<L, M>: Send + Sync {}
// SAFETY: as above.
unsafe impl<L: Labels, M> Sync for Shared<L, M> where Series<L, M>: Send + Sync {}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::labels::RuntimeLabels;
    use crate::{Counter, Family};

    /// The last reference that is counted, and the first two that are not.
    #[test]
    fn a_series_with_too_many_references_is_kept_for_ever() {
        let names = ["one"];
        let family: Family<RuntimeLabels, Counter> = Family::with_names(names).unwrap();
        let first = family.handle(&["kept"]);
        let count = || first.series().references.load(Ordering::Relaxed);
        first.series().references.store(MOST - 1, Ordering::Relaxed);
        let last = first.clone();
        assert_eq!(count(), MOST);
        drop(last);
        assert_eq!(count(), MOST - 1);
        let leaked = [first.clone(), first.clone(), first.clone()];
        assert_eq!(count(), FOREVER);
        drop(leaked);
        assert_eq!(count(), FOREVER);
        first.increment();
        assert_eq!(first.sum(), 1);
        first.series().references.store(2, Ordering::Relaxed); // the family's, and this one
    }
}
