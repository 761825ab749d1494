//! Buckets as exporters have them: cumulative ones, and native ones by their numbers.

use super::Distribution;

impl Distribution {
    /// Returns the number of values up to each of `bounds`, in their order: cumulative buckets, for
    /// exporters.
    ///
    /// Each bound is rounded up to the end of its cell, where the count is exact; the rounded bound
    /// is returned. Powers of two in the scale's range, which [`Scale::octaves`] returns, are ends
    /// of cells and need no rounding. Values above the range are in the last cell, which ends at
    /// 2^64 - 1.
    ///
    /// Costs a walk over the cells that were used, and an allocation.
    ///
    /// ```
    /// let latency = windrow::Histogram::new(); // from 513 ns to 68.7 s
    /// [3, 600, 1_000, 1_024, 5_000].iter().for_each(|nanos| latency.record(*nanos));
    /// let now = latency.distribution();
    /// assert!(now.buckets([1, 1_024, 1_000_000]).eq([(512, 1), (1_024, 4), (1_048_576, 5)]));
    /// assert_eq!(now.buckets(now.scale().octaves()).last(), Some((1 << 36, 5)));
    /// ```
    ///
    /// [`Scale::octaves`]: crate::histogram::Scale::octaves
    pub fn buckets(
        &self,
        bounds: impl IntoIterator<Item = u64>,
    ) -> impl Iterator<Item = (u64, u64)> {
        let mut below = 0_u64;
        let mut cumulative = vec![(0, 0)];
        cumulative.extend(self.cells.iter().map(|(place, count)| {
            below = below.saturating_add(*count);
            (*place, below)
        }));
        let scale = self.scale;
        bounds.into_iter().map(move |bound| {
            let place = scale.place(bound);
            let after = cumulative.partition_point(|(at, _)| usize::from(*at) <= place);
            (scale.bounds(place).1, cumulative[after - 1].1)
        })
    }

    /// Returns the buckets of an exponential histogram: the count of its zero bucket, and its
    /// positive buckets, in ascending order, the number of each and its count. They are all values.
    ///
    /// With schema `s`, bucket `i` is the cell of the values above `2^((i - 1) / 2^s)` and at most
    /// `2^(i / 2^s)`, as in a Prometheus native histogram of this schema. The numbers of
    /// OpenTelemetry's buckets at this scale are less by one.
    ///
    /// There is one bucket on each side for the values outside of the scale's range: those below it
    /// are in the last bucket before the range, and those above it in the first bucket behind. So a
    /// backend's quantile of such values is at an end of the range, off by at most a cell's width.
    /// It is neither negative nor infinite, as a quantile in a wide bucket around zero or in an
    /// infinite bucket can be. Every exporter that sends exponential histograms takes its buckets
    /// here.
    ///
    /// The zero bucket has the values that are known to be zero: those below the range of a scale
    /// that begins at 1. Any other scale does not tell zero from other values below its range.
    ///
    /// ```
    /// use windrow::{Histogram, histogram::Scale};
    ///
    /// let latency = Histogram::new(); // 513 to 2^36, with schema 3
    /// [0, 512, 1_024, 1 << 40].iter().for_each(|nanos| latency.record(*nanos));
    /// let now = latency.distribution();
    /// let (zeros, buckets) = now.exponential_buckets();
    /// // 2^(72 / 8) is 512, and 2^(289 / 8) is 7.5e10.
    /// assert!(zeros == 0 && buckets.eq([(72, 2), (80, 1), (289, 1)]));
    ///
    /// let sizes = Histogram::with_scale(Scale::fixed::<3, 1, 1024>());
    /// sizes.record(0);
    /// assert_eq!(sizes.distribution().exponential_buckets().0, 1);
    /// ```
    #[doc(alias = "numbered_cells")]
    #[doc(alias = "zeros")]
    pub fn exponential_buckets(&self) -> (u64, impl Iterator<Item = (i32, u64)>) {
        let (zeros, positive) = match self.cells.split_first() {
            Some(((0, zeros), positive)) if self.scale.min() == 1 => (*zeros, positive),
            _ => (0, &self.cells[..]),
        };
        let number = |(place, count): &(u16, u64)| (self.scale.number(*place), *count);
        (zeros, positive.iter().map(number))
    }
}
