//! Cumulative buckets, as exporters have them.

use super::Distribution;

impl Distribution {
    /// How many values there are up to each of `bounds`, in their order: for exporters.
    ///
    /// A bound stands for the end of the cell that it is in. There the count is exact, and that end is what is told, so a bucket is never
    /// wrong: it is elsewhere than was asked for, by a cell at most, if `bounds` are not ends of cells. Powers of two in the
    /// scale's range are: [`Scale::octaves`]. What is above the range is in the last cell, which ends at 2^64 - 1.
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
    /// [`Scale::octaves`]: crate::Scale::octaves
    pub fn buckets(
        &self,
        bounds: impl IntoIterator<Item = u64>,
    ) -> impl Iterator<Item = (u64, u64)> {
        let mut below = 0_u64;
        let mut cumulative = vec![(0, 0)];
        cumulative.extend(self.cells.iter().map(|(place, count)| {
            below = below.wrapping_add(*count);
            (*place, below)
        }));
        let scale = self.scale;
        bounds.into_iter().map(move |bound| {
            let place = scale.place(bound);
            let after = cumulative.partition_point(|(at, _)| usize::from(*at) <= place);
            (scale.bounds(place).1, cumulative[after - 1].1)
        })
    }
}
