//! Buckets as exporters have them: cumulative ones, and native ones by their numbers.

use super::Distribution;

impl Distribution {
    /// How many values there are up to each of `bounds`, in their order: for exporters.
    ///
    /// A bound stands for the end of the cell that it is in. There the count is exact, and that end
    /// is what is told, so a bucket is never wrong: it is elsewhere than was asked for, by a cell
    /// at most, if `bounds` are not ends of cells. Powers of two in the scale's range are:
    /// [`Scale::octaves`]. What is above the range is in the last cell, which ends at 2^64 - 1.
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

    /// Returns the cells of the scale's range that were used, from below, by their numbers, and how
    /// many values each has.
    ///
    /// With schema `s`, cell `i` holds what is above `2^((i - 1) / 2^s)` and at most `2^(i / 2^s)`.
    /// So these are the positive buckets of a native histogram of Prometheus of this schema. Those
    /// of OpenTelemetry, of this scale, are numbered less by one. What is outside of the range is
    /// not among them: see [`below`](Self::below) and [`above`](Self::above).
    ///
    /// ```
    /// let latency = windrow::Histogram::new(); // schema 3
    /// [0, 1_024, 1_025, 1 << 40].iter().for_each(|nanos| latency.record(*nanos));
    /// let numbered: Vec<_> = latency.distribution().numbered_cells().collect();
    /// assert_eq!(numbered, [(80, 1), (81, 1)]); // 2^(80 / 8) is 1024
    /// ```
    pub fn numbered_cells(&self) -> impl Iterator<Item = (i32, u64)> {
        let in_range =
            |(place, _): &&(u16, u64)| (1..=self.scale.cells()).contains(&usize::from(*place));
        let number = |(place, count): &(u16, u64)| (self.scale.number(*place), *count);
        self.cells.iter().filter(in_range).map(number)
    }
}
