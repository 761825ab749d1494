//! What was recorded, as a plain value.

use std::fmt::{self, Debug, Display, Formatter};
use std::ops::RangeInclusive;

use crate::event::Stats;
use crate::histogram::scale::Scale;

mod buckets;
mod merge;
mod quantile;
#[cfg(feature = "serde")]
mod serde;

/// What was recorded, as a plain value: from
/// [`Histogram::distribution`](crate::Histogram::distribution) and its like. It does not change.
///
/// Count, sum, cells, and of the cells what they bound: so a percentile is right to a *stated
/// error*, and never further off. With `e` for [`error_bound`](Scale::error_bound), what stands for
/// a value in the scale's range is that value give or take `e` of it and a half (since it is a
/// whole number). Outside of the range, [`quantile_within`](Self::quantile_within) says how far off
/// it may be.
///
/// Distributions of several machines or minutes are added up by [`merge`](Self::merge), and then
/// have the percentiles of all that was recorded. An empty distribution is neutral: so a sum begins
/// with [`default`](Distribution::default). Percentiles themselves cannot be added up or averaged,
/// by no method: of two services of which one is slow, the mean of their 99th percentiles is that
/// of nothing. So keep distributions.
///
/// Counts, of a cell and of all cells, stop at 2^64 - 1; the sum wraps at 2^64.
///
/// ```
/// use windrow::Histogram;
///
/// let latency = Histogram::new();
/// (1..=1_000).for_each(|micros| latency.record(micros * 1_000));
/// let now = latency.distribution();
/// assert_eq!((now.count(), now.sum()), (1_000, 500_500_000));
/// assert_eq!((now.min(), now.max()), (Some(1_000), Some(1_000_000)));
/// let [median, p99] = now.quantiles([0.5, 0.99]).map(Option::unwrap);
/// assert!((500_000.0 - median as f64).abs() <= 500_000.0 * now.error_bound() + 0.5);
/// assert!((990_000.0 - p99 as f64).abs() <= 990_000.0 * now.error_bound() + 0.5);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Distribution {
    scale: Scale,
    /// Places of the scale and what was counted there, not zero, in the order of places.
    cells: Vec<(u16, u64)>,
    count: u64,
    sum: u64,
    /// No value is below the first or above the second. Each is in its cell: the first of `cells`,
    /// and the last. If there is no cell, zeros.
    extremes: (u64, u64),
    /// Whether the extremes are the least and the greatest of the values, and not only in their
    /// cells. If there is no cell, true.
    exact: bool,
}

/// A cell that was used.
#[derive(Clone, Copy)]
struct Used {
    /// The least and the greatest value that may be in it.
    bounds: (u64, u64),
    count: u64,
}

impl Distribution {
    /// Of what was counted at each place of `scale`. No value that was counted is below the first
    /// of `extremes` or above the second; if they are `exact`, there are such values.
    pub(crate) fn new(
        scale: Scale,
        counts: impl IntoIterator<Item = u64>,
        sum: u64,
        extremes: (u64, u64),
        exact: bool,
    ) -> Distribution {
        let used = (0_u16..).zip(counts).filter(|(_, count)| *count > 0);
        Distribution::of_used(scale, used.collect(), sum, extremes, exact)
    }

    /// As [`new`](Self::new), of the places that were used, in order.
    pub(crate) fn of_used(
        scale: Scale,
        cells: Vec<(u16, u64)>,
        sum: u64,
        extremes: (u64, u64),
        exact: bool,
    ) -> Distribution {
        let count = cells.iter().fold(0_u64, |all, (_, count)| all.saturating_add(*count));
        let place = |cell: &(u16, u64)| usize::from(cell.0);
        let used = cells.first().map(place).zip(cells.last().map(place));
        let extremes = used.map_or((0, 0), |used| scale.within(used, extremes));
        let exact = exact || cells.is_empty();
        Distribution { scale, cells, count, sum, extremes, exact }
    }

    /// Its cells' scale.
    ///
    /// ```
    /// # use windrow::{Histogram, histogram::Scale};
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

    /// Returns how many values were recorded: what the cells add up to, or 2^64 - 1 if that is
    /// less.
    ///
    /// ```
    /// let latency = windrow::Histogram::new();
    /// latency.record(2_000);
    /// assert_eq!(latency.distribution().count(), 1);
    /// ```
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the sum of the values, wrapping at 2^64.
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
    /// assert!(windrow::histogram::Distribution::default().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Returns the mean of the values; `None` if there is none. It is as right as the
    /// [`sum`](Self::sum), and always finite.
    ///
    /// ```
    /// let latency = windrow::Histogram::new();
    /// latency.record(2_000);
    /// latency.record(3_001);
    /// assert_eq!(latency.distribution().mean(), Some(2_500.5));
    /// ```
    pub fn mean(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.sum as f64 / self.total() as f64)
    }

    /// Returns the least value; `None` if there is none. No value is below it.
    ///
    /// It is exact where [`has_exact_extremes`](Self::has_exact_extremes) says so. Otherwise it is
    /// the least that can be in its cell.
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

    /// Returns the greatest value; `None` if there is none. No value is above it. As exact as
    /// [`min`](Self::min).
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

    /// Returns whether [`min`](Self::min) and [`max`](Self::max) are values that were recorded, and
    /// not only bounds of them.
    ///
    /// They are, but for what a [`Histogram`](crate::Histogram#minimum-and-maximum) recorded since
    /// a drain, for what a window recorded [since a moment](crate::snapshot::Since::distribution),
    /// for what one counted [since](Self::since) an earlier one, and for what such distributions
    /// were [merged](Self::merge) into. Those of no values are exact. (Of a read while others
    /// record they may be those of a record that is being made and not yet counted, as the sum may
    /// be.)
    ///
    /// ```
    /// let latency = windrow::Histogram::new();
    /// latency.record(2_000);
    /// assert!(latency.take().has_exact_extremes());
    /// latency.record(2_010);
    /// let since = latency.distribution(); // that 2000 was drained is not known any more
    /// assert_eq!((since.has_exact_extremes(), since.min()), (false, Some(2_000)));
    /// ```
    pub fn has_exact_extremes(&self) -> bool {
        self.exact
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

    /// How many values are at most `value`: the least and the greatest that it can be.
    ///
    /// Exact (both are the same) where `value` is the end of a cell, such as a power of two in the
    /// scale's range, and everywhere but in the cells. Else it is uncertain by what the cell of
    /// `value` holds.
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
        let up_to = |is: fn((u64, u64)) -> u64| self.counted(|bounds| is(bounds) <= value);
        up_to(|(_, greatest)| greatest)..=up_to(|(least, _)| least)
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
        let above = |is: fn((u64, u64)) -> u64| self.counted(|bounds| is(bounds) > value);
        above(|(least, _)| least)..=above(|(_, greatest)| greatest)
    }

    /// How many values are in the cells of which that is true.
    fn counted(&self, is_counted: impl Fn((u64, u64)) -> bool) -> u64 {
        let cells = self.used().filter(|cell| is_counted(cell.bounds));
        cells.fold(0_u64, |all, cell| all.saturating_add(cell.count))
    }

    /// Returns the cells that were used, from below: the values that each holds, and how many they
    /// are.
    ///
    /// The first may be what is below the scale's range, which begins at 0; and the last what is
    /// above it, up to 2^64 - 1.
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

    /// Count, sum and extremes.
    pub(crate) fn stats(&self) -> Stats {
        Stats { count: self.count, sum: self.sum, min: self.min(), max: self.max() }
    }

    /// Its memory, of which nothing is used.
    pub(crate) fn into_memory(mut self) -> Vec<(u16, u64)> {
        self.cells.clear();
        self.cells
    }

    /// Gives back the memory that it does not use.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.cells.shrink_to_fit();
    }

    /// The places of the scale that were used, in order, and how many values each has.
    #[cfg(feature = "serde")]
    pub(crate) fn used_places(&self) -> impl Iterator<Item = (u16, u64)> {
        self.cells.iter().copied()
    }

    /// What the cells add up to. They are a few thousand at most, so this does not overflow.
    fn total(&self) -> u128 {
        self.cells.iter().map(|(_, count)| u128::from(*count)).sum()
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

/// Nothing, by the [default scale](Scale::DEFAULT). To [`merge`](Distribution::merge) into it is to
/// take over the other's scale.
impl Default for Distribution {
    fn default() -> Distribution {
        Distribution::of_used(Scale::DEFAULT, Vec::new(), 0, (0, 0), true)
    }
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
        let [Some(half), Some(most)] = self.quantiles([0.5, 0.99]) else { return f.pad("none") };
        let (count, (min, max)) = (self.count, self.extremes);
        write!(f, "{count}: {min} to {max}, half to {half}, 99 % to {most}")
    }
}

/// Shows all of it.
impl Debug for Distribution {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Distribution");
        shown.field("scale", &self.scale).field("count", &self.count).field("sum", &self.sum);
        shown.field("extremes", &self.extremes).field("exact", &self.exact);
        shown.field("cells", &self.cells().collect::<Vec<_>>());
        shown.finish()
    }
}
