//! Distributions: a histogram's counts as a plain value.

use std::fmt::{self, Debug, Display, Formatter};
use std::ops::RangeInclusive;

use crate::histogram::scale::Scale;

mod buckets;
mod merge;
mod quantile;
#[cfg(feature = "serde")]
mod serde;

/// A distribution of values, with counts, quantiles and percentiles, as a plain value: from
/// [`Histogram::distribution`](crate::Histogram::distribution),
/// [`SlidingWindow::distribution`](crate::SlidingWindow::distribution) and similar methods.
///
/// It has the sum and the count of each cell. A percentile is estimated from the bounds of its
/// cell, so it is right to a *stated error*. With `e` for [`error_bound`](Scale::error_bound), the
/// estimate of a value `v` in the scale's range differs from `v` by at most `e * v` and a half
/// (because it is rounded to a whole number). For a value outside of the range, it is a number
/// between the range's end and the extreme on that side.
///
/// [`merge`](Self::merge) adds up distributions of several machines or minutes; the result has the
/// percentiles of all their values. An empty distribution is neutral, so a sum can begin with
/// [`default`](Distribution::default). Percentiles themselves cannot be added up or averaged by any
/// method: if one of two services is slow, the mean of their 99th percentiles is the percentile of
/// neither, nor of both together. So keep distributions.
///
/// [`merge`](Self::merge) saturates counts at 2^64 - 1, both of one cell and of all; the sum is
/// modulo 2^64. (Cells to which records are added wrap: see [`Histogram`](crate::Histogram).)
///
/// ```
/// use windrow::Histogram;
///
/// let latency = Histogram::new();
/// (1..=1_000).for_each(|micros| latency.record(micros * 1_000));
/// let now = latency.distribution();
/// assert_eq!((now.count(), now.sum()), (1_000, 500_500_000));
/// assert_eq!((now.min(), now.max()), (Some(1_000), Some(1_000_000)));
/// let [median, p99] = [0.5, 0.99].map(|q| now.quantile(q).unwrap() as f64);
/// let error = now.scale().error_bound();
/// assert!((500_000.0 - median).abs() <= 500_000.0 * error + 0.5);
/// assert!((990_000.0 - p99).abs() <= 990_000.0 * error + 0.5);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Distribution {
    scale: Scale,
    /// Places of the scale and their counts, which are not zero, in the order of places.
    cells: Vec<(u16, u64)>,
    count: u64,
    sum: u64,
    /// No value is below the first or above the second. The first lies in the first of `cells`, the
    /// second in the last. Zeros if there is no cell.
    extremes: (u64, u64),
    /// True if the extremes are the minimum and the maximum of the values, and not only bounds in
    /// the same cells. True if there is no cell.
    exact: bool,
}

/// A cell that was used.
#[derive(Clone, Copy)]
struct Used {
    /// The smallest and the largest value that may be in the cell.
    bounds: (u64, u64),
    count: u64,
}

impl Distribution {
    /// Makes a distribution of counts that a program keeps itself: of the cell at each
    /// [place](Scale::place) of `scale`, and of the sum of all values. Missing counts are zero.
    ///
    /// The extremes are bounds in the cells that were used, and not
    /// [exact](Self::has_exact_extremes).
    ///
    /// ```
    /// use windrow::histogram::{Distribution, Scale};
    ///
    /// let scale = Scale::new(0, 2, 8)?; // cells for 2, for 3 and 4, and for 5 to 8
    /// let mut counts = vec![0; scale.cells() + 2];
    /// for value in [3, 4, 7] {
    ///     counts[scale.place(value)] += 1;
    /// }
    /// let values = Distribution::from_counts(scale, &counts, 3 + 4 + 7);
    /// assert_eq!((values.count(), values.sum()), (3, 14));
    /// assert_eq!((values.min(), values.max()), (Some(3), Some(8)));
    /// # Ok::<(), windrow::histogram::ScaleError>(())
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if there are more counts than [places](Scale::place).
    pub fn from_counts(scale: Scale, counts: &[u64], sum: u64) -> Distribution {
        let (found, most) = (counts.len(), scale.places());
        assert!(found <= most, "{found} counts are too many for a scale of {most} places");
        Distribution::new(scale, counts.iter().copied(), sum, (0, u64::MAX), false)
    }

    /// Makes a distribution of the counts at each place of `scale`. No counted value is below the
    /// first of `extremes` or above the second; if they are `exact`, there are such values.
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

    /// Makes a distribution as [`new`](Self::new) does, of only the places that were used, in
    /// order.
    #[inline]
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

    /// Returns the scale.
    ///
    /// ```
    /// # use windrow::{Histogram, histogram::Scale};
    /// assert_eq!(Histogram::new().distribution().scale(), Scale::DEFAULT);
    /// ```
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// Returns the number of values: the sum of the cells' counts, saturating at 2^64 - 1. It is
    /// zero only if there is no value.
    ///
    /// ```
    /// let latency = windrow::Histogram::new();
    /// latency.record(2_000);
    /// assert_eq!(latency.distribution().count(), 1);
    /// ```
    #[doc(alias = "is_empty")]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the [sum](crate::Recorded#sums) of the values below 2^60, modulo 2^64.
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

    /// Returns the mean of the values; `None` if there is none. It is as exact as the
    /// [`sum`](Self::sum), and always finite.
    ///
    /// ```
    /// let latency = windrow::Histogram::new();
    /// latency.record(2_000);
    /// latency.record(3_001);
    /// assert_eq!(latency.distribution().mean(), Some(2_500.5));
    /// ```
    #[inline]
    pub fn mean(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.sum as f64 / self.total() as f64)
    }

    /// Returns the minimum; `None` if there is no value. No value is below it.
    ///
    /// It is exact if [`has_exact_extremes`](Self::has_exact_extremes). Otherwise it is the
    /// smallest value that can be in its cell.
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

    /// Returns the maximum; `None` if there is no value. No value is above it. It is as exact as
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
    /// They are, with these exceptions: distributions of a
    /// [`Histogram`](crate::Histogram#minimum-and-maximum) that was drained before, of a window
    /// [since a moment](crate::snapshot::Moment::since), differences between a distribution
    /// and an [earlier one](Self::since), and all into which such distributions were
    /// [merged](Self::merge). The extremes of an empty distribution are exact. (In a read while
    /// other threads record, they may include a record that is being made and not yet counted, as
    /// the sum may.)
    ///
    /// ```
    /// let latency = windrow::Histogram::new();
    /// latency.record(2_000);
    /// assert!(latency.take().has_exact_extremes());
    /// latency.record(2_010);
    /// let since = latency.distribution(); // the histogram no longer knows that 2000 was drained
    /// assert_eq!((since.has_exact_extremes(), since.min()), (false, Some(2_000)));
    /// ```
    pub fn has_exact_extremes(&self) -> bool {
        self.exact
    }

    /// Returns bounds on the number of values above `value`.
    ///
    /// Exact (both bounds are equal) where `value` is the end of a cell, such as a power of two in
    /// the scale's range, and where no cell that was used contains it. Otherwise the bounds differ
    /// by the count of the cell that contains `value`. (Of the values up to `value`, the
    /// [`buckets`](Self::buckets) have the number.)
    ///
    /// ```
    /// let latency = windrow::Histogram::new();
    /// [600, 1_000, 1_024, 1_030, 5_000].iter().for_each(|nanos| latency.record(*nanos));
    /// let now = latency.distribution();
    /// assert_eq!(now.count_above(1_024), 2..=2); // the end of a cell
    /// assert_eq!(now.count_above(1_026), 1..=2); // in the middle of one
    /// assert_eq!(now.count_above(now.scale().max()), 0..=0); // behind the range
    /// ```
    #[doc(alias = "count_up_to")]
    #[doc(alias = "above")]
    #[inline]
    pub fn count_above(&self, value: u64) -> RangeInclusive<u64> {
        let above = |is: fn((u64, u64)) -> u64| self.counted(|bounds| is(bounds) > value);
        above(|(least, _)| least)..=above(|(_, greatest)| greatest)
    }

    /// Returns the number of values in the cells for which `is_counted` is true.
    #[inline]
    fn counted(&self, is_counted: impl Fn((u64, u64)) -> bool) -> u64 {
        let cells = self.used().filter(|cell| is_counted(cell.bounds));
        cells.fold(0_u64, |all, cell| all.saturating_add(cell.count))
    }

    /// Returns the cells that were used, in ascending order: the range of values of each, and its
    /// count.
    ///
    /// The first may be the one below the scale's range, which begins at 0; and the last the one
    /// above it, which ends at 2^64 - 1.
    ///
    /// ```
    /// let latency = windrow::Histogram::new();
    /// [600, 1_000, 1_024, 90_000_000_000].iter().for_each(|nanos| latency.record(*nanos));
    /// let now = latency.distribution();
    /// let cells: Vec<_> = now.cells().collect();
    /// assert_eq!(cells, [(559..=608, 1), (940..=1_024, 2), ((1 << 36) + 1..=u64::MAX, 1)]);
    /// ```
    #[doc(alias = "below")]
    pub fn cells(&self) -> impl Iterator<Item = (RangeInclusive<u64>, u64)> {
        self.cells.iter().map(|(place, count)| {
            let (least, greatest) = self.scale.bounds(*place as usize);
            (least..=greatest, *count)
        })
    }

    /// Returns the memory of the cells, emptied.
    pub(crate) fn into_memory(mut self) -> Vec<(u16, u64)> {
        self.cells.clear();
        self.cells
    }

    /// Returns whether there are no values.
    pub(crate) fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Returns the places of the scale that were used, in order, and the count of each.
    #[cfg(feature = "serde")]
    pub(crate) fn used_places(&self) -> impl Iterator<Item = (u16, u64)> {
        self.cells.iter().copied()
    }

    /// Returns the sum of all counts. There are at most a few thousand cells, so this does not
    /// overflow.
    #[inline]
    fn total(&self) -> u128 {
        self.cells.iter().map(|(_, count)| u128::from(*count)).sum()
    }

    /// Returns the cells that were used, cut off at the extremes.
    fn used(&self) -> impl Iterator<Item = Used> {
        self.cells.iter().map(|cell| self.used_cell(cell))
    }

    /// Returns a cell that was used, cut off at the extremes.
    #[inline]
    fn used_cell(&self, (place, count): &(u16, u64)) -> Used {
        let (least, greatest) = self.scale.bounds(usize::from(*place));
        let bounds = (least.max(self.extremes.0), greatest.min(self.extremes.1));
        Used { bounds, count: *count }
    }
}

/// Returns an empty distribution with the [default scale](Scale::DEFAULT). If another one is
/// [merged](Distribution::merge) into it, it takes over that one's scale.
impl Default for Distribution {
    #[inline]
    fn default() -> Distribution {
        Distribution::of_used(Scale::DEFAULT, Vec::new(), 0, (0, 0), true)
    }
}

/// Formats count and percentiles.
///
/// ```
/// let sizes = windrow::Histogram::new();
/// assert_eq!(sizes.distribution().to_string(), "none");
/// sizes.record(4_000);
/// sizes.record(4_000);
/// assert_eq!(sizes.distribution().to_string(), "2: 4000 to 4000, half to 4000, 99 % to 4000");
/// ```
impl Display for Distribution {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let found = [0.5, 0.99].map(|q| self.quantile(q));
        let [Some(half), Some(most)] = found else { return f.pad("none") };
        let (count, (min, max)) = (self.count, self.extremes);
        write!(f, "{count}: {min} to {max}, half to {half}, 99 % to {most}")
    }
}

/// Shows all parts.
impl Debug for Distribution {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Distribution");
        shown.field("scale", &self.scale).field("count", &self.count).field("sum", &self.sum);
        shown.field("extremes", &self.extremes).field("exact", &self.exact);
        shown.field("cells", &self.cells().collect::<Vec<_>>());
        shown.finish()
    }
}
