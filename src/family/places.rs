//! The places of a family: the limit of its series at a time.
//!
//! # Theorem
//!
//! A set of labels is refused only if, at one moment of the call, the table had series of other
//! sets in all places; or a thread that has a place is suspended. So a family with a place for each
//! set refuses none, as long as its threads run.
//!
//! # Why
//!
//! ```text
//!    make      taken + 1, if it is below the limit;  insert;  series + 1
//!    or        taken + 1;  another thread has inserted one of this set;  taken - 1
//!    remove    series - 1;  removals + 1;  take out;  taken - 1
//!    refuse    search;  removals;  series = limit;  the list begins as before;  the same removals
//! ```
//!
//! - There are never more series than places: a series is in the table only between the two steps
//!   of `taken`.
//! - `taken` alone refuses nothing: two threads may have taken a place each for the same set, and
//!   one of them is about to give its place back.
//! - Each of the `series` is in the table, of another set than the others, and no thread has begun
//!   to remove it. So where `series` is the limit, all places have series.
//! - None of these was of the refused set. The search has found none. If one was inserted
//!   afterwards, and counted, the list begins with another series; or the series was taken out
//!   again, and there was one more removal.
//!
//! A thread that finds all places taken, and a series missing, lets others run until it is known
//! which of the two it is. The other thread is between its two steps, which are some instructions
//! without any code of the user's. But it may be suspended there, or be gone, in a forked child, or
//! be this very thread, in a signal handler. So after [`TRIES`] looks the set is refused. No thread
//! waits where there is room, nor where the family is full.

use crate::sync::{AtomicUsize, Ordering, const_fn, fence, sized, yield_now};

/// The number of times that a thread lets others run. A model has no thread that is gone.
const TRIES: usize = sized(1_000, usize::MAX);

/// The numbers of a family's places and series.
pub(super) struct Places {
    /// The number of places that a series has, or a thread that makes or removes one.
    taken: AtomicUsize,
    /// The number of series in the table that no thread removes. For a moment it may be below zero:
    /// a new series may be removed before it is counted.
    series: AtomicUsize,
    /// The number of series whose removal has begun.
    removals: AtomicUsize,
}

/// A place that a thread has taken for a series, and gives back unless it [keeps](Self::keep) it.
#[must_use = "it is given back at once"]
pub(super) struct Taken<'p>(&'p Places);

/// The answer to a thread that needs a place.
pub(super) enum Found {
    Room,
    /// All places have series. `removals` tells later whether one has left since.
    Full {
        removals: usize,
    },
}

impl Places {
    const_fn! {
        /// Returns the places of a family without series.
        pub(super) const fn new() -> Places {
            Places {
                taken: AtomicUsize::new(0),
                series: AtomicUsize::new(0),
                removals: AtomicUsize::new(0),
            }
        }
    }

    /// Returns the number of series.
    #[inline]
    pub(super) fn series(&self) -> usize {
        // Relaxed: only a number.
        let series = self.series.load(Ordering::Relaxed).cast_signed();
        series.max(0).cast_unsigned()
    }

    /// Returns whether there is a place. Lets others run while a thread takes the last one for a
    /// series that is not in the table yet, or gives it back; but not for ever.
    #[inline]
    pub(super) fn look(&self, limit: usize) -> Found {
        let mut tries = 0;
        loop {
            // Acquire: pairs with the Release in `begin_removal`: a removal that is counted here is
            // not among the series below.
            let removals = self.removals.load(Ordering::Acquire);
            // Acquire: pairs with the Release in `keep`: each series that is counted is found by
            // the next look at its list.
            let series = self.series.load(Ordering::Acquire).cast_signed();
            let is_full = usize::try_from(series).is_ok_and(|series| series >= limit);
            if !is_full && self.taken.load(Ordering::Relaxed) < limit {
                return Found::Room; // a hint: `take` decides
            }
            if is_full || tries == TRIES {
                return Found::Full { removals };
            }
            tries += 1;
            yield_now();
        }
    }

    /// Returns whether no removal has begun since the look that found this number of them, and
    /// before the caller's last look at a list.
    #[inline]
    pub(super) fn no_removal_since(&self, removals: usize) -> bool {
        // Between that look and the load; pairs with the fence in `begin_removal`.
        fence(Ordering::Acquire);
        self.removals.load(Ordering::Relaxed) == removals
    }

    /// Takes a place, if there is one.
    #[inline]
    pub(super) fn take(&self, limit: usize) -> Option<Taken<'_>> {
        // Relaxed: only the number matters.
        let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
        let more = |taken| (taken < limit).then_some(taken + 1);
        self.taken.fetch_update(order, failed, more).ok().map(|_| Taken(self))
    }

    /// Notes that a series is about to be taken out of its list.
    #[inline]
    pub(super) fn begin_removal(&self) {
        self.hide();
        // Release: pairs with the Acquire in `look`.
        self.removals.fetch_add(1, Ordering::Release);
        // Between the number and the list; pairs with the fence in `no_removal_since`.
        fence(Ordering::Release);
    }

    /// Gives back the place of a series that was taken out of its list.
    pub(super) fn end_removal(&self) {
        self.taken.fetch_sub(1, Ordering::Relaxed); // only the number matters
    }

    /// Counts a series that is in its place, and visible again.
    pub(super) fn show(&self) {
        self.series.fetch_add(1, Ordering::Relaxed); // only the number matters
    }

    /// Counts a series no more that stays in its place.
    pub(super) fn hide(&self) {
        // Relaxed: it continues what `keep` has released.
        self.series.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Taken<'_> {
    /// Keeps the place for a series that is in the table now.
    pub(super) fn keep(self) {
        // Release: pairs with the Acquire in `look`: the series was inserted before.
        self.0.series.fetch_add(1, Ordering::Release);
        std::mem::forget(self);
    }
}

/// Gives the place back.
impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Ordering::Relaxed); // only the number matters
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_a_suspended_thread_has_holds_up_no_other() {
        let places = Places::new();
        let theirs = places.take(1);
        assert!(matches!(places.look(1), Found::Full { .. }));
        drop(theirs);
        assert!(matches!(places.look(1), Found::Room));
    }
}
