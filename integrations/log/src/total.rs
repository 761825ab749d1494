//! The sums of an event.

/// The sums of an event over a bin, over any number of lines.
///
/// Counts and sums are exact: 128 bits hold the sum of any number of lines. A `Signed` event's may
/// be negative.
///
/// ```
/// use windrow_log::Total;
///
/// let total = Total::default();
/// assert_eq!((total.count, total.mean()), (0, None));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Total {
    /// The sum of the lines' counts.
    pub count: i128,
    /// The sum of the lines' sums: of all values.
    pub sum: i128,
    /// The lowest value, where the lines have one.
    pub min: Option<u64>,
    /// The highest value, where the lines have one.
    pub max: Option<u64>,
}

impl Total {
    /// Returns the mean of the values; `None` if there are none.
    ///
    /// It is the sum of all values divided by their number, not a mean of means.
    pub fn mean(&self) -> Option<f64> {
        (self.count != 0).then(|| self.sum as f64 / self.count as f64)
    }

    pub(crate) fn of_count(count: u64) -> Total {
        Total { count: count.into(), sum: count.into(), min: None, max: None }
    }

    pub(crate) fn add(&mut self, other: &Total) {
        // No overflow: a line adds less than 2^64, and there are fewer than 2^63 lines.
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.into_iter().chain(other.min).min();
        self.max = self.max.max(other.max);
    }
}
