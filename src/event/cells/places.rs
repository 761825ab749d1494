//! The cells of a `Histogram` event, and reading distributions from them.

use std::ops::Range;

use super::{Addends, Places};
use crate::event::stats::Stats;
use crate::histogram::Distribution;

impl Places {
    /// Returns the positions of a number's pair, and of the maximum.
    #[inline(always)]
    #[allow(clippy::inline_always)] // on the path of a record
    pub(crate) fn of_number(self, number: u64) -> (usize, usize) {
        let pair = usize::from(self.pairs) + 2 * self.scale.place(number);
        (pair, self.extremes.into())
    }

    /// Returns the counts of all places.
    pub(crate) fn counts(self) -> Addends {
        Addends { first: self.pairs.into(), count: self.scale.places() }
    }

    /// Returns the sums of all places.
    pub(crate) fn sums(self) -> Addends {
        Addends { first: usize::from(self.pairs) + 1, ..self.counts() }
    }

    /// Returns the positions of the maximum and of the complement of the minimum.
    pub(crate) fn extremes(self) -> [usize; 2] {
        [self.extremes, self.extremes + 1].map(usize::from)
    }

    /// Returns the positions of the pairs of all places.
    pub(crate) fn cells(self) -> Range<usize> {
        let first = usize::from(self.pairs);
        first..first + 2 * self.scale.places()
    }

    /// Returns the distribution with extremes that are only bounds, from the cells.
    pub(crate) fn without_extremes(self, read: impl FnMut(usize) -> u64) -> Distribution {
        let (counts, sum) = self.counts_and_sum(read);
        Distribution::new(self.scale, counts, sum, (0, u64::MAX), false)
    }

    fn counts_and_sum(self, mut read: impl FnMut(usize) -> u64) -> (Vec<u64>, u64) {
        let counts = self.counts().positions().map(&mut read).collect();
        (counts, total(self.sums(), read))
    }

    /// Returns the distribution's count, sum and extremes, without allocating.
    pub(crate) fn stats(self, mut read: impl FnMut(usize) -> u64) -> Stats {
        let (mut count, mut used) = (0_u64, None);
        for (place, position) in self.counts().positions().enumerate() {
            let number = read(position);
            count = count.saturating_add(number);
            if number > 0 {
                used = Some((used.map_or(place, |(first, _)| first), place));
            }
        }
        let sum = total(self.sums(), &mut read);
        let [greatest, inverse] = self.extremes().map(read);
        let extremes = used.map(|used| self.scale.within(used, (!inverse, greatest)));
        Stats { count, sum, min: extremes.map(|of| of.0), max: extremes.map(|of| of.1) }
    }

    /// Returns the stats with this count and sum, from the cells of the extremes.
    pub(crate) fn stats_of([count, sum]: [u64; 2], [greatest, inverse]: [u64; 2]) -> Stats {
        let recorded = |value| (count > 0).then_some(value);
        Stats { count, sum, min: recorded(!inverse), max: recorded(greatest) }
    }

    /// Returns the distribution of these pairs and cells of the extremes.
    #[inline]
    pub(crate) fn of(self, pairs: &[u64], extremes: [u64; 2]) -> Distribution {
        let [greatest, inverse] = extremes;
        // Most places are not used, so eight are checked at a time.
        let (eights, rest) = pairs.as_chunks::<16>();
        let is_used = |some: &[u64; 16]| some.iter().fold(0, |all, number| all | number) != 0;
        let places = 8 * eights.iter().filter(|some| is_used(some)).count() + rest.len() / 2;
        let (mut used, mut sum) = (Vec::with_capacity(places), 0_u64);
        let mut add = |first: u16, some: &[u64]| {
            for (place, [count, more]) in (first..).zip(some.as_chunks::<2>().0) {
                if *count > 0 {
                    used.push((place, *count));
                }
                sum = sum.wrapping_add(*more);
            }
        };
        for (first, some) in (0..).step_by(8).zip(eights).filter(|(_, some)| is_used(some)) {
            add(first, some);
        }
        add(8 * eights.len() as u16, rest);
        Distribution::of_used(self.scale, used, sum, (!inverse, greatest), true)
    }

    /// Returns the distribution of pairs given as position, count and sum, in order, in the memory
    /// of another one. `extremes` is called behind the last pair.
    pub(crate) fn of_pairs(
        self,
        pairs: impl Iterator<Item = (usize, [u64; 2])>,
        extremes: impl FnOnce() -> [u64; 2],
        memory: Distribution,
    ) -> Distribution {
        let (mut used, mut sum) = (memory.into_memory(), 0_u64);
        let is_new = used.capacity() == 0;
        for (position, [count, more]) in pairs {
            if count > 0 {
                used.push(((position - usize::from(self.pairs)) as u16 / 2, count));
            }
            sum = sum.wrapping_add(more);
        }
        if is_new {
            used.shrink_to_fit();
        }
        let [greatest, inverse] = extremes();
        Distribution::of_used(self.scale, used, sum, (!inverse, greatest), true)
    }

    /// Returns the stats of that distribution, without allocating.
    pub(crate) fn stats_of_pairs(
        self,
        pairs: impl Iterator<Item = (usize, [u64; 2])>,
        extremes: impl FnOnce() -> [u64; 2],
    ) -> Stats {
        let (mut count, mut sum, mut used) = (0_u64, 0_u64, None);
        for (position, [number, more]) in pairs {
            let place = (position - usize::from(self.pairs)) / 2;
            if number > 0 {
                used = Some((used.map_or(place, |(first, _)| first), place));
            }
            (count, sum) = (count.saturating_add(number), sum.wrapping_add(more));
        }
        let [greatest, inverse] = extremes();
        let extremes = used.map(|used| self.scale.within(used, (!inverse, greatest)));
        Stats { count, sum, min: extremes.map(|of| of.0), max: extremes.map(|of| of.1) }
    }

    /// Writes a distribution of the same scale into these cells, which are all zero: by positions,
    /// in order.
    #[cfg(feature = "serde")]
    pub(crate) fn write(self, of: &Distribution, mut write: impl FnMut(usize, u64)) {
        // The first used place gets the sum: no read shows which place has it.
        let mut sum = Some(of.sum()).filter(|sum| *sum > 0);
        for (place, count) in of.used_places() {
            let position = usize::from(self.pairs + 2 * place);
            write(position, count);
            if let Some(sum) = sum.take() {
                write(position + 1, sum);
            }
        }
        if let Some(sum) = sum {
            write(self.sums().first, sum);
        }
        if let (Some(min), Some(max)) = (of.min(), of.max()) {
            let [greatest, inverse] = self.extremes();
            write(greatest, max);
            write(inverse, !min);
        }
    }
}

/// Returns the sum of the cells as `read` returns them.
fn total(of: Addends, read: impl FnMut(usize) -> u64) -> u64 {
    of.positions().map(read).fold(0, u64::wrapping_add)
}
