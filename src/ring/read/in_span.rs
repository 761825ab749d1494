//! Reading spans: what their buckets hold together.

use std::ops::Range;

use crate::event::Stats;
use crate::event::cells::{Addends, EventCells, Places};
use crate::event::layout::BucketLayout;
use crate::histogram::Distribution;
use crate::ring::read::at_once::{self, Part};
use crate::ring::read::span::Span;
use crate::ring::read::view::View;

impl<'g> View<'g> {
    /// Returns what a span holds at a position.
    pub(crate) fn total_in(&self, span: Span<'g>, position: usize) -> u64 {
        if let Some(tier) = self.in_tier(span) {
            let total = tier.number(position);
            tier.end();
            return total;
        }
        let Some((oldest, newest)) = span.starts() else { return 0 };
        let at_once = match self.part(span) {
            Some(Part::Whole) => return self.total(position),
            Some(part) => at_once::total(self, part, position),
            None => None,
        };
        at_once.unwrap_or_else(|| self.total_between(oldest, newest, position))
    }

    /// Returns what a span of the ring's own buckets holds at two extremes of the same pairs.
    fn extremes_in(&self, span: Span<'g>, extremes: [usize; 2]) -> [u64; 2] {
        let between = |(oldest, newest)| self.extremes_between(oldest, newest, extremes);
        span.starts().map_or([0; 2], between)
    }

    /// Returns what a span holds in all of these cells together: in one cell, or in some wide ones.
    pub(crate) fn sum_in(&self, span: Span<'g>, cells: Addends) -> u64 {
        if cells.count == 1 {
            return self.total_in(span, cells.first);
        }
        let half = cells.first % 2; // of each pair
        let pairs = cells.first - half;
        let pairs = pairs..pairs + 2 * cells.count;
        if let Some(tier) = self.in_tier(span) {
            let numbers = cells.positions().map(|position| tier.number(position));
            let sum = numbers.fold(0, u64::wrapping_add);
            tier.end();
            return self.layout().without_pending(cells.first, sum);
        }
        let part = self.part(span);
        let at_once = part.and_then(|part| at_once::pairs(self, part, pairs.clone()));
        at_once.unwrap_or_else(|| self.pairs_by_bucket(span, pairs, []).0)[half]
    }

    /// Returns the two sums of these wide pairs in a span, and the greatest values at some
    /// positions that rise. Each bucket is read as a whole or not at all. Of each pair, the count
    /// is read first.
    fn pairs_by_bucket<const N: usize>(
        &self,
        span: Span<'g>,
        pairs: Range<usize>,
        rising: [usize; N],
    ) -> ([u64; 2], [u64; N]) {
        let (mut sums, mut greatest) = ([0_u64; 2], [0; N]);
        let Some((oldest, newest)) = span.starts() else { return (sums, greatest) };
        self.each(oldest, newest, |_, data| {
            let mut found = sums;
            self.each_number(data, pairs.clone(), |at, number| {
                found[at % 2] = found[at % 2].wrapping_add(number);
            });
            let risen = rising.map(|position| self.number(data, position));
            if self.is_valid(data) {
                sums = found;
                greatest.iter_mut().zip(risen).for_each(|(all, one)| *all = one.max(*all));
            }
        });
        BucketLayout::pairs_without_pending(&mut sums);
        (sums, greatest)
    }

    /// Returns what a span holds at each position of these wide pairs, and the greatest values at
    /// some positions that rise. Each bucket is read as a whole or not at all.
    fn numbers_by_bucket<const N: usize>(
        &self,
        span: Span<'g>,
        pairs: Range<usize>,
        rising: [usize; N],
    ) -> (Vec<u64>, [u64; N]) {
        let (mut numbers, mut greatest) = (vec![0_u64; pairs.len()], [0; N]);
        let Some((oldest, newest)) = span.starts() else { return (numbers, greatest) };
        let mut found = Vec::new();
        self.each(oldest, newest, |_, data| {
            found.clear();
            self.each_number(data, pairs.clone(), |at, number| found.push((at, number)));
            let risen = rising.map(|position| self.number(data, position));
            if self.is_valid(data) {
                for (position, number) in &found {
                    let all = &mut numbers[position - pairs.start];
                    *all = all.wrapping_add(*number);
                }
                greatest.iter_mut().zip(risen).for_each(|(all, one)| *all = one.max(*all));
            }
        });
        (numbers, greatest)
    }

    /// Returns the statistics of an event in a span.
    pub(crate) fn stats_in(&self, span: Span<'g>, cells: EventCells) -> Stats {
        if let Some(places) = cells.places() {
            return self.stats_of_places(span, places);
        }
        if let Some(tier) = self.in_tier(span) {
            let stats = cells.stats(|position| tier.number(position));
            tier.end();
            return stats;
        }
        let stats = match cells.of_value() {
            Some((sums, extremes)) => {
                let sums = sums.map(|position| self.total_in(span, position));
                Places::stats_of(sums, self.extremes_in(span, extremes))
            }
            None => cells.stats(|position| self.total_in(span, position)),
        };
        // Each number was read from all buckets before the next number: of a bucket that has left
        // in between, some numbers would be there and some not.
        if self.is_overtaken() { self.stats_by_bucket(span, cells) } else { stats }
    }

    /// Returns the statistics of a `Histogram` event in a span. Its counts are read first.
    fn stats_of_places(&self, span: Span<'g>, places: Places) -> Stats {
        let (positions, extremes) = (places.cells(), places.extremes());
        if let Some(tier) = self.in_tier(span) {
            let stats = places.stats(|position| tier.number(position));
            tier.end();
            return stats;
        }
        if let Some(part) = self.part(span)
            && let Some(sums) = at_once::pairs(self, part, positions.clone())
        {
            let extremes = self.extremes_in(span, extremes);
            if !self.is_overtaken() {
                return Places::stats_of(sums, extremes); // as in `stats_in`
            }
        }
        let (sums, extremes) = self.pairs_by_bucket(span, positions, extremes);
        Places::stats_of(sums, extremes)
    }

    /// Reads as [`stats_in`](Self::stats_in) does, each bucket as a whole or not at all.
    #[cold]
    fn stats_by_bucket(&self, span: Span<'g>, cells: EventCells) -> Stats {
        let mut all = Stats::default();
        let Some((oldest, newest)) = span.starts() else { return all };
        self.each(oldest, newest, |_, data| {
            let bucket = cells.stats(|position| self.number(data, position));
            if self.is_valid(data) {
                all = all.with(bucket);
            }
        });
        all
    }

    /// Returns the distribution of a `Histogram` event in a span. Its counts are read first.
    pub(crate) fn distribution_in(&self, span: Span<'g>, places: Places) -> Distribution {
        let (positions, extremes) = (places.cells(), places.extremes());
        if let Some(tier) = self.in_tier(span) {
            let numbers: Vec<u64> = positions.map(|position| tier.number(position)).collect();
            let extremes = extremes.map(|position| tier.number(position));
            tier.end();
            return places.of(&numbers, extremes);
        }
        if let Some(part) = self.part(span) {
            let mut numbers = vec![0; positions.len()];
            if at_once::totals(self, part, positions.clone(), &mut numbers).is_some() {
                let extremes = self.extremes_in(span, extremes);
                if !self.is_overtaken() {
                    return places.of(&numbers, extremes); // as in `stats_in`
                }
            }
        }
        let (numbers, extremes) = self.numbers_by_bucket(span, positions, extremes);
        places.of(&numbers, extremes)
    }

    /// Returns what a span holds at every position. `zero` has a cell for each, all zero.
    pub(crate) fn cells_in<T: AsMut<[u64]> + Clone>(&self, span: Span<'g>, zero: &T) -> T {
        if let Some(tier) = self.in_tier(span) {
            let mut cells = zero.clone();
            for (position, cell) in cells.as_mut().iter_mut().enumerate() {
                *cell = tier.number(position);
            }
            tier.end();
            return cells;
        }
        let at_once = self.cells_at_once(span, zero.clone());
        at_once.unwrap_or_else(|| self.cells_by_bucket(span, zero))
    }

    /// Reads every additive position at once, and then walks over those that rise: the two extremes
    /// of a kind of value by one walk. In this order, because a record raises the extremes first.
    fn cells_at_once<T: AsMut<[u64]>>(&self, span: Span<'g>, mut cells: T) -> Option<T> {
        let part = self.part(span)?;
        let additive = self.layout().additive();
        let (sums, rising) = cells.as_mut().split_at_mut(additive);
        let (wide, others) = sums.split_at_mut(self.layout().wide());
        if !wide.is_empty() {
            at_once::totals(self, part, 0..wide.len(), wide)?;
        }
        for (position, cell) in (wide.len()..).zip(others) {
            *cell = at_once::total(self, part, position)?;
        }
        let (bounds, alone) = rising.split_at_mut(self.layout().bounds());
        for (first, two) in (additive..).step_by(2).zip(bounds.as_chunks_mut::<2>().0) {
            *two = self.extremes_in(span, [first, first + 1]);
        }
        for (position, cell) in (additive + bounds.len()..).zip(alone) {
            *cell = self.total_in(span, position);
        }
        // As in `stats_in`.
        (!self.is_overtaken()).then_some(cells)
    }

    /// Reads all positions in one walk, each bucket as a whole or not at all.
    fn cells_by_bucket<T: AsMut<[u64]> + Clone>(&self, span: Span<'g>, zero: &T) -> T {
        let mut all = zero.clone();
        let Some((oldest, newest)) = span.starts() else { return all };
        self.each(oldest, newest, |_, data| {
            let mut with = all.clone();
            let (wide, others) = with.as_mut().split_at_mut(self.layout().wide());
            self.each_number(data, 0..wide.len(), |position, number| {
                wide[position] = wide[position].wrapping_add(number);
            });
            for (position, cell) in (wide.len()..).zip(others) {
                self.merge(data, position, cell);
            }
            if self.is_valid(data) {
                all = with;
            }
        });
        all
    }

    /// Returns what the sliding interval of `nanos` holds in these cells together, and its length
    /// in nanoseconds: whole buckets, and one less than all at most. The interval begins within a
    /// bucket, of which it takes the share that it covers. In a tier, if that bucket's prefix is
    /// not known, it takes the share of one of the buckets that are read together with it. `number`
    /// converts a sum.
    pub(crate) fn weighted(
        &self,
        nanos: u64,
        cells: Addends,
        number: impl Fn(u64) -> f64,
    ) -> (f64, u64) {
        let source = self.source(nanos);
        let (geometry, newest) = (source.geometry, self.newest_of(source));
        let buckets = source.covering(nanos).min(geometry.buckets() - 1);
        let span = self.span(source, Some(newest), buckets);
        let mut sum = number(self.sum_in(span, cells));
        let before = span.starts().and_then(|(oldest, _)| oldest.checked_sub(span.length()));
        if before.is_some() {
            let share = 1.0 - (self.now() - newest) as f64 / span.length() as f64;
            let partial = self.span(source, before, 1);
            sum += share * number(self.sum_in(partial, cells)) / partial.buckets.max(1) as f64;
        }
        (sum, span.covers())
    }
}
