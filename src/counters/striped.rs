//! A number on a column of its own: the part that counter, gauge and extremes share.
//!
//! A [`Striped`] is made in a `const`, without a column. The first add claims one ([`OnDemand`]).
//! If the [arena](crate::arena), which allocates columns, is full, the number counts in its
//! fallback cell from then on, as an ordinary atomic does.
//!
//! An add that cannot use the row of its core also goes to the fallback cell. So a cell never gets
//! both kinds of adds: those by plain instructions, and those by locked ones.

use crate::arena::by_row::ByRow;
use crate::arena::on_demand::OnDemand;
use crate::arena::rows;
use crate::stripe::column_write::{Add, Number, Raise, put};
use crate::sync::{AtomicU64, Ordering, const_fn};

/// A number that all cores may write at the same time.
pub(crate) struct Striped {
    column: OnDemand,
    /// The initial value, and the adds made without a column or by threads without a row.
    fallback: AtomicU64,
}

impl Striped {
    const_fn! {
        pub(crate) const fn new() -> Striped {
            Striped { column: OnDemand::new(), fallback: AtomicU64::new(0) }
        }
    }

    /// Returns a number that begins at `n`.
    pub(crate) fn starting_at(n: u64) -> Striped {
        Striped { column: OnDemand::new(), fallback: AtomicU64::new(n) }
    }

    /// Adds `n`, wrapping. `order` is at least Release.
    #[inline(always)]
    #[allow(clippy::inline_always)] // no call on the path of an add
    pub(crate) fn add(&self, n: u64, order: Ordering) {
        put(self, Add(n, order));
    }

    /// Raises the number to `value`, if that is greater.
    #[inline(always)]
    #[allow(clippy::inline_always)] // no call on the path of an add
    pub(crate) fn raise(&self, value: u64) {
        put(self, Raise(value));
    }

    /// Returns the sum of all adds.
    #[inline]
    pub(crate) fn sum(&self) -> u64 {
        let rows = self.column.column().map_or(0, rows::sum);
        rows.wrapping_add(self.beside_rows())
    }

    /// Returns the sum of the adds made without a row.
    #[inline]
    fn beside_rows(&self) -> u64 {
        // Acquire: pairs with the Release of the add, as in `rows::value`.
        self.fallback.load(Ordering::Acquire)
    }

    /// Returns the part of the sum in each row, and the part that is in none.
    #[inline]
    pub(crate) fn by_row(&self) -> ByRow {
        let rows =
            self.column.column().map_or_else(Vec::new, |column| rows::by_place(column).collect());
        ByRow { rows, shared: self.beside_rows() }
    }

    /// Returns the greatest value to which the number was raised; zero if there was none.
    #[inline]
    pub(crate) fn greatest(&self) -> u64 {
        let rows = self.column.column().map_or(0, rows::greatest);
        rows.max(self.fallback.load(Ordering::Acquire)) // as in `sum`
    }

    /// Takes the greatest value to which the number was raised, and leaves zero.
    #[inline]
    pub(crate) fn take_greatest(&self) -> u64 {
        let rows = self.column.column().map_or(0, rows::take_greatest);
        rows.max(rows::take_raised(&self.fallback))
    }

    /// Returns whether the number has a column.
    #[inline]
    pub(crate) fn is_striped(&self) -> bool {
        self.column.column().is_some()
    }

    /// Returns the cell of the adds made without a column or by threads without a row.
    pub(crate) fn cell_aside(&self) -> &AtomicU64 {
        &self.fallback
    }
}

// SAFETY: the words are those of columns on demand.
unsafe impl Number for &Striped {
    #[inline]
    fn word(self) -> *mut AtomicU64 {
        self.column.dependent_word()
    }

    #[inline]
    fn claimed(self) -> *mut AtomicU64 {
        self.column.claim(1);
        self.column.word()
    }

    fn aside(&self) -> &AtomicU64 {
        &self.fallback
    }
}

impl Drop for Striped {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: `claimed` claims this number of columns.
        unsafe { self.column.free(1) };
    }
}

/// The order of a read-modify-write on a cell: Release, which sums and drains rely on, or `SeqCst`
/// if the caller asks for it. Acquire is not needed: an add returns nothing, so no thread can
/// observe its order.
#[inline]
pub(crate) fn at_least_release(order: Ordering) -> Ordering {
    if order == Ordering::SeqCst { order } else { Ordering::Release }
}
