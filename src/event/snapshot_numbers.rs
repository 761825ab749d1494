//! The numbers of a bucket in a snapshot: all cells that are not wide, stored inline, and the wide
//! pairs that are not zero, in a list.

use std::borrow::Cow;
use std::ops::Range;

use super::cells::{EventCells, Places};
use super::layout::BucketLayout;
use super::{Events, Positions, Stats};
use crate::histogram::Distribution;

/// The numbers of a bucket.
pub(crate) struct Kept<E: Events> {
    /// The numbers at positions from the first inline one on.
    in_place: <E::Cells as Positions<E>>::InPlace,
    /// The wide pairs that are not zero, in order.
    pairs: Vec<Pair>,
}

/// A wide pair.
#[derive(Clone, Copy, Debug)]
struct Pair {
    position: u16,
    count: u64,
    sum: u64,
}

impl<E: Events> Kept<E> {
    /// Numbers that are all zero.
    pub(crate) const ZERO: Kept<E> =
        Kept { in_place: <E::Cells as Positions<E>>::IN_PLACE, pairs: Vec::new() };

    /// Copies the `number` of each position, in the order of positions.
    pub(crate) fn of(number: impl FnMut(usize) -> u64) -> Kept<E> {
        let mut all = Kept::ZERO;
        all.refill(number);
        all.pairs.shrink_to_fit();
        all
    }

    /// Overwrites all numbers with the `number` of each position, and reuses the memory.
    pub(crate) fn refill(&mut self, mut number: impl FnMut(usize) -> u64) {
        self.pairs.clear();
        for position in (0..Self::first()).step_by(2) {
            let (count, sum) = (number(position), number(position + 1));
            self.push(position, count, sum);
        }
        for (position, cell) in self.others() {
            *cell = number(position);
        }
    }

    fn layout() -> BucketLayout {
        <E::Cells as Positions<E>>::LAYOUT
    }

    /// Returns the first position that is stored inline.
    fn first() -> usize {
        Self::layout().cells()
            - const { size_of::<<E::Cells as Positions<E>>::InPlace>() / size_of::<u64>() }
    }

    /// Returns the positions that are stored inline, and their numbers.
    pub(crate) fn others(&mut self) -> impl Iterator<Item = (usize, &mut u64)> {
        (Self::first()..).zip(self.in_place.as_mut())
    }

    /// Returns the wide positions, which are not stored inline.
    pub(crate) fn wide() -> Range<usize> {
        0..Self::first()
    }

    /// Appends a pair, unless it is zero.
    fn push(&mut self, position: usize, count: u64, sum: u64) {
        if count > 0 || sum > 0 {
            self.pairs.push(Pair { position: position as u16, count, sum });
        }
    }

    /// Adds wide numbers that are not zero, by their positions in ascending order.
    pub(crate) fn add(&mut self, numbers: &[(usize, u64)]) {
        let mut pairs: Vec<Pair> = Vec::with_capacity(numbers.len().div_ceil(2));
        for (position, number) in numbers {
            let pair = (position - position % 2) as u16;
            if pairs.last().is_none_or(|last| last.position != pair) {
                pairs.push(Pair { position: pair, count: 0, sum: 0 });
            }
            if let Some(last) = pairs.last_mut() {
                *(if position.is_multiple_of(2) { &mut last.count } else { &mut last.sum }) =
                    *number;
            }
        }
        self.add_pairs(Cow::Owned(pairs));
    }

    /// Adds pairs, which are in order.
    fn add_pairs(&mut self, others: Cow<'_, [Pair]>) {
        if others.is_empty() {
            return;
        }
        self.pairs = if self.pairs.is_empty() {
            others.into_owned()
        } else {
            added_up(&self.pairs, &others)
        };
        self.pairs.shrink_to_fit();
    }

    /// Merges the numbers of another bucket.
    pub(crate) fn join(&mut self, other: &Kept<E>) {
        self.add_pairs(Cow::Borrowed(&other.pairs));
        for ((position, cell), other) in self.others().zip(other.in_place.as_ref()) {
            *cell = Self::layout().join(position, *cell, *other);
        }
    }

    /// Merges the numbers into all cells of a bucket.
    pub(crate) fn join_into(&self, cells: &mut [u64]) {
        for pair in &self.pairs {
            let at = usize::from(pair.position);
            cells[at] = cells[at].saturating_add(pair.count); // as in `added_up`
            cells[at + 1] = cells[at + 1].wrapping_add(pair.sum);
        }
        for ((position, cell), other) in
            cells.iter_mut().enumerate().skip(Self::first()).zip(self.in_place.as_ref())
        {
            *cell = Self::layout().join(position, *cell, *other);
        }
    }

    fn number(&self, position: usize) -> u64 {
        let Some(in_place) = position.checked_sub(Self::first()) else {
            let pair = (position - position % 2) as u16;
            let found = self.pairs.binary_search_by_key(&pair, |pair| pair.position);
            let half = |pair: Pair| if position.is_multiple_of(2) { pair.count } else { pair.sum };
            return found.map_or(0, |at| half(self.pairs[at]));
        };
        self.in_place.as_ref()[in_place]
    }

    /// Returns the pairs of an event that are not zero: position, count and sum of each.
    fn pairs_of(&self, places: Places) -> impl Iterator<Item = (usize, [u64; 2])> {
        let Range { start, end } = places.cells();
        let at =
            |position| self.pairs.partition_point(|pair| usize::from(pair.position) < position);
        let pairs = &self.pairs[at(start)..at(end)];
        pairs.iter().map(|pair| (usize::from(pair.position), [pair.count, pair.sum]))
    }

    /// Returns the stats of the event with these cells.
    pub(crate) fn stats(&self, cells: EventCells) -> Stats {
        match cells.places() {
            Some(places) if Self::first() > 0 => {
                places.stats_of_pairs(self.pairs_of(places), || self.extremes(places))
            }
            _ => cells.stats(|position| self.number(position)),
        }
    }

    /// Returns the distribution of a `Histogram` event, in the memory of another one.
    pub(crate) fn distribution(&self, places: Places, memory: Distribution) -> Distribution {
        let extremes = || self.extremes(places);
        if Self::first() > 0 {
            return places.of_pairs(self.pairs_of(places), extremes, memory);
        }
        let pair = |position| (position, [position, position + 1].map(|at| self.number(at)));
        places.of_pairs(places.cells().step_by(2).map(pair), extremes, memory)
    }

    fn extremes(&self, places: Places) -> [u64; 2] {
        places.extremes().map(|position| self.number(position))
    }

    /// Returns the inline numbers, to be put [back](Self::put_back).
    pub(crate) fn in_place(&self) -> <E::Cells as Positions<E>>::InPlace {
        self.in_place.clone()
    }

    pub(crate) fn put_back(&mut self, in_place: <E::Cells as Positions<E>>::InPlace) {
        self.in_place = in_place;
    }

    /// Writes the stats of an event that is no `Histogram`, and whose cells are zero.
    #[cfg(feature = "serde")]
    pub(crate) fn write(&mut self, cells: EventCells, stats: Stats) {
        let (first, in_place) = (Self::first(), self.in_place.as_mut());
        cells.write(stats, |position, number| in_place[position - first] = number);
    }

    /// Writes the distribution of a `Histogram` event whose cells are zero.
    #[cfg(feature = "serde")]
    pub(crate) fn write_distribution(&mut self, places: Places, of: &Distribution) {
        let (first, in_place) = (Self::first(), self.in_place.as_mut());
        let mut pairs = Vec::new();
        places.write(of, |position, number| match position.checked_sub(first) {
            Some(at) => in_place[at] = number,
            None => pairs.push((position, number)),
        });
        self.add(&pairs);
    }
}

/// Adds up the pairs of equal places, which are in order. The count of a place saturates, as in a
/// distribution, and the sum wraps.
fn added_up(mut mine: &[Pair], mut others: &[Pair]) -> Vec<Pair> {
    let mut all: Vec<Pair> = Vec::with_capacity(mine.len().max(others.len()));
    loop {
        let next = match (mine, others) {
            ([], []) => return all,
            ([one, ..], [other, ..]) if one.position > other.position => others.split_off_first(),
            ([], _) => others.split_off_first(),
            _ => mine.split_off_first(),
        };
        match (next, all.last_mut()) {
            (Some(next), Some(last)) if last.position == next.position => {
                last.count = last.count.saturating_add(next.count);
                last.sum = last.sum.wrapping_add(next.sum);
            }
            (next, _) => all.extend(next),
        }
    }
}

impl<E: Events> Clone for Kept<E> {
    fn clone(&self) -> Kept<E> {
        Kept { in_place: self.in_place.clone(), pairs: self.pairs.clone() }
    }
}
