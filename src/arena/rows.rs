//! A column's cells of all rows: reading them, and resetting them when nobody writes.

use crate::memory::column::Column;
use crate::stripe;
use crate::stripe::live_bucket::PENDING;
use crate::sync::Ordering;

/// Every row's number in `column`, one load each.
fn values(column: Column) -> impl Iterator<Item = u64> {
    // Acquire: pairs with the Release of adds and raises (`stripe`). Whoever counts an add sees
    // what that add's thread had seen before it.
    (0..stripe::rows()).map(move |row| column.cell(row).load(Ordering::Acquire))
}

/// The sum of all rows, wrapping.
pub(crate) fn sum(column: Column) -> u64 {
    values(column).fold(0, u64::wrapping_add)
}

/// The greatest of all rows.
pub(crate) fn greatest(column: Column) -> u64 {
    values(column).fold(0, u64::max)
}

/// The columns of a value's record in one row that matter to an extreme.
pub(crate) struct Extreme {
    /// The count, whose highest bit says that there is a pending value.
    pub(crate) count: Column,
    pub(crate) pending: Column,
    pub(crate) cell: Column,
    /// It is the complement of a minimum.
    pub(crate) is_complement: bool,
}

/// The greatest of all rows, each row's pending value among them (see
/// [`per_core`](crate::stripe::per_core)).
pub(crate) fn extreme(of: &Extreme) -> u64 {
    let row = |row: usize| {
        // In this order, Acquire each, and the extreme last: a pending value makes room for another only
        // when the extreme has been raised to it. So where the bit is not, or the value is another
        // by now, the extreme has it; pairs with the Release of the sequences' stores, and of `forget_pending`.
        let pends = of.count.cell(row).load(Ordering::Acquire) & PENDING != 0;
        let pending = of.pending.cell(row).load(Ordering::Acquire);
        let extreme = of.cell.cell(row).load(Ordering::Acquire);
        let pending = if of.is_complement { !pending } else { pending };
        if pends { extreme.max(pending) } else { extreme }
    };
    (0..stripe::rows()).map(row).fold(0, u64::max)
}

/// Has no row's value pend any more. For a column of counts that is provably quiescent, as [`reset`].
pub(crate) fn forget_pending(count: Column) {
    for row in 0..stripe::rows() {
        let cell = count.cell(row);
        let number = cell.load(Ordering::Relaxed); // as in `reset`
        if number & PENDING != 0 {
            // Release: pairs with the Acquire in `extreme`.
            cell.store(number & !PENDING, Ordering::Release);
        }
    }
}

/// Sets all rows to zero. For a column that is provably quiescent: nobody is adding to it.
///
/// A cell is written only where it must be, so that rows that never ran the owner stay unmapped.
pub(crate) fn reset(column: Column, order: Ordering) {
    for row in 0..stripe::rows() {
        let cell = column.cell(row);
        // Relaxed: quiescent, so nobody else writes, and the last write happened before.
        if cell.load(Ordering::Relaxed) != 0 {
            cell.store(0, order);
        }
    }
}
