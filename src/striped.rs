//! A number on a column of its own: the part that all counters share.
//!
//! A [`Striped`] is `const`-made, without a column. The first add claims one; where there is none to
//! be had, now and from then on, the number counts in a cell of its own, as any atomic does. The
//! column pointer changes once, from null to a column or to [`REFUSED`], so readers need no retry
//! on its account: an add that they are told of went to a cell that they will find.

use std::ptr::{NonNull, null_mut, without_provenance_mut};

use crate::arena::arena;
use crate::column::Column;
use crate::pages::Cell;
use crate::rows;
use crate::stripe;
use crate::sync::{AtomicPtr, Ordering, const_fn};

/// In place of a column: there was none to be had.
const REFUSED: usize = 1;

/// A number that all cores may write at once.
pub(crate) struct Striped {
    /// Null, [`REFUSED`], or a column's cell in row 0.
    column: AtomicPtr<Cell>,
    /// What was added while there was no column.
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
        match self.column() {
            Some(column) => stripe::add(column, n, order),
            None => self.add_first(n, order),
        }
    }

    /// Raises the number to `value`, unless it is there already.
    #[inline]
    pub(crate) fn raise(&self, value: u64) {
        match self.column() {
            Some(column) => stripe::raise(column, value),
            None => self.raise_first(value),
        }
    }

    /// The sum of all that was added.
    #[inline]
    pub(crate) fn sum(&self) -> u64 {
        let rows = self.column().map_or(0, rows::sum);
        // Acquire: pairs with the Release of the add, as in `rows::scan`.
        rows.wrapping_add(self.own.load(Ordering::Acquire))
    }

    /// The greatest of all that it was raised to; zero if it was not.
    #[inline]
    pub(crate) fn greatest(&self) -> u64 {
        let rows = self.column().map_or(0, rows::greatest);
        rows.max(self.own.load(Ordering::Acquire)) // as in `sum`
    }

    #[inline]
    fn column(&self) -> Option<Column> {
        // Acquire: pairs with the Release in `claim`. The cells are seen as they were claimed,
        // zero.
        Self::decode(self.column.load(Ordering::Acquire))
    }

    #[inline]
    fn decode(column: *mut Cell) -> Option<Column> {
        let first = NonNull::new(column).filter(|first| first.addr().get() != REFUSED)?;
        // SAFETY: anything else that `claim` stores is a column of the arena.
        Some(unsafe { Column::new(first) })
    }

    #[cold]
    fn add_first(&self, n: u64, order: Ordering) {
        match self.claim() {
            Some(column) => stripe::add(column, n, order),
            None => _ = self.own.fetch_add(n, order),
        }
    }

    #[cold]
    fn raise_first(&self, value: u64) {
        match self.claim() {
            Some(column) => stripe::raise(column, value),
            None => stripe::raise_cell(&self.own, value),
        }
    }

    /// This number's column, claimed if it has not been; `None` if there is none to be had.
    fn claim(&self) -> Option<Column> {
        let seen = self.column.load(Ordering::Acquire); // as in `column`
        if !seen.is_null() {
            return Self::decode(seen);
        }
        let claimed = arena().claim(1);
        let column =
            claimed.map_or(without_provenance_mut(REFUSED), |column| column.first().as_ptr());
        // Release: publishes the claimed column, with its cells zero. Acquire: the winner's.
        match self.column.compare_exchange(null_mut(), column, Ordering::Release, Ordering::Acquire)
        {
            Ok(_) => claimed,
            Err(winner) => {
                if let Some(column) = claimed {
                    // SAFETY: claimed above, and nobody has seen it.
                    unsafe { arena().give_back(column, 1) };
                }
                Self::decode(winner)
            }
        }
    }
}

impl Drop for Striped {
    fn drop(&mut self) {
        if let Some(column) = self.column() {
            // SAFETY: `&mut self`: every use happened before, and nobody can reach the column now.
            unsafe { arena().give_back(column, 1) };
        }
    }
}

/// The order of a read-modify-write on a cell: what the caller asks for, and at least Release, which
/// sums and drains rely on.
#[inline]
pub(crate) fn at_least_release(order: Ordering) -> Ordering {
    match order {
        Ordering::Relaxed => Ordering::Release,
        Ordering::Acquire => Ordering::AcqRel,
        stronger => stronger,
    }
}
