//! Where an event's cells stand within a bucket.
//!
//! ```text
//!   count sum | count sum | ... | n | n | n | ... | max !min | ... | 0? max | 0? !min | ...
//!   pairs of the Value events     Count and Signed  of the Values    Maximum and Minimum events
//!   <------------- these add up --------------->   <------- these only rise ------->
//! ```
//!
//! A pair begins at an even cell, so that its 16 bytes are aligned. A minimum is kept as the complement
//! of the value: so both extremes only rise, and zero, which every cell starts from, means "nothing
//! yet" in all of them. The count tells whether a value was recorded.
//!
//! A `Maximum` has no count. So zero, which is a value like any other, is told by a cell of its own: it raises that cell
//! to one, and any other value raises the second cell to itself. A record changes one cell either way, so one store is all
//! of it. A reader looks for zero first: if it then finds no other value, there was a time at which there was none.
//! A `Minimum` is a `Maximum` of complements.

use super::kind::Kind;
use super::stats::Stats;
use crate::memory::column::COLUMNS;
use crate::stripe::live_bucket::PENDING;

/// The cells of one event. Small enough for a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellIndex {
    /// One cell that adds up, of a `Count` or a `Signed` event.
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
    /// Two cells that rise: one extreme alone.
    Extreme {
        /// The position of the cell for zero; the one for all other values follows it.
        cell: u16,
        /// Whether these are of the values' complements.
        is_minimum: bool,
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
        let mut alone = layout.alone() as u16;
        let mut index = 0;
        while index < events.len() {
            match events[index].1 {
                Kind::Count | Kind::Signed => {
                    indexes[index] = CellIndex::Count { cell };
                    cell += 1;
                }
                Kind::Value => {
                    indexes[index] = CellIndex::Value { pair, extremes };
                    pair += 2;
                    extremes += 2;
                }
                Kind::Maximum | Kind::Minimum => {
                    let is_minimum = matches!(events[index].1, Kind::Minimum);
                    indexes[index] = CellIndex::Extreme { cell: alone, is_minimum };
                    alone += 2;
                }
            }
            index += 1;
        }
        indexes
    }

    /// The cell of the event's sum, if it has one.
    #[inline]
    pub(crate) fn sum(self) -> Option<usize> {
        match self {
            CellIndex::Count { cell } => Some(cell.into()),
            CellIndex::Value { pair, .. } => Some(usize::from(pair) + 1),
            CellIndex::Extreme { .. } => None,
        }
    }

    /// The cell of the event's count, if it has one; of a `Count` event, that of its sum.
    #[inline]
    pub(crate) fn count(self) -> Option<usize> {
        match self {
            CellIndex::Count { cell } => Some(cell.into()),
            CellIndex::Value { pair, .. } => Some(pair.into()),
            CellIndex::Extreme { .. } => None,
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
            CellIndex::Extreme { cell, is_minimum } => {
                let cell = usize::from(cell);
                let (has_zero, greatest) = (read(cell) > 0, read(cell + 1));
                let is_there = has_zero || greatest > 0;
                let (min, max) = if is_minimum {
                    (is_there.then_some(!greatest), None)
                } else {
                    (None, is_there.then_some(greatest))
                };
                Stats { min, max, ..Stats::default() }
            }
        }
    }

    /// What to write into this event's cells, of which all are zero, so that its stats are these.
    #[cfg(feature = "serde")]
    pub(crate) fn write(self, stats: Stats, mut write: impl FnMut(usize, u64)) {
        match self {
            CellIndex::Count { cell } => write(cell.into(), stats.sum),
            CellIndex::Value { pair, extremes } => {
                let (pair, extremes) = (usize::from(pair), usize::from(extremes));
                write(pair, stats.count);
                write(pair + 1, stats.sum);
                write(extremes, stats.max.unwrap_or(0));
                write(extremes + 1, stats.min.map_or(0, |min| !min));
            }
            CellIndex::Extreme { cell, is_minimum } => {
                if let Some(value) = if is_minimum { stats.min } else { stats.max } {
                    let (cell, number) = raise_of(cell, is_minimum, value);
                    write(cell, number);
                }
            }
        }
    }
}

/// What a record of an [extreme alone](CellIndex::Extreme) does: the cell that it raises, and to what.
#[inline(always)]
#[allow(clippy::inline_always)] // on the path of an add
pub(crate) fn raise_of(cell: u16, is_minimum: bool, value: u64) -> (usize, u64) {
    let value = if is_minimum { !value } else { value };
    (usize::from(cell) + usize::from(value > 0), value.max(1))
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
        let (mut counts, mut pairs, mut alone, mut index) = (0, 0, 0, 0);
        while index < events.len() {
            match events[index].1 {
                Kind::Count | Kind::Signed => counts += 1,
                Kind::Value => pairs += 2,
                Kind::Maximum | Kind::Minimum => alone += 2,
            }
            index += 1;
        }
        let additive = pairs + counts;
        BucketLayout { pairs, additive, cells: additive + pairs + alone }
    }

    /// Fails to compile for events that do not fit a row. (In models a row has 16 columns.)
    pub(crate) const fn check(self) {
        assert!(
            self.columns() <= COLUMNS,
            "a set of events fits a row of 8192 cells: one for each `Count` or `Signed`, five for each \
             `Value`, two for each `Maximum` or `Minimum`"
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

    /// Where the cells of extremes alone begin.
    const fn alone(self) -> usize {
        self.additive + self.pairs
    }

    /// Whether an extreme is a `Value` event's; else it stands alone.
    pub(crate) fn is_of_value(self, extreme: usize) -> bool {
        extreme < self.alone()
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

    /// Whether an extreme of a `Value` event is the complement of a minimum; else it is a maximum.
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
    const SIGNED: (&str, Kind) = ("signed", Kind::Signed);
    const VALUE: (&str, Kind) = ("value", Kind::Value);
    const MAXIMUM: (&str, Kind) = ("maximum", Kind::Maximum);
    const MINIMUM: (&str, Kind) = ("minimum", Kind::Minimum);

    /// The cells of each event, and whether they add up.
    fn cells<const N: usize>(events: [(&str, Kind); N]) -> Vec<(usize, bool)> {
        let of = |index| match index {
            CellIndex::Count { cell } => vec![(cell.into(), true)],
            CellIndex::Value { pair, extremes } => {
                assert_eq!(pair % 2, 0, "a pair is aligned");
                let (pair, extremes) = (usize::from(pair), usize::from(extremes));
                vec![(pair, true), (pair + 1, true), (extremes, false), (extremes + 1, false)]
            }
            CellIndex::Extreme { cell, .. } => {
                let cell = usize::from(cell);
                vec![(cell, false), (cell + 1, false)]
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
        lie_side_by_side([MAXIMUM]);
        lie_side_by_side([MINIMUM, COUNT, VALUE, MAXIMUM, SIGNED, VALUE, MINIMUM, COUNT]);
    }

    #[test]
    fn extremes_of_values_stand_before_those_alone() {
        let events = [MAXIMUM, VALUE, MINIMUM, COUNT];
        let layout = BucketLayout::of(&events);
        for cells in CellIndex::all::<4>(layout, &events) {
            match cells {
                CellIndex::Count { .. } => {}
                CellIndex::Value { extremes, .. } => {
                    assert!(
                        [0, 1].iter().all(|more| layout.is_of_value(usize::from(extremes) + more))
                    );
                }
                CellIndex::Extreme { cell, .. } => assert!(!layout.is_of_value(cell.into())),
            }
        }
    }

    /// Each value changes one cell, and can be told from every other, and from none.
    #[test]
    fn an_extreme_alone_is_any_value_or_none() {
        for is_minimum in [false, true] {
            let cells = CellIndex::Extreme { cell: 0, is_minimum };
            let kept = |numbers: [u64; 2]| {
                let stats = cells.stats(|position| numbers[position]);
                let other = if is_minimum { stats.max } else { stats.min };
                assert_eq!((stats.count, stats.sum, other), (0, 0, None));
                if is_minimum { stats.min } else { stats.max }
            };
            assert_eq!(kept([0, 0]), None);
            let values = [0, 1, 2, 1 << 63, u64::MAX - 1, u64::MAX];
            for (first, second) in values.iter().flat_map(|one| values.map(|other| (*one, other))) {
                let mut numbers = [0; 2];
                for value in [first, second] {
                    let (position, to) = raise_of(0, is_minimum, value);
                    numbers[position] = numbers[position].max(to);
                }
                let expected = if is_minimum { first.min(second) } else { first.max(second) };
                assert_eq!(kept(numbers), Some(expected));
            }
        }
    }
}
