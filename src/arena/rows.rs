//! A column's cells of all [open](crate::stripe::open) rows: reading them, and resetting them while
//! no thread writes. In other rows all are zero.

use crate::memory::column::Column;
use crate::stripe::first_rows;
use crate::stripe::live_bucket::PENDING;
use crate::stripe::open::open_rows;
use crate::sync::{AtomicU64, Ordering};

/// Returns the number in one row.
#[inline]
fn value(column: Column, row: usize) -> u64 {
    // Acquire: pairs with the Release of adds and raises (`stripe`). A reader that counts an add
    // sees everything that the add's thread had seen before it.
    column.cell(row).load(Ordering::Acquire)
}

/// Folds over the indexes of all open rows: those of the first bank, then those of the second,
/// which follows it.
#[inline]
fn fold<T>(begin: T, mut with: impl FnMut(T, usize) -> T) -> T {
    let begin = with(begin, 0); // row 0 is open: its load need not wait for the word
    let open = open_rows();
    let first = (1..open.first).fold(begin, &mut with);
    (0..open.second).fold(first, |all, row| with(all, first_rows() + row))
}

/// Returns the number in each row: the sum of those with the same index in the two banks.
pub(crate) fn by_place(column: Column) -> impl Iterator<Item = u64> {
    let open = open_rows();
    (0..open.first.max(open.second)).map(move |place| {
        let first = if place < open.first { value(column, place) } else { 0 };
        let second = if place < open.second { value(column, first_rows() + place) } else { 0 };
        first.wrapping_add(second)
    })
}

/// Returns the sum of all rows, wrapping.
pub(crate) fn sum(column: Column) -> u64 {
    fold(0, |all: u64, row| all.wrapping_add(value(column, row)))
}

/// Adds all rows of a column to each of `sums`, wrapping; the first sum's column is `column`, and
/// the others follow to the right. Goes row by row, in the order of memory.
pub(crate) fn add_up(column: Column, sums: &mut [u64]) {
    fold((), |(), row| {
        let cells = column.cells(row, sums.len());
        merge(sums, cells, Ordering::Acquire, u64::wrapping_add); // as in `value`
    });
}

/// Merges each cell into the number at the same index. Four at a time, because the compiler does
/// not unroll loops of atomics.
#[inline(always)]
#[allow(clippy::inline_always)] // the loop is all of it
pub(crate) fn merge(
    numbers: &mut [u64],
    cells: &[AtomicU64],
    order: Ordering,
    with: impl Fn(u64, u64) -> u64,
) {
    let (fours, rest) = numbers.as_chunks_mut::<4>();
    let (cells, others) = cells.as_chunks::<4>();
    for (numbers, cells) in fours.iter_mut().zip(cells) {
        for index in 0..4 {
            numbers[index] = with(numbers[index], cells[index].load(order));
        }
    }
    for (number, cell) in rest.iter_mut().zip(others) {
        *number = with(*number, cell.load(order));
    }
}

/// Returns the greatest of all rows.
pub(crate) fn greatest(column: Column) -> u64 {
    fold(0, |all: u64, row| all.max(value(column, row)))
}

/// Takes the greatest of all rows, and leaves zeros.
pub(crate) fn take_greatest(column: Column) -> u64 {
    fold(0, |all: u64, row| all.max(take_raised(column.cell(row))))
}

/// Takes the number in a cell that other threads only raise, and leaves zero. A cell of zero is not
/// written.
pub(crate) fn take_raised(cell: &AtomicU64) -> u64 {
    // Relaxed: nothing is taken of a cell that is zero; a raise before this call is seen.
    if cell.load(Ordering::Relaxed) == 0 {
        return 0;
    }
    // Acquire: as in `value`. The exchange is one step, as each raise is: see
    // `counters::extreme`.
    cell.swap(0, Ordering::Acquire)
}

/// Returns whether the sum of `beside` and all rows is above `n`, if no partial sum wraps. Reads no
/// row behind the one with which the sum is above it.
pub(crate) fn is_above(column: Column, beside: u64, n: u64) -> bool {
    let open = open_rows();
    let mut rows = (0..open.first).chain((0..open.second).map(|row| first_rows() + row));
    let mut sum = beside;
    sum > n
        || rows.any(|row| {
            sum = sum.saturating_add(value(column, row));
            sum > n
        })
}

/// The columns on which an extreme of values depends.
pub(crate) struct Extreme {
    /// The first pair that the extreme bounds; its count is there. The highest bit of a count says
    /// that there is a pending value.
    pub(crate) pair: Column,
    /// That pair's pending value.
    pub(crate) pending: Column,
    /// The number of pairs that it bounds. They are neighbours, and their pending values are, too.
    pub(crate) pairs: usize,
    pub(crate) cell: Column,
    /// True if `cell` is the complement of a minimum.
    pub(crate) is_complement: bool,
}

/// Returns the greatest of all rows and of their pending values (see
/// [`per_core`](crate::stripe::per_core)).
pub(crate) fn extreme(of: &Extreme) -> u64 {
    let pending_value = |pair: usize, row: usize| {
        // Acquire each, in this order, and the extreme last; pairs with the Release of the
        // sequences' stores and in `forget_pending`. A pending value is replaced only after the
        // extreme was raised to it. So where the bit is clear, or the value is another one by now,
        // the extreme includes it.
        let pends = of.pair.right(2 * pair).cell(row).load(Ordering::Acquire) & PENDING != 0;
        let pending = of.pending.right(pair).cell(row).load(Ordering::Acquire);
        let pending = if of.is_complement { !pending } else { pending };
        if pends { pending } else { 0 }
    };
    let row = |row: usize| {
        let pending = (0..of.pairs).map(|pair| pending_value(pair, row));
        let pending = pending.fold(0, u64::max);
        pending.max(of.cell.cell(row).load(Ordering::Acquire))
    };
    fold(0, |all: u64, number| all.max(row(number)))
}

/// Clears every row's pending bit in a column of counts, which is provably quiescent, as for
/// [`reset`].
pub(crate) fn forget_pending(count: Column) {
    fold((), |(), row| {
        let cell = count.cell(row);
        let number = cell.load(Ordering::Relaxed); // as in `reset`
        if number & PENDING != 0 {
            // Release: pairs with the Acquire in `extreme`.
            cell.store(number & !PENDING, Ordering::Release);
        }
    });
}

/// Sets all rows to zero. The column is provably quiescent: no thread is adding to it.
///
/// Cells that are zero are not written, so that the pages of unused rows stay untouched.
pub(crate) fn reset(column: Column, order: Ordering) {
    fold((), |(), row| {
        let cell = column.cell(row);
        // Relaxed: quiescent, so no other thread writes, and the last write happened before.
        if cell.load(Ordering::Relaxed) != 0 {
            cell.store(0, order);
        }
    });
}
