//! The two kinds of event, and where an event's cells stand within a bucket.
//!
//! ```text
//!   count sum | count sum | ... | n | n | n | ... | max !min | max !min | ...
//!   pairs of the Value events     the Count events   extremes of the Value events
//!   <------------- these add up --------------->   <-- these only rise ------>
//! ```
//!
//! A pair begins at an even cell, so that its 16 bytes are aligned. A minimum is kept as the complement
//! of the value: so both extremes only rise, and zero, which every cell starts from, means "nothing
//! yet" in all of them. The count tells whether a value was recorded.

use super::stats::Stats;
use crate::memory::column::COLUMNS;
use crate::stripe::live_bucket::PENDING;

/// How an event is counted.
///
/// ```
/// use windrow::Kind;
///
/// assert_eq!(Kind::Count.cells(), 1);
/// assert_eq!(Kind::Value.cells(), 4);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A number that adds up: one cell.
    Count,
    /// Values, of which the count, sum, minimum and maximum are kept: four cells.
    Value,
}

impl Kind {
    /// How many cells of eight bytes an event of this kind takes in a bucket.
    ///
    /// In each row of a window's blocks, a `Value` takes a fifth cell besides.
    ///
    /// ```
    /// assert_eq!(windrow::Kind::Value.cells(), 4);
    /// ```
    pub const fn cells(self) -> usize {
        match self {
            Kind::Count => 1,
            Kind::Value => 4,
        }
    }
}

/// The cells of one event. Small enough for a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellIndex {
    /// One cell that adds up.
    Count {
        /// Its position.
        cell: u16,
    },
    /// Count and sum, which add up, and maximum and complement of the minimum, which rise.
    Value {
        /// The position of the count; the sum follows it.
        pair: u16,
        /// The position of the maximum; the complement of the minimum follows it.
        extremes: u16,
    },
}

impl CellIndex {
    /// The cells of every event, in the order of their indexes. The rest of the `M` entries is unused.
    ///
    /// There are at most `M` events, and their layout passes [`BucketLayout::check`].
    pub(crate) const fn all<const M: usize>(
        layout: BucketLayout,
        events: &[(&str, Kind)],
    ) -> [CellIndex; M] {
        let mut indexes = [CellIndex::Count { cell: 0 }; M];
        let (mut pair, mut cell, mut extremes) = (0, layout.pairs as u16, layout.additive as u16);
        let mut index = 0;
        while index < events.len() {
            match events[index].1 {
                Kind::Count => {
                    indexes[index] = CellIndex::Count { cell };
                    cell += 1;
                }
                Kind::Value => {
                    indexes[index] = CellIndex::Value { pair, extremes };
                    pair += 2;
                    extremes += 2;
                }
            }
            index += 1;
        }
        indexes
    }

    /// The cell of the event's sum.
    pub(crate) fn sum(self) -> usize {
        match self {
            CellIndex::Count { cell } => cell.into(),
            CellIndex::Value { pair, .. } => usize::from(pair) + 1,
        }
    }

    /// The cell of the event's count; of a `Count` event, that of its sum.
    pub(crate) fn count(self) -> usize {
        match self {
            CellIndex::Count { cell } => cell.into(),
            CellIndex::Value { pair, .. } => pair.into(),
        }
    }

    /// The stats of this event, from what `read` returns for its cells.
    ///
    /// An update writes the count last, and the count is read first: sum and extremes include every value
    /// that is counted.
    pub(crate) fn stats(self, mut read: impl FnMut(usize) -> u64) -> Stats {
        match self {
            CellIndex::Count { cell } => {
                let added = read(cell.into());
                Stats { count: added, sum: added, min: None, max: None }
            }
            CellIndex::Value { pair, extremes } => {
                let (pair, extremes) = (usize::from(pair), usize::from(extremes));
                let (count, sum) = (read(pair), read(pair + 1));
                let (max, min) = (read(extremes), !read(extremes + 1));
                let recorded = |value| (count > 0).then_some(value);
                Stats { count, sum, min: recorded(min), max: recorded(max) }
            }
        }
    }
}

/// How many cells a bucket has, and which of them add up.
#[derive(Clone, Copy, Debug)]
pub struct BucketLayout {
    pairs: usize,
    additive: usize,
    cells: usize,
}

impl BucketLayout {
    pub(crate) const fn of(events: &[(&str, Kind)]) -> BucketLayout {
        let (mut values, mut index) = (0, 0);
        while index < events.len() {
            if let Kind::Value = events[index].1 {
                values += 1;
            }
            index += 1;
        }
        let pairs = 2 * values;
        let additive = pairs + (events.len() - values);
        BucketLayout { pairs, additive, cells: additive + 2 * values }
    }

    /// Fails to compile for events that do not fit a row. (In models a row has 16 columns.)
    pub(crate) const fn check(self) {
        assert!(
            self.columns() <= COLUMNS,
            "a set of events fits a row of 8192 cells: one for each `Count`, five for each `Value`"
        );
    }

    /// All cells.
    pub(crate) const fn cells(self) -> usize {
        self.cells
    }

    /// How many columns a per-core block has: one for each cell, then one for the pending value of each
    /// `Value` event (see [`per_core`](crate::stripe::per_core)).
    pub(crate) const fn columns(self) -> usize {
        self.cells + self.pairs / 2
    }

    /// The column of the pending value of the event whose pair is at `pair`.
    #[inline]
    pub(crate) fn pending(self, pair: usize) -> usize {
        self.cells + pair / 2
    }

    /// The pair of the event whose extremes are at `extremes`, or at the position before.
    pub(crate) fn pair_of(self, extremes: usize) -> usize {
        (extremes - self.additive) / 2 * 2
    }

    /// Whether an extreme is the complement of a minimum; else it is a maximum.
    pub(crate) fn is_complement(self, extreme: usize) -> bool {
        (extreme - self.additive) % 2 == 1
    }

    /// Whether a cell is a `Count` event's.
    #[inline]
    pub(crate) fn is_of_count(self, cell: usize) -> bool {
        cell.wrapping_sub(self.pairs) < self.additive - self.pairs
    }

    /// Whether a cell counts the records of a `Value` event.
    pub(crate) fn counts_records(self, cell: usize) -> bool {
        cell < self.pairs && cell.is_multiple_of(2)
    }

    /// A number from cells that count records: the highest bit of a row's count is not part of it; nor, then, is
    /// that of all rows'. Other numbers stay as they are.
    #[inline]
    pub(crate) fn without_pending(self, cell: usize, number: u64) -> u64 {
        if self.counts_records(cell) { number & !PENDING } else { number }
    }

    /// How many cells add up; they come first.
    pub(crate) fn additive(self) -> usize {
        self.additive
    }

    /// Whether a cell adds up; else it only rises.
    #[inline]
    pub(crate) fn adds_up(self, cell: usize) -> bool {
        cell < self.additive
    }

    /// Joins two numbers, read from cells at position `cell`: adds them, or takes the greater.
    #[inline]
    pub(crate) fn join(self, cell: usize, one: u64, other: u64) -> u64 {
        if self.adds_up(cell) { one.wrapping_add(other) } else { one.max(other) }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    const COUNT: (&str, Kind) = ("count", Kind::Count);
    const VALUE: (&str, Kind) = ("value", Kind::Value);

    /// The cells of each event, and whether they add up.
    fn cells<const N: usize>(events: [(&str, Kind); N]) -> Vec<(usize, bool)> {
        let of = |index| match index {
            CellIndex::Count { cell } => vec![(cell.into(), true)],
            CellIndex::Value { pair, extremes } => {
                assert_eq!(pair % 2, 0, "a pair is aligned");
                let (pair, extremes) = (usize::from(pair), usize::from(extremes));
                vec![(pair, true), (pair + 1, true), (extremes, false), (extremes + 1, false)]
            }
        };
        CellIndex::all::<N>(BucketLayout::of(&events), &events).into_iter().flat_map(of).collect()
    }

    fn lie_side_by_side<const N: usize>(events: [(&str, Kind); N]) {
        let (layout, mut cells) = (BucketLayout::of(&events), cells(events));
        cells.sort_unstable();
        let all: Vec<_> = (0..layout.cells()).map(|cell| (cell, layout.adds_up(cell))).collect();
        assert_eq!(cells, all);
    }

    #[test]
    fn every_cell_is_one_events() {
        lie_side_by_side([]);
        lie_side_by_side([COUNT]);
        lie_side_by_side([VALUE]);
        lie_side_by_side([COUNT, COUNT, COUNT]);
        lie_side_by_side([VALUE, COUNT, VALUE, VALUE]);
        lie_side_by_side([COUNT, VALUE, COUNT, COUNT, VALUE, VALUE]);
    }
}
