//! A column's cells of all [open](crate::stripe::open) rows: reading them, and resetting them while no thread
//! writes. In other rows all are zero.

use crate::memory::column::Column;
use crate::stripe::live_bucket::PENDING;
use crate::stripe::open::open_rows;
use crate::sync::Ordering;

/// Every open row's number in `column`, one load each.
pub(crate) fn values(column: Column) -> impl Iterator<Item = u64> {
    // Acquire: pairs with the Release of adds and raises (`stripe`). A reader that counts an add sees
    // what the add's thread had seen before it.
    let rows = std::iter::once(0).chain(1..open_rows()); // the first is open
    rows.map(move |row| column.cell(row).load(Ordering::Acquire))
}

/// The sum of all rows, wrapping.
pub(crate) fn sum(column: Column) -> u64 {
    values(column).fold(0, u64::wrapping_add)
}

/// Adds to each of `sums`, wrapping, all rows of its column; the first one's is `column`, and the others stand to the right. Row by row, as
/// cells lie in memory.
pub(crate) fn add_up(column: Column, sums: &mut [u64]) {
    for row in 0..open_rows() {
        for (distance, sum) in sums.iter_mut().enumerate() {
            // Acquire: as in `values`.
            let number = column.right(distance).cell(row).load(Ordering::Acquire);
            *sum = sum.wrapping_add(number);
        }
    }
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
    /// Whether `cell` is the complement of a minimum.
    pub(crate) is_complement: bool,
}

/// The greatest of all rows and of their pending values (see [`per_core`](crate::stripe::per_core)).
pub(crate) fn extreme(of: &Extreme) -> u64 {
    let row = |row: usize| {
        // Acquire each, in this order, the extreme last; pairs with the Release of the sequences' stores and
        // in `forget_pending`. A pending value is replaced only after the extreme was raised to it. So where
        // the bit is clear, or the value is another one by now, the extreme includes it.
        let pends = of.count.cell(row).load(Ordering::Acquire) & PENDING != 0;
        let pending = of.pending.cell(row).load(Ordering::Acquire);
        let extreme = of.cell.cell(row).load(Ordering::Acquire);
        let pending = if of.is_complement { !pending } else { pending };
        if pends { extreme.max(pending) } else { extreme }
    };
    (0..open_rows()).map(row).fold(0, u64::max)
}

/// Clears every row's pending bit in a column of counts. As for [`reset`], it is provably quiescent.
pub(crate) fn forget_pending(count: Column) {
    for row in 0..open_rows() {
        let cell = count.cell(row);
        let number = cell.load(Ordering::Relaxed); // as in `reset`
        if number & PENDING != 0 {
            // Release: pairs with the Acquire in `extreme`.
            cell.store(number & !PENDING, Ordering::Release);
        }
    }
}

/// Sets all rows to zero. The column is provably quiescent: no thread is adding to it.
///
/// Cells that are zero are not written, so that the pages of unused rows stay untouched.
pub(crate) fn reset(column: Column, order: Ordering) {
    for row in 0..open_rows() {
        let cell = column.cell(row);
        // Relaxed: quiescent, so no other thread writes, and the last write happened before.
        if cell.load(Ordering::Relaxed) != 0 {
            cell.store(0, order);
        }
    }
}
