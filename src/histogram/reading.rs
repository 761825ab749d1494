//! A reading of a histogram: the counts of its cells, and its sum.
//!
//! Most cells are never used. The all-time extremes say which may be: those from the cell of the
//! minimum to that of the maximum. So a read looks at the extremes, and then at these cells alone.
//!
//! # Theorem
//!
//! A read leaves out no record that happens before it. Of two readings, the one that happens first
//! has no cell that the other leaves out.
//!
//! # Why
//!
//! A record finds its value within the extremes, or raises them, before it is counted. They only
//! rise, and what a thread has found, no thread finds less of that comes after it (*coherence*, see
//! [`extremes`](super::extremes)). So a read after the record finds extremes that include the
//! value; and a read after another one finds extremes that include those of the other. A scale's
//! places rise with the values.

use std::ops::Range;

use super::columns::Columns;
use super::extremes::Extremes;
use super::scale::Scale;

/// A reading: the counts of some neighbouring cells, beside which all are zero; and the sum of all
/// values.
#[derive(Clone)]
pub(super) struct Reading {
    /// The place of the first of the cells.
    first: usize,
    counts: Box<[u64]>,
    sum: u64,
}

impl Reading {
    /// Reads the all-time counts of the cells that may be `used`, and then the all-time sum.
    #[inline]
    pub(super) fn of(columns: &Columns, used: Range<usize>) -> Reading {
        let first = used.start;
        let (counts, sum) = columns.read(used);
        Reading { first, counts, sum }
    }

    /// Returns the difference between this reading and `before`, which happened first.
    #[inline]
    pub(super) fn since(mut self, before: Option<&Reading>) -> Reading {
        if let Some(before) = before {
            before.subtract(self.first, &mut self.counts);
            self.sum = self.sum.wrapping_sub(before.sum);
        }
        self
    }

    /// Subtracts this reading from later counts, whose first cell is at the place `first`.
    #[inline]
    pub(super) fn subtract(&self, first: usize, counts: &mut [u64]) {
        let from = first.max(self.first);
        let mine = self.counts.get(from - self.first..).unwrap_or_default();
        let theirs = counts.get_mut(from - first..).unwrap_or_default();
        for (count, before) in theirs.iter_mut().zip(mine) {
            *count = count.wrapping_sub(*before);
        }
    }

    /// Returns the cells that are not zero: place and count of each.
    #[inline]
    pub(super) fn cells(&self) -> Vec<(u16, u64)> {
        let mut cells = Vec::new();
        put_used(self.first, &self.counts, &mut cells);
        cells
    }

    #[inline]
    pub(super) fn sum(&self) -> u64 {
        self.sum
    }
}

/// Returns the places of the cells that may have been used.
#[inline]
pub(super) fn used(scale: Scale, extremes: &Extremes) -> Range<usize> {
    let (least, greatest) = extremes.get();
    if least > greatest {
        return 0..0; // nothing is counted
    }
    scale.place(least)..scale.place(greatest) + 1
}

/// Reads the cells that may be `used`: calls `see` with the counts since `before`, some neighbours
/// at a time, and the place of the first of them.
#[inline]
pub(super) fn each_since(
    before: Option<&Reading>,
    columns: &Columns,
    used: Range<usize>,
    mut see: impl FnMut(usize, &[u64]),
) {
    columns.each_count(used, |first, counts| {
        if let Some(before) = before {
            before.subtract(first, counts);
        }
        see(first, counts);
    });
}

/// Appends the cells that are not zero, of neighbours whose first is at the place `first`.
#[inline]
pub(super) fn put_used(first: usize, counts: &[u64], to: &mut Vec<(u16, u64)>) {
    to.reserve(counts.iter().filter(|count| **count > 0).count());
    let cells = (first as u16..).zip(counts.iter().copied());
    to.extend(cells.filter(|(_, count)| *count > 0));
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn reading(first: usize, counts: &[u64]) -> Reading {
        Reading { first, counts: counts.into(), sum: counts.iter().sum() }
    }

    #[test]
    fn a_difference_is_that_of_each_cell() {
        let now = || reading(2, &[5, 6, 7, 8]);
        for (before, expected) in [
            (reading(0, &[]), [5, 6, 7, 8]),
            (reading(2, &[1, 2, 3, 4]), [4, 4, 4, 4]),
            (reading(3, &[1]), [5, 5, 7, 8]),
            (reading(4, &[1, 2]), [5, 6, 6, 6]),
        ] {
            let since = now().since(Some(&before));
            assert_eq!(since.cells(), [2, 3, 4, 5].into_iter().zip(expected).collect::<Vec<_>>());
            assert_eq!(since.sum(), expected.iter().sum());
        }
        assert_eq!(now().since(None).sum(), 26);
    }

    #[test]
    fn a_part_of_the_cells_is_subtracted_from() {
        let before = reading(2, &[1, 2, 3, 4]);
        for (first, expected) in [(0, [9, 9, 8]), (1, [9, 8, 7]), (4, [6, 5, 9]), (6, [9, 9, 9])] {
            let mut counts = [9; 3];
            before.subtract(first, &mut counts);
            assert_eq!(counts, expected, "{first}");
        }
    }
}
