//! A number on a column of its own: the part that all counters share.
//!
//! A [`Striped`] is `const`-made, without a column. The first add claims one; where there is none to
//! be had, now and from then on, the number counts in a cell of its own, as any atomic does. The
//! column pointer changes once, from null to a column or to *refused*, so readers need no retry on
//! its account: an add that they are told of went to a cell that they will find.
//!
//! The cell of its own is also the one for adds that cannot use this core's row: a plain add and a
//! locked one never meet in a cell.

use std::ptr::null_mut;

use crate::arena::arena;
use crate::pages::Cell;
use crate::rows;
use crate::stripe::again::{Refusal, again, note_abort};
use crate::stripe::per_core::{self, Tagged};
use crate::stripe::{self, Way, portable};
use crate::sync::{AtomicPtr, Ordering, const_fn, fence};

/// A number that all cores may write at once.
pub(crate) struct Striped {
    /// A [`Way`], encoded.
    column: AtomicPtr<Cell>,
    /// What was added while there was no column, and by threads that have no row of it.
    own: Cell,
}

impl Striped {
    const_fn! {
        pub(crate) const fn new() -> Striped {
            Striped { column: AtomicPtr::new(null_mut()), own: Cell::new(0) }
        }
    }

    /// Adds `n`, wrapping. `order` is at least Release.
    #[inline]
    pub(crate) fn add(&self, n: u64, order: Ordering) {
        match self.way() {
            Way::PerCore(column) => {
                // The committing store is a plain one, which is Release on the processors that
                // have this strategy; and the `asm!` is a barrier to the compiler.
                per_core::add(column, n, || self.add_aborted(column, n), || self.add_shared(n));
                if order == Ordering::SeqCst {
                    fence(Ordering::SeqCst); // as the locked add would be
                }
            }
            Way::Portable(column) => portable::add(column, 0, n, order),
            Way::Refused | Way::Unknown => self.add_first(n, order),
        }
    }

    /// Raises the number to `value`, unless it is there already.
    #[inline]
    pub(crate) fn raise(&self, value: u64) {
        match self.way() {
            Way::PerCore(column) => {
                let aborted = || self.raise_aborted(column, value);
                per_core::raise(column, value, aborted, || self.raise_shared(value));
            }
            Way::Portable(column) => portable::raise(column, 0, value),
            Way::Refused | Way::Unknown => self.raise_first(value),
        }
    }

    /// The sum of all that was added.
    #[inline]
    pub(crate) fn sum(&self) -> u64 {
        let rows = self.way().column().map_or(0, rows::sum);
        // Acquire: pairs with the Release of the add, as in `rows::scan`.
        rows.wrapping_add(self.own.load(Ordering::Acquire))
    }

    /// The greatest of all that it was raised to; zero if it was not.
    #[inline]
    pub(crate) fn greatest(&self) -> u64 {
        let rows = self.way().column().map_or(0, rows::greatest);
        rows.max(self.own.load(Ordering::Acquire)) // as in `sum`
    }

    #[inline]
    fn way(&self) -> Way {
        // Acquire: pairs with the Release in `claim`. The cells are seen as they were claimed,
        // zero; and what the strategy has found out.
        let word = self.column.load(Ordering::Acquire);
        // SAFETY: null at first; `claim` stores nothing else.
        unsafe { Way::decode(word) }
    }

    #[cold]
    fn add_aborted(&self, column: Tagged, n: u64) {
        note_abort();
        let refusal = again(|refused| {
            let because = |why| move || refused.set(Some(why));
            per_core::add(column, n, because(Refusal::Aborted), because(Refusal::NoRow));
        });
        if refusal.is_some() {
            self.add_shared(n);
        }
    }

    /// Where this thread has no row.
    #[cold]
    fn add_shared(&self, n: u64) {
        self.own.fetch_add(n, Ordering::Release); // as in `portable::add`
    }

    #[cold]
    fn raise_aborted(&self, column: Tagged, value: u64) {
        note_abort();
        let refusal = again(|refused| {
            let because = |why| move || refused.set(Some(why));
            per_core::raise(column, value, because(Refusal::Aborted), because(Refusal::NoRow));
        });
        if refusal.is_some() {
            self.raise_shared(value);
        }
    }

    /// Where this thread has no row.
    #[cold]
    fn raise_shared(&self, value: u64) {
        portable::raise_cell(&self.own, value);
    }

    #[cold]
    fn add_first(&self, n: u64, order: Ordering) {
        match self.claim() {
            Some(()) => self.add(n, order),
            None => _ = self.own.fetch_add(n, order),
        }
    }

    #[cold]
    fn raise_first(&self, value: u64) {
        match self.claim() {
            Some(()) => self.raise(value),
            None => self.raise_shared(value),
        }
    }

    /// Claims a column, if that was not done yet; `None` if there is none to be had, or none as yet.
    fn claim(&self) -> Option<()> {
        if self.way() == Way::Unknown {
            let strategy = stripe::decided()?;
            let claimed = arena().claim(1);
            // Release: publishes the claimed column, with its cells zero.
            let (order, failed) = (Ordering::Release, Ordering::Relaxed);
            let word = Way::encode(claimed, strategy);
            let won = self.column.compare_exchange(null_mut(), word, order, failed).is_ok();
            if let Some(column) = claimed.filter(|_| !won) {
                // SAFETY: claimed above, and nobody has seen it.
                unsafe { arena().give_back(column, 1) };
            }
        }
        self.way().column().map(drop)
    }
}

impl Drop for Striped {
    fn drop(&mut self) {
        if let Some(column) = self.way().column() {
            // SAFETY: `&mut self`: every use happened before, and nobody can reach the column now.
            unsafe { arena().give_back(column, 1) };
        }
    }
}

/// The order of a read-modify-write on a cell: Release, which sums and drains rely on, or what the
/// caller asks for beyond that. Acquire is nothing to ask for: an add gives nothing back, so nobody can
/// tell what it came after.
#[inline]
pub(crate) fn at_least_release(order: Ordering) -> Ordering {
    if order == Ordering::SeqCst { order } else { Ordering::Release }
}
