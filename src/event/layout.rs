//! The layout of the cells of events within a bucket.
//!
//! ```text
//!   cells that add up:
//!     count sum | ... | count sum | ...    pairs of the places of Histogram events (wide)
//!     count sum | ...                      pairs of Value events
//!     n | n | n | ...                      Count and Signed events
//!   cells that only rise:
//!     max !min | ...                       extremes of Histogram events
//!     max !min | ...                       extremes of Value events
//!     0? max | 0? !min | ...               Maximum and Minimum events
//! ```
//!
//! A pair begins at an even cell, so that its 16 bytes are aligned. A minimum is kept as the
//! complement of the value. So both extremes only rise, and zero, the initial value of every cell,
//! means "nothing yet" in all of them. The count says whether a value was recorded.
//!
//! A `Histogram` has a pair for each place of its scale. A record changes one of them, in one
//! store, as a record of a `Value` does. So its count and its sum are the sums over its places, in
//! every bucket and at every moment. All its pairs are bounded by the same two extremes. Its pairs
//! come first. They are *wide*: a bucket allocates them in groups, on first use.
//!
//! A `Maximum` has no count. So zero, which is a value like any other, has a cell of its own: the
//! value zero raises that cell to one, and any other value raises the second cell to itself. Either
//! way a record changes one cell, in one store. A reader reads the cell for zero first: if it then
//! finds no other value, there was a time at which there was none. A `Minimum` is a `Maximum` of
//! complements.

use super::kind::Kind;
use crate::memory::column::COLUMNS;
use crate::stripe::live_bucket::PENDING;

/// The cells that one number changes. Small enough for a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellIndex {
    /// One cell that adds up, for a `Count` or a `Signed` event.
    Count {
        /// Its position.
        cell: u16,
    },
    /// Count and sum, which add up, and maximum and complement of the minimum, which rise: for a
    /// `Value` event, or for a place of a `Histogram`.
    Value {
        /// The position of the count; the sum follows it.
        pair: u16,
        /// The position of the maximum; the complement of the minimum follows it.
        extremes: u16,
    },
    /// Two cells that rise, for a `Maximum` or a `Minimum` event.
    Extreme {
        /// The position of the cell for zero; the cell for all other values follows it.
        cell: u16,
        /// True if the cells keep complements of the values.
        is_minimum: bool,
    },
}

/// Returns the cell that a record of a [`CellIndex::Extreme`] raises, and the new value.
#[inline(always)]
#[allow(clippy::inline_always)] // on the path of an add
pub(crate) fn raise_of(cell: u16, is_minimum: bool, value: u64) -> (usize, u64) {
    let value = if is_minimum { !value } else { value };
    (usize::from(cell) + usize::from(value > 0), value.max(1))
}

/// Returns the number of cells of all events together.
///
/// # Panics
///
/// Panics at compile time if the events do not fit a row. (In models a row has 16 columns.)
pub(super) const fn cells_together(events: &[(&str, Kind)]) -> usize {
    let (ends, columns) = groups(events);
    assert!(
        columns <= COLUMNS,
        "a set of events fits a row of 8192 cells: one for each `Count` or `Signed`, five for each `Value`, two \
         for each `Maximum` or `Minimum`, and three for each cell of a `Histogram`'s scale and eight more"
    );
    ends[4]
}

/// Returns the number of wide cells.
pub(super) const fn wide_together(events: &[(&str, Kind)]) -> usize {
    let ([wide, ..], _) = groups(events);
    wide
}

/// Returns the end of each group of cells: the pairs of `Histogram` events, the pairs of `Value`
/// events, the counts, the extremes of these two kinds, those of `Maximum` and `Minimum` events.
/// Also returns the number of columns, as in [`BucketLayout::columns`].
const fn groups(events: &[(&str, Kind)]) -> ([usize; 5], usize) {
    let (mut wide, mut values, mut counts) = (0, 0, 0);
    let (mut bounded, mut extremes, mut index) = (0, 0, 0);
    while index < events.len() {
        match events[index].1 {
            Kind::Count | Kind::Signed => counts += 1,
            Kind::Value => (values, bounded) = (values + 2, bounded + 2),
            Kind::Maximum | Kind::Minimum => extremes += 2,
            Kind::Histogram(scale) => {
                (wide, bounded) = (wide + 2 * scale.places(), bounded + 2);
            }
        }
        index += 1;
    }
    let pairs = wide + values;
    let additive = pairs + counts;
    let bounds_end = additive + bounded;
    let cells = bounds_end + extremes;
    ([wide, pairs, additive, bounds_end, cells], cells + pairs / 2)
}

/// The number of cells of a bucket, and which of them add up.
#[derive(Clone, Copy, Debug)]
pub struct BucketLayout {
    events: &'static &'static [(&'static str, Kind)],
    /// The ends of the [groups].
    wide: u16,
    pairs: u16,
    additive: u16,
    bounds_end: u16,
    cells: u16,
}

impl BucketLayout {
    /// Returns the layout of these events.
    ///
    /// # Panics
    ///
    /// Panics at compile time if the events do not fit a row.
    pub(crate) const fn of(events: &'static &'static [(&'static str, Kind)]) -> BucketLayout {
        cells_together(events);
        let ([wide, pairs, additive, bounds_end, cells], _) = groups(events);
        let [wide, pairs, additive] = [wide as u16, pairs as u16, additive as u16];
        BucketLayout {
            events,
            wide,
            pairs,
            additive,
            bounds_end: bounds_end as u16,
            cells: cells as u16,
        }
    }

    /// Returns the number of all cells.
    pub(crate) const fn cells(self) -> usize {
        self.cells as usize
    }

    /// Returns the number of columns of a per-core block: one for each cell, then one for the
    /// pending value of each pair (see [`per_core`](crate::stripe::per_core)).
    pub(crate) const fn columns(self) -> usize {
        self.cells as usize + self.pairs as usize / 2
    }

    /// Returns the beginning of each group: the wide pairs, the other pairs, the counts, the
    /// extremes of the wide pairs, those of the other pairs, those of `Maximum` and `Minimum`
    /// events.
    pub(super) const fn groups(self) -> [u16; 6] {
        let of_values = self.bounds_end - (self.pairs - self.wide);
        [0, self.wide, self.pairs, self.additive, of_values, self.bounds_end]
    }

    /// Returns the number of wide cells, which come first.
    pub(crate) const fn wide(self) -> usize {
        self.wide as usize
    }

    /// Returns whether all cells are of `Count` or `Signed` events. A window of such a set has no
    /// sequences for records: no other event may be taken for one of these.
    #[cfg(not(any(loom, shuttle)))]
    pub(crate) const fn has_counts_alone(self) -> bool {
        self.pairs == 0 && self.additive == self.cells
    }

    /// Returns whether an extreme bounds the values of pairs; otherwise it is that of a `Maximum`
    /// or `Minimum` event.
    pub(crate) fn is_bound(self, extreme: usize) -> bool {
        extreme < usize::from(self.bounds_end)
    }

    /// Returns whether a cell is an extreme of a `Maximum` or `Minimum` event.
    pub(crate) fn is_alone(self, cell: usize) -> bool {
        cell >= usize::from(self.bounds_end)
    }

    /// Returns the number of the cells that bound pairs, which are the first of those that rise.
    pub(crate) fn bounds(self) -> usize {
        usize::from(self.bounds_end - self.additive)
    }

    /// Returns whether a cell is an extreme of wide pairs.
    pub(crate) fn bounds_wide(self, cell: usize) -> bool {
        let [_, _, _, begin, end, _] = self.groups();
        (usize::from(begin)..end.into()).contains(&cell)
    }

    /// Returns the column of the pending value of a pair.
    #[inline]
    pub(crate) fn pending(self, pair: usize) -> usize {
        usize::from(self.cells) + pair / 2
    }

    /// Returns the first of the pairs that an extreme bounds, and their number.
    pub(crate) fn bounded_by(self, extreme: usize) -> (usize, usize) {
        let mut earlier = (extreme - self.additive()) / 2;
        let mut first = 0;
        for (_, kind) in *self.events {
            if let Kind::Histogram(scale) = kind {
                if earlier == 0 {
                    return (first, scale.places());
                }
                (earlier, first) = (earlier - 1, first + 2 * scale.places());
            }
        }
        (first + 2 * earlier, 1)
    }

    /// Returns whether an extreme that bounds pairs is the complement of a minimum; otherwise it is
    /// a maximum.
    pub(crate) fn is_complement(self, extreme: usize) -> bool {
        (extreme - self.additive()) % 2 == 1
    }

    /// Returns whether a cell is that of a `Count` or a `Signed` event.
    #[inline]
    pub(crate) fn is_of_count(self, cell: usize) -> bool {
        cell.wrapping_sub(self.pairs.into()) < usize::from(self.additive - self.pairs)
    }

    /// Returns whether a cell counts records: the first of a pair.
    pub(crate) fn counts_records(self, cell: usize) -> bool {
        cell < usize::from(self.pairs) && cell.is_multiple_of(2)
    }

    /// Removes the highest bit of a number from cells that count records: it is not part of a row's
    /// count, nor of the sum of all rows. Other numbers stay as they are.
    #[inline]
    pub(crate) fn without_pending(self, cell: usize, number: u64) -> u64 {
        if self.counts_records(cell) { number & !PENDING } else { number }
    }

    /// Does this for numbers at wide positions, from an even one on.
    #[inline]
    pub(crate) fn pairs_without_pending(numbers: &mut [u64]) {
        for [count, _] in numbers.as_chunks_mut::<2>().0 {
            *count &= !PENDING;
        }
    }

    /// Returns the number of cells that add up, which come first.
    pub(crate) fn additive(self) -> usize {
        self.additive.into()
    }

    /// Returns whether a cell adds up; otherwise it only rises.
    #[inline]
    pub(crate) fn adds_up(self, cell: usize) -> bool {
        cell < self.additive()
    }

    /// Joins two numbers read from cells at position `cell`: adds them, or takes the greater one.
    #[inline]
    pub(crate) fn join(self, cell: usize, one: u64, other: u64) -> u64 {
        if self.adds_up(cell) { one.wrapping_add(other) } else { one.max(other) }
    }
}
