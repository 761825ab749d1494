//! The cells of an event, and reading stats from them.

use super::kind::Kind;
#[cfg(feature = "serde")]
use super::layout::raise_of;
use super::layout::{BucketLayout, CellIndex};
use super::stats::Stats;
use crate::histogram::Scale;

mod places;

/// The cells of one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventCells {
    /// The cells of an event of which each number changes the same ones: all but a `Histogram`.
    Same(CellIndex),
    /// The cells of a `Histogram`: a value changes the pair of its place, and the extremes.
    ByPlace(Places),
}

/// The cells of a `Histogram` event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// The position of the first place's pair; the others' follow it.
    pairs: u16,
    /// The position of the maximum; the complement of the minimum follows it.
    extremes: u16,
    /// The scale, which maps a value to its place.
    scale: Scale,
}

/// The cells whose sum is a number: `count` of them, each two positions after the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Addends {
    pub(crate) first: usize,
    pub(crate) count: usize,
}

impl Addends {
    /// Returns one cell.
    pub(crate) const fn one(first: usize) -> Addends {
        Addends { first, count: 1 }
    }

    /// Returns the positions of the cells.
    #[inline]
    pub(crate) fn positions(self) -> impl Iterator<Item = usize> {
        (self.first..).step_by(2).take(self.count)
    }
}

impl EventCells {
    /// Returns the cells of each event, in the order of the events' indexes. There are at most `M`
    /// events, with this layout. The rest of the `M` entries is unused.
    pub(crate) const fn all<const M: usize>(
        layout: BucketLayout,
        events: &[(&str, Kind)],
    ) -> [EventCells; M] {
        let mut all = [EventCells::Same(CellIndex::Count { cell: 0 }); M];
        let [mut wide, mut pair, mut cell, mut of_places, mut extremes, mut alone] =
            layout.groups();
        let mut index = 0;
        while index < events.len() {
            all[index] = match events[index].1 {
                Kind::Count | Kind::Signed => {
                    cell += 1;
                    EventCells::Same(CellIndex::Count { cell: cell - 1 })
                }
                Kind::Value => {
                    (pair, extremes) = (pair + 2, extremes + 2);
                    EventCells::Same(CellIndex::Value { pair: pair - 2, extremes: extremes - 2 })
                }
                Kind::Maximum | Kind::Minimum => {
                    let is_minimum = matches!(events[index].1, Kind::Minimum);
                    alone += 2;
                    EventCells::Same(CellIndex::Extreme { cell: alone - 2, is_minimum })
                }
                Kind::Histogram(scale) => {
                    let pairs = wide;
                    (wide, of_places) = (wide + 2 * scale.places() as u16, of_places + 2);
                    EventCells::ByPlace(Places { pairs, extremes: of_places - 2, scale })
                }
            };
            index += 1;
        }
        all
    }

    /// Returns the cells that a number changes.
    #[inline(always)]
    #[allow(clippy::inline_always)] // on the path of an add
    pub(crate) fn of_number(self, number: u64) -> CellIndex {
        match self {
            EventCells::Same(cells) => cells,
            EventCells::ByPlace(places) => {
                let (pair, extremes) = places.of_number(number); // both below 2^16
                CellIndex::Value { pair: pair as u16, extremes: extremes as u16 }
            }
        }
    }

    /// Returns whether a position is one of the event's.
    #[inline]
    pub(crate) fn has(self, position: usize) -> bool {
        let is_of_two =
            |first: u16| (usize::from(first)..usize::from(first) + 2).contains(&position);
        match self {
            EventCells::Same(CellIndex::Count { cell }) => usize::from(cell) == position,
            EventCells::Same(CellIndex::Value { pair, extremes }) => {
                is_of_two(pair) || is_of_two(extremes)
            }
            EventCells::Same(CellIndex::Extreme { cell, .. }) => is_of_two(cell),
            EventCells::ByPlace(places) => {
                places.cells().contains(&position) || is_of_two(places.extremes)
            }
        }
    }

    /// Returns the cells of a `Histogram` event; `None` for any other kind.
    pub(crate) fn places(self) -> Option<Places> {
        match self {
            EventCells::Same(_) => None,
            EventCells::ByPlace(places) => Some(places),
        }
    }

    /// Returns the positions of count and sum, and of the extremes, if the event is a `Value`.
    #[inline]
    pub(crate) fn of_value(self) -> Option<([usize; 2], [usize; 2])> {
        let two = |first: u16| [first, first + 1].map(usize::from);
        match self {
            EventCells::Same(CellIndex::Value { pair, extremes }) => {
                Some((two(pair), two(extremes)))
            }
            EventCells::Same(CellIndex::Count { .. } | CellIndex::Extreme { .. })
            | EventCells::ByPlace(_) => None,
        }
    }

    /// Returns the cells of the event's sum, if it has one.
    #[inline]
    pub(crate) fn sum(self) -> Option<Addends> {
        match self {
            EventCells::Same(CellIndex::Value { pair, .. }) => {
                Some(Addends::one(usize::from(pair) + 1))
            }
            EventCells::Same(CellIndex::Count { .. } | CellIndex::Extreme { .. }) => self.count(),
            EventCells::ByPlace(places) => Some(places.sums()),
        }
    }

    /// Returns the cells of the event's count, if it has one; for a `Count` event, that of its sum.
    #[inline]
    pub(crate) fn count(self) -> Option<Addends> {
        match self {
            EventCells::Same(CellIndex::Count { cell }) => Some(Addends::one(cell.into())),
            EventCells::Same(CellIndex::Value { pair, .. }) => Some(Addends::one(pair.into())),
            EventCells::Same(CellIndex::Extreme { .. }) => None,
            EventCells::ByPlace(places) => Some(places.counts()),
        }
    }

    /// Returns the stats of this event, from its cells as `read` returns them.
    ///
    /// An update writes the count last, and counts are read first: so sum and extremes include
    /// every value that is counted.
    pub(crate) fn stats(self, mut read: impl FnMut(usize) -> u64) -> Stats {
        match self {
            EventCells::Same(CellIndex::Count { cell }) => {
                let added = read(cell.into());
                Stats { count: added, sum: added, min: None, max: None }
            }
            EventCells::Same(CellIndex::Value { pair, extremes }) => {
                let [pair, extremes] = [pair, extremes].map(usize::from);
                let sums = [pair, pair + 1].map(&mut read);
                Places::stats_of(sums, [extremes, extremes + 1].map(read))
            }
            EventCells::ByPlace(places) => places.stats(read),
            EventCells::Same(CellIndex::Extreme { cell, is_minimum }) => {
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

    /// Writes stats into this event's cells, which are all zero. Not for a `Histogram`.
    #[cfg(feature = "serde")]
    pub(crate) fn write(self, stats: Stats, mut write: impl FnMut(usize, u64)) {
        match self {
            EventCells::Same(CellIndex::Count { cell }) => write(cell.into(), stats.sum),
            EventCells::Same(CellIndex::Value { pair, extremes }) => {
                let (pair, extremes) = (usize::from(pair), usize::from(extremes));
                write(pair, stats.count);
                write(pair + 1, stats.sum);
                write(extremes, stats.max.unwrap_or(0));
                write(extremes + 1, stats.min.map_or(0, |min| !min));
            }
            EventCells::Same(CellIndex::Extreme { cell, is_minimum }) => {
                if let Some(value) = if is_minimum { stats.min } else { stats.max } {
                    let (cell, number) = raise_of(cell, is_minimum, value);
                    write(cell, number);
                }
            }
            EventCells::ByPlace(_) => {}
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::super::layout::raise_of;
    use super::*;

    const COUNT: (&str, Kind) = ("count", Kind::Count);
    const SIGNED: (&str, Kind) = ("signed", Kind::Signed);
    const VALUE: (&str, Kind) = ("value", Kind::Value);
    const MAXIMUM: (&str, Kind) = ("maximum", Kind::Maximum);
    const MINIMUM: (&str, Kind) = ("minimum", Kind::Minimum);

    const PLACES: (&str, Kind) = ("places", Kind::Histogram(Scale::fixed::<1, 5, 9>()));

    /// The cells of each event, and whether they add up.
    fn cells<const N: usize>(
        layout: BucketLayout,
        events: &'static [(&'static str, Kind)],
    ) -> Vec<(usize, bool)> {
        let pair_and = |pair: u16, extremes: u16| {
            assert_eq!(pair % 2, 0, "a pair is aligned");
            let (pair, extremes) = (usize::from(pair), usize::from(extremes));
            vec![(pair, true), (pair + 1, true), (extremes, false), (extremes + 1, false)]
        };
        let of = |cells| match cells {
            EventCells::Same(CellIndex::Count { cell }) => vec![(cell.into(), true)],
            EventCells::Same(CellIndex::Value { pair, extremes }) => pair_and(pair, extremes),
            EventCells::Same(CellIndex::Extreme { cell, .. }) => {
                let cell = usize::from(cell);
                vec![(cell, false), (cell + 1, false)]
            }
            EventCells::ByPlace(Places { pairs, extremes, scale }) => {
                let mut all = pair_and(pairs, extremes);
                for place in 1..scale.places() {
                    let pair = usize::from(pairs) + 2 * place;
                    all.extend([(pair, true), (pair + 1, true)]);
                }
                all
            }
        };
        EventCells::all::<N>(layout, events).into_iter().flat_map(of).collect()
    }

    fn lie_side_by_side<const N: usize>(events: [(&'static str, Kind); N]) {
        let events: &'static [_] = Vec::from(events).leak();
        let layout = BucketLayout::of(Box::leak(Box::new(events)));
        let mut cells = cells::<N>(layout, events);
        cells.sort_unstable();
        let all: Vec<_> = (0..layout.cells()).map(|cell| (cell, layout.adds_up(cell))).collect();
        assert_eq!(cells, all);
        for index in 0..layout.cells() {
            let all = EventCells::all::<N>(layout, events).into_iter();
            assert_eq!(all.filter(|cells| cells.has(index)).count(), 1, "{index}");
        }
        let kinds = events.iter().map(|(_, kind)| kind.cells()).sum::<usize>();
        assert_eq!(layout.cells(), kinds);
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
        lie_side_by_side([PLACES]);
        lie_side_by_side([COUNT, PLACES, VALUE, MAXIMUM, PLACES, VALUE, SIGNED]);
    }

    #[test]
    fn extremes_bound_the_pairs_of_their_event() {
        const EVENTS: &[(&str, Kind)] = &[MAXIMUM, VALUE, PLACES, COUNT, PLACES, VALUE];
        let layout = BucketLayout::of(&EVENTS);
        for cells in EventCells::all::<6>(layout, EVENTS) {
            let (extremes, pairs) = match cells {
                EventCells::Same(CellIndex::Count { .. }) => continue,
                EventCells::Same(CellIndex::Value { pair, extremes }) => (extremes, (pair, 1)),
                EventCells::Same(CellIndex::Extreme { cell, .. }) => {
                    assert!(!layout.is_bound(cell.into()));
                    continue;
                }
                EventCells::ByPlace(Places { pairs, extremes, scale }) => {
                    (extremes, (pairs, scale.places()))
                }
            };
            for extreme in [extremes, extremes + 1].map(usize::from) {
                assert!(layout.is_bound(extreme));
                assert_eq!(layout.bounded_by(extreme), (pairs.0.into(), pairs.1));
                assert_eq!(layout.is_complement(extreme), extreme > extremes.into());
            }
        }
    }

    #[test]
    fn a_value_changes_the_pair_of_its_place() {
        const EVENTS: &[(&str, Kind)] = &[COUNT, PLACES];
        let [_, places] = EventCells::all::<2>(BucketLayout::of(&EVENTS), EVENTS);
        let extremes = 13; // six pairs and a count before it
        for (value, place) in [(0, 0), (4, 0), (5, 1), (6, 2), (8, 2), (9, 3), (16, 4), (17, 5)] {
            let expected = CellIndex::Value { pair: 2 * place, extremes };
            assert_eq!(places.of_number(value), expected, "{value}");
        }
    }

    /// Each value changes one cell, and is distinguishable from every other, and from no value.
    #[test]
    fn an_extreme_alone_is_any_value_or_none() {
        for is_minimum in [false, true] {
            let cells = EventCells::Same(CellIndex::Extreme { cell: 0, is_minimum });
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
