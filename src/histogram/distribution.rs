//! What was recorded, as a plain value.
//!
//! # Theorem
//!
//! Let `p` of a distribution be what stands for a value `v`, where `v` is in the range of the scale, of which the error is `e`. Then `p`
//! is `v`, give or take `e * v` and a half.
//!
//! # Why
//!
//! `v` is in some cell, and no value is beyond the extremes. So `v` is between `a` and `b`: the least and the greatest value of the
//! cell, or the extremes where they are narrower. Let `r = 2 a b / (a + b)`. Its distance from `a` is the same part of `a` as its
//! distance from `b` is of `b`: `(b - a) / (b + a)`; and to what lies between it is nearer. In the range `b / a` is at most what a cell
//! grows by, `g`, so that part is at most `e = (g - 1) / (g + 1)`. `p` is `r`, rounded to a whole number.
//!
//! Outside of the range the same rule has the smallest error that there can be; how large it is, the bounds say.

use std::fmt::{self, Debug, Display, Formatter};
use std::ops::RangeInclusive;

use crate::histogram::scale::Scale;

mod merge;
#[cfg(feature = "serde")]
mod serde;

/// What was recorded, as a plain value: from [`Histogram::distribution`](crate::Histogram::distribution) and its like. It does
/// not change.
///
/// Count, sum, cells, and of the cells what they bound: so a percentile is right to a *stated error*, and never further off. With `e` for
/// [`error_bound`](Scale::error_bound), what stands for a value in the scale's range is that value give or take `e` of it and a
/// half (since it is a whole number). Outside of the range, [`percentile_within`](Self::percentile_within) says how far off it may
/// be.
///
/// Distributions of several machines or minutes are added up by [`merge`](Self::merge), and then have the percentiles
/// of all that was recorded. Percentiles themselves cannot be added up or averaged, by no method: of two services of which one is
/// slow, the mean of their 99th percentiles is that of nothing. So keep distributions.
///
/// ```
/// use windrow::Histogram;
///
/// let latency = Histogram::new();
/// (1..=1_000).for_each(|micros| latency.record(micros * 1_000));
/// let now = latency.distribution();
/// assert_eq!((now.count(), now.sum()), (1_000, 500_500_000));
/// assert_eq!((now.min(), now.max()), (Some(1_000), Some(1_000_000)));
/// let [median, p99] = now.percentiles([0.5, 0.99]).map(Option::unwrap);
/// assert!((500_000.0 - median as f64).abs() <= 500_000.0 * now.error_bound() + 0.5);
/// assert!((990_000.0 - p99 as f64).abs() <= 990_000.0 * now.error_bound() + 0.5);
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Distribution {
    scale: Scale,
    /// Places of the scale and what was counted there, not zero, in the order of places.
    cells: Vec<(u16, u64)>,
    count: u64,
    sum: u64,
    /// No value is below the first or above the second. Each is in its cell: the first of `cells`, and the last. If there is no
    /// cell, zeros.
    extremes: (u64, u64),
}

/// A cell that was used.
#[derive(Clone, Copy)]
struct Used {
    /// The least and the greatest value that may be in it.
    bounds: (u64, u64),
    count: u64,
}

impl Distribution {
    /// Of what was counted at each place of `scale`. No value that was counted is below the first of `extremes` or above the second.
    pub(crate) fn new(
        scale: Scale,
        counts: impl IntoIterator<Item = u64>,
        sum: u64,
        extremes: (u64, u64),
    ) -> Distribution {
        let used = (0_u16..).zip(counts).filter(|(_, count)| *count > 0);
        Distribution::of_used(scale, used.collect(), sum, extremes)
    }

    /// As [`new`](Self::new), of the places that were used, in order.
    fn of_used(
        scale: Scale,
        cells: Vec<(u16, u64)>,
        sum: u64,
        extremes: (u64, u64),
    ) -> Distribution {
        let count = cells.iter().fold(0_u64, |all, (_, count)| all.wrapping_add(*count));
        let bounds =
            |cell: Option<&(u16, u64)>| cell.map(|(place, _)| scale.bounds(*place as usize));
        // The extremes may be those of more than was counted: what was drained, or is being recorded. The cells know better.
        let extremes = match (bounds(cells.first()), bounds(cells.last())) {
            (Some((least, _)), Some((_, greatest))) => {
                (extremes.0.max(least), extremes.1.min(greatest))
            }
            _ => (0, 0),
        };
        Distribution { scale, cells, count, sum, extremes }
    }

    /// Its cells' scale.
    ///
    /// ```
    /// # use windrow::{Histogram, Scale};
    /// assert_eq!(Histogram::new().distribution().scale(), Scale::DEFAULT);
    /// ```
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// How far off a percentile can be, as a part of the value: [`Scale::error_bound`].
    ///
    /// ```
    /// let distribution = windrow::Histogram::new().distribution();
    /// assert!(distribution.error_bound() < 0.0433);
    /// ```
    pub fn error_bound(&self) -> f64 {
        self.scale.error_bound()
    }

    /// How many values were recorded: what the cells add up to.
    ///
    /// ```
    /// let latency = windrow::Histogram::new();
    /// latency.record(2_000);
    /// assert_eq!(latency.distribution().count(), 1);
    /// ```
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The sum of the values, wrapping at 2^64.
    ///
    /// ```
    /// let latency = windrow::Histogram::new();
    /// latency.record(2_000);
    /// latency.record(3_000);
    /// assert_eq!(latency.distribution().sum(), 5_000);
    /// ```
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// Whether nothing was recorded.
    ///
    /// ```
    /// assert!(windrow::Distribution::default().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The mean of the values; `None` if there is none. As right as the [`sum`](Self::sum).
    ///
    /// ```
    /// let latency = windrow::Histogram::new();
    /// latency.record(2_000);
    /// latency.record(3_001);
    /// assert_eq!(latency.distribution().mean(), Some(2_500.5));
    /// ```
    pub fn mean(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.sum as f64 / self.count as f64)
    }

    /// The least value; `None` if there is none. No value is below it.
    ///
    /// Exact, but for what was recorded since a drain: then it is the least that can be in its cell. See
    /// [`Histogram`](crate::Histogram#minimum-and-maximum).
    ///
    /// ```
    /// let latency = windrow::Histogram::new();
    /// latency.record(2_000);
    /// latency.record(3_000);
    /// assert_eq!(latency.distribution().min(), Some(2_000));
    /// ```
    pub fn min(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.extremes.0)
    }

    /// The greatest value; `None` if there is none. No value is above it. As exact as [`min`](Self::min).
    ///
    /// ```
    /// let latency = windrow::Histogram::new();
    /// latency.record(2_000);
    /// latency.record(3_000);
    /// assert_eq!(latency.distribution().max(), Some(3_000));
    /// ```
    pub fn max(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.extremes.1)
    }

    /// How many values are below the scale's range, zeros included.
    ///
    /// ```
    /// let latency = windrow::Histogram::new(); // from 513 ns
    /// latency.record(0);
    /// latency.record(100);
    /// assert_eq!(latency.distribution().below(), 2);
    /// ```
    pub fn below(&self) -> u64 {
        self.counted_at(0)
    }

    /// How many values are above the scale's range.
    ///
    /// ```
    /// let latency = windrow::Histogram::new(); // to 68.7 s
    /// latency.record(100_000_000_000);
    /// assert_eq!(latency.distribution().above(), 1);
    /// ```
    pub fn above(&self) -> u64 {
        self.counted_at(self.scale.places() - 1)
    }

    fn counted_at(&self, place: usize) -> u64 {
        let found = self.cells.binary_search_by_key(&place, |(place, _)| *place as usize);
        found.map_or(0, |at| self.cells[at].1)
    }

    /// What stands for the value below which, or at which, the part `q` of all values is: for 0.99 the 99th percentile.
    ///
    /// Of `n` values in order it is the one numbered `q * n`, rounded up, counted from 1: for 0.5 the lower of two medians. What is
    /// returned is that value give or take the [error](Self::error_bound), and never beyond the extremes; so where all values are the same
    /// it is exact. (For the least and the greatest, which are better known, there are [`min`](Self::min) and [`max`](Self::max).)
    /// `None` if there is no value, or if `q` is not a number from 0 to 1: 99 is not the 99th percentile.
    ///
    /// Costs a walk over the cells that were used.
    ///
    /// ```
    /// let latency = windrow::Histogram::new();
    /// [2_000, 2_000, 2_000, 90_000].iter().for_each(|nanos| latency.record(*nanos));
    /// let now = latency.distribution();
    /// let median = now.percentile(0.5).unwrap();
    /// assert!(median.abs_diff(2_000) as f64 <= 2_000.0 * now.error_bound() + 0.5);
    /// assert_eq!((now.percentile(99.0), now.percentile(f64::NAN)), (None, None));
    /// ```
    pub fn percentile(&self, q: f64) -> Option<u64> {
        self.percentile_within(q).map(middle)
    }

    /// Several [percentiles](Self::percentile), in any order, by one walk.
    ///
    /// ```
    /// let latency = windrow::Histogram::new();
    /// (1..=100).for_each(|millis| latency.record(millis * 1_000_000));
    /// let now = latency.distribution();
    /// let all = now.percentiles([0.5, 0.9, 0.99]);
    /// assert_eq!(all, [0.5, 0.9, 0.99].map(|q| now.percentile(q)));
    /// ```
    pub fn percentiles<const N: usize>(&self, q: [f64; N]) -> [Option<u64>; N] {
        self.all_within(q).map(|bounds| bounds.map(middle))
    }

    /// The least and the greatest that the value of a [percentile](Self::percentile) can be. That value is certainly between them,
    /// also outside of the scale's range.
    ///
    /// ```
    /// let latency = windrow::Histogram::new(); // to 68.7 s
    /// latency.record(2_000);
    /// latency.record(70_000_000_000);
    /// latency.record(90_000_000_000);
    /// let bounds = latency.distribution().percentile_within(0.5).unwrap();
    /// assert!(bounds.contains(&70_000_000_000));
    /// assert_eq!(bounds, (1 << 36) + 1..=90_000_000_000);
    /// ```
    pub fn percentile_within(&self, q: f64) -> Option<RangeInclusive<u64>> {
        let [bounds] = self.all_within([q]);
        bounds
    }

    fn all_within<const N: usize>(&self, q: [f64; N]) -> [Option<RangeInclusive<u64>>; N] {
        let ranks = q.map(|q| self.rank(q));
        let mut found = [const { None }; N];
        let mut passed = 0_u64;
        for cell in self.used() {
            let end = passed.wrapping_add(cell.count);
            for (found, rank) in found.iter_mut().zip(ranks) {
                if rank.is_some_and(|rank| passed < rank && rank <= end) {
                    *found = Some(cell.bounds.0..=cell.bounds.1);
                }
            }
            passed = end;
        }
        found
    }

    /// The number of the value, from 1 on, that the part `q` asks for.
    fn rank(&self, q: f64) -> Option<u64> {
        if self.is_empty() || !(0.0..=1.0).contains(&q) {
            return None;
        }
        // Of a fraction such as 0.07 the nearest number is above it, and 7 of 100 values would be 8. So take the one before.
        #[allow(clippy::cast_sign_loss)] // it saturates
        let rank = (q.next_down() * self.count as f64).ceil() as u64;
        Some(rank.clamp(1, self.count))
    }

    /// How many values are at most `value`: the least and the greatest that it can be.
    ///
    /// Exact (both are the same) where `value` is the end of a cell, such as a power of two in the scale's range, and
    /// everywhere but in the cells. Else it is uncertain by what the cell of `value` holds.
    ///
    /// ```
    /// let latency = windrow::Histogram::new();
    /// [600, 1_000, 1_024, 1_030, 5_000].iter().for_each(|nanos| latency.record(*nanos));
    /// let now = latency.distribution();
    /// assert_eq!(now.count_up_to(1_024), 3..=3); // the end of a cell
    /// assert_eq!(now.count_up_to(1_026), 3..=4); // in the middle of one
    /// assert_eq!(now.count_up_to(5_000), 5..=5);
    /// ```
    pub fn count_up_to(&self, value: u64) -> RangeInclusive<u64> {
        let counted = |at_most: fn((u64, u64)) -> u64| {
            let cells = self.used().filter(|cell| at_most(cell.bounds) <= value);
            cells.fold(0_u64, |all, cell| all.wrapping_add(cell.count))
        };
        counted(|(_, greatest)| greatest)..=counted(|(least, _)| least)
    }

    /// How many values are above `value`: the least and the greatest that it can be. As exact as
    /// [`count_up_to`](Self::count_up_to).
    ///
    /// ```
    /// let latency = windrow::Histogram::new();
    /// [600, 1_000, 1_024, 1_030, 5_000].iter().for_each(|nanos| latency.record(*nanos));
    /// assert_eq!(latency.distribution().count_above(4_096), 1..=1);
    /// ```
    pub fn count_above(&self, value: u64) -> RangeInclusive<u64> {
        let up_to = self.count_up_to(value);
        self.count.wrapping_sub(*up_to.end())..=self.count.wrapping_sub(*up_to.start())
    }

    /// The cells that were used, from below: the values that each holds, and how many they are.
    ///
    /// The first may be what is below the scale's range, which begins at 0; and the last what is above it, up to 2^64 - 1.
    ///
    /// ```
    /// let latency = windrow::Histogram::new();
    /// [600, 1_000, 1_024, 90_000_000_000].iter().for_each(|nanos| latency.record(*nanos));
    /// let now = latency.distribution();
    /// let cells: Vec<_> = now.cells().collect();
    /// assert_eq!(cells, [(559..=608, 1), (940..=1_024, 2), ((1 << 36) + 1..=u64::MAX, 1)]);
    /// ```
    pub fn cells(&self) -> impl Iterator<Item = (RangeInclusive<u64>, u64)> {
        self.cells.iter().map(|(place, count)| {
            let (least, greatest) = self.scale.bounds(*place as usize);
            (least..=greatest, *count)
        })
    }

    /// The cells that were used, no wider than the extremes.
    fn used(&self) -> impl Iterator<Item = Used> {
        self.cells.iter().map(|(place, count)| {
            let (least, greatest) = self.scale.bounds(*place as usize);
            let bounds = (least.max(self.extremes.0), greatest.min(self.extremes.1));
            Used { bounds, count: *count }
        })
    }
}

/// The number between two whose relative distance from both is the same, rounded.
fn middle(bounds: RangeInclusive<u64>) -> u64 {
    let (least, greatest) = (u128::from(*bounds.start()), u128::from(*bounds.end()));
    let both = (least + greatest).max(1); // of two zeros it is zero
    (least + (least * (greatest - least) + both / 2) / both) as u64
}

/// Shows count and percentiles.
///
/// ```
/// let sizes = windrow::Histogram::new();
/// assert_eq!(sizes.distribution().to_string(), "none");
/// sizes.record(4_000);
/// sizes.record(4_000);
/// assert_eq!(sizes.distribution().to_string(), "2: 4000 to 4000, half to 4000, 99 % to 4000");
/// ```
impl Display for Distribution {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let [Some(half), Some(most)] = self.percentiles([0.5, 0.99]) else { return f.pad("none") };
        let (count, (min, max)) = (self.count, self.extremes);
        write!(f, "{count}: {min} to {max}, half to {half}, 99 % to {most}")
    }
}

/// Shows all of it.
impl Debug for Distribution {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Distribution");
        shown.field("scale", &self.scale).field("count", &self.count).field("sum", &self.sum);
        shown.field("extremes", &self.extremes).field("cells", &self.cells().collect::<Vec<_>>());
        shown.finish()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_as_far_from_both_ends() {
        assert_eq!([middle(0..=0), middle(0..=9), middle(7..=7)], [0, 0, 7]);
        assert_eq!(middle(100..=300), 150);
        assert_eq!(middle(3..=4), 3); // 3.43
        assert_eq!(middle(u64::MAX - 2..=u64::MAX), u64::MAX - 1);
        assert_eq!(middle(1 << 63..=u64::MAX), 12_297_829_382_473_034_410);
    }
}
