//! A column's cells of all rows: reading them, and resetting them when nobody writes.

use crate::column::Column;
use crate::stripe;
use crate::sync::Ordering;

/// Every row's number in `column`, one load each.
fn scan(column: Column) -> impl Iterator<Item = u64> {
    // Acquire: pairs with the Release of adds and raises (`stripe`). Whoever counts an add sees
    // what that add's thread had seen before it.
    (0..stripe::rows()).map(move |row| column.cell(row).load(Ordering::Acquire))
}

/// The sum of all rows, wrapping.
pub(crate) fn sum(column: Column) -> u64 {
    scan(column).fold(0, u64::wrapping_add)
}

/// The greatest of all rows.
pub(crate) fn greatest(column: Column) -> u64 {
    scan(column).fold(0, u64::max)
}

/// Sets all rows to zero. For a column that is provably silent: nobody is adding to it.
///
/// A cell is written only where it must be, so that rows that never ran the owner stay unmapped.
pub(crate) fn reset(column: Column, order: Ordering) {
    for row in 0..stripe::rows() {
        let cell = column.cell(row);
        // Relaxed: silent, so nobody else writes, and the last write happened before.
        if cell.load(Ordering::Relaxed) != 0 {
            cell.store(0, order);
        }
    }
}
