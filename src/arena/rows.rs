//! A column's cells of all [open](crate::stripe::open_rows) rows: reading them, and resetting them
//! while no thread writes. In other rows all are zero.

use std::ops::Range;

use crate::memory::column::Column;
use crate::stripe::first_rows;
use crate::stripe::live_bucket::PENDING;
use crate::stripe::open_rows::open_rows;
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
/// the others follow to the right. Returns the bits that are set in any row. Goes row by row, or
/// through two rows side by side, in the order of memory.
pub(crate) fn add_up(column: Column, sums: &mut [u64]) -> u64 {
    let open = open_rows();
    let bits = add_bank(column, 0..open.first, sums);
    match open.second {
        0 => bits,
        rows => bits | add_bank(column, first_rows()..first_rows() + rows, sums),
    }
}

/// Adds some rows, as [`add_up`].
fn add_bank(column: Column, rows: Range<usize>, sums: &mut [u64]) -> u64 {
    let (count, mut row, mut bits) = (sums.len(), rows.start, 0);
    let load = |cell: &AtomicU64| cell.load(Ordering::Acquire); // as in `value`
    while row + 1 < rows.end {
        let [one, other] = [row, row + 1].map(|row| column.cells(row, count));
        merge_two(sums, one, other, |sum, one, other| {
            let (one, other) = (load(one), load(other));
            bits |= one | other;
            *sum = sum.wrapping_add(one.wrapping_add(other));
        });
        row += 2;
    }
    if row < rows.end {
        merge_with(sums, column.cells(row, count), |sum, cell| {
            let number = load(cell);
            bits |= number;
            *sum = sum.wrapping_add(number);
        });
    }
    bits
}

/// Merges each cell into the number at the same index.
#[inline(always)]
#[allow(clippy::inline_always)] // the loop is all of it
pub(crate) fn merge(
    numbers: &mut [u64],
    cells: &[AtomicU64],
    order: Ordering,
    with: impl Fn(u64, u64) -> u64,
) {
    merge_with(numbers, cells, |number, cell| {
        let cell = cell.load(order); // first: then the rest is one instruction
        *number = with(*number, cell);
    });
}

/// Merges each cell into the number at the same index. Four at a time, because the compiler does
/// not unroll loops of atomics.
#[inline(always)]
#[allow(clippy::inline_always)] // as above
fn merge_with(
    numbers: &mut [u64],
    cells: &[AtomicU64],
    mut with: impl FnMut(&mut u64, &AtomicU64),
) {
    let (fours, rest) = numbers.as_chunks_mut::<4>();
    let (cells, others) = cells.as_chunks::<4>();
    for (numbers, cells) in fours.iter_mut().zip(cells) {
        for index in 0..4 {
            with(&mut numbers[index], &cells[index]);
        }
    }
    for (number, cell) in rest.iter_mut().zip(others) {
        with(number, cell);
    }
}

/// Merges each two cells into the number at the same index, as [`merge_with`].
#[inline(always)]
#[allow(clippy::inline_always)] // as above
fn merge_two(
    numbers: &mut [u64],
    one: &[AtomicU64],
    other: &[AtomicU64],
    mut with: impl FnMut(&mut u64, &AtomicU64, &AtomicU64),
) {
    let (fours, rest) = numbers.as_chunks_mut::<4>();
    let (one, rest_of_one) = one.as_chunks::<4>();
    let (other, rest_of_other) = other.as_chunks::<4>();
    for (numbers, (one, other)) in fours.iter_mut().zip(one.iter().zip(other)) {
        for index in 0..4 {
            with(&mut numbers[index], &one[index], &other[index]);
        }
    }
    for (number, (one, other)) in rest.iter_mut().zip(rest_of_one.iter().zip(rest_of_other)) {
        with(number, one, other);
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

/// The columns on which the two extremes of values depend.
pub(crate) struct Extremes {
    /// The first pair that they bound; its count is there. The highest bit of a count says that
    /// there is a pending value.
    pub(crate) pair: Column,
    /// That pair's pending value.
    pub(crate) pending: Column,
    /// The number of pairs that they bound. They are neighbours, and their pending values are, too.
    pub(crate) pairs: usize,
    /// The maximum; the complement of the minimum is the next column.
    pub(crate) cells: Column,
}

/// Returns the greatest of all rows and of their pending values (see
/// [`per_core`](crate::stripe::per_core)): of maximums, and of complements of minimums.
pub(crate) fn extremes(of: &Extremes) -> [u64; 2] {
    let row = |row: usize| {
        // A pending value is replaced only after the extremes were raised to it. So where the bit
        // is clear, or the value is another one by now, the extremes that are read afterwards
        // include it.
        let pending = pending(of, row);
        let both = [of.cells, of.cells.right(1)];
        // Acquire: as in `pending`.
        greater(pending, both.map(|cells| cells.cell(row).load(Ordering::Acquire)))
    };
    fold([0; 2], |all, number| greater(all, row(number)))
}

/// Returns the extremes of a row's pending values; zeros if there is none.
fn pending(of: &Extremes, row: usize) -> [u64; 2] {
    // Acquire, here and below; pairs with the Release of the sequences' stores and in
    // `forget_pending`.
    let count = |[count, _]: &[AtomicU64; 2]| count.load(Ordering::Acquire);
    let pairs = of.pair.cells(row, 2 * of.pairs).as_chunks().0;
    let (fours, rest) = pairs.as_chunks::<4>();
    let bits = fours.iter().fold(0, |bits, four| {
        let [first, second, third, fourth] = four.each_ref().map(count);
        bits | first | second | third | fourth
    });
    let bits = rest.iter().map(count).fold(bits, |bits, count| bits | count);
    let mut pending = [0; 2];
    if bits & PENDING == 0 {
        return pending; // as mostly
    }
    for (pair, _) in pairs.iter().enumerate().filter(|(_, pair)| count(pair) & PENDING != 0) {
        let value = of.pending.right(pair).cell(row).load(Ordering::Acquire);
        pending = greater(pending, [value, !value]);
    }
    pending
}

/// Returns the greater number of each two.
pub(crate) fn greater(one: [u64; 2], other: [u64; 2]) -> [u64; 2] {
    [one[0].max(other[0]), one[1].max(other[1])]
}

/// Calls `with` for each open row. (The code of the call is there once.)
fn each(mut with: impl FnMut(usize)) {
    let open = open_rows();
    for place in 0..open.first + open.second {
        with(place.checked_sub(open.first).map_or(place, |second| first_rows() + second));
    }
}

/// Clears every row's pending bit in a column of counts, which is provably quiescent, as for
/// [`reset`].
pub(crate) fn forget_pending(count: Column) {
    each(|row| {
        let cell = count.cell(row);
        let number = cell.load(Ordering::Relaxed); // as in `reset`
        if number & PENDING != 0 {
            // Release: pairs with the Acquire in `pending`.
            cell.store(number & !PENDING, Ordering::Release);
        }
    });
}

/// Sets all rows to zero. The column is provably quiescent: no thread is adding to it.
///
/// Cells that are zero are not written, so that the pages of unused rows stay untouched.
pub(crate) fn reset(column: Column, order: Ordering) {
    each(|row| {
        let cell = column.cell(row);
        // Relaxed: quiescent, so no other thread writes, and the last write happened before.
        if cell.load(Ordering::Relaxed) != 0 {
            cell.store(0, order);
        }
    });
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    /// Returns numbers that differ in all bits.
    fn numbers(seed: u64, count: usize) -> Vec<u64> {
        let number = |index: u64| (seed + index).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (0..count as u64).map(number).collect()
    }

    #[test]
    fn cells_are_merged_into_the_number_at_their_index() {
        for count in 0..11 {
            let [before, more] = [1, 50].map(|seed| numbers(seed, count));
            let cells: Vec<AtomicU64> = more.iter().copied().map(AtomicU64::new).collect();
            let mut sums = before.clone();
            merge(&mut sums, &cells, Ordering::Acquire, u64::wrapping_add);
            for index in 0..count {
                assert_eq!(sums[index], before[index].wrapping_add(more[index]), "{index}");
            }
        }
    }
}
