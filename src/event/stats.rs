//! Stats: count, sum, minimum and maximum of one event.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// Count, sum, minimum and maximum of one event over a span.
///
/// For a `Count` or `Signed` event, `count` and `sum` are both the sum of the adds, and there is no
/// minimum or maximum; `sum.cast_signed()` is the sum of a `Signed` event with its sign. For a
/// `Value` event, `count` is the number of values, and `sum` the [sum](crate::Recorded#sums) of
/// those below 2^60. Sums are modulo 2^64. A `Maximum` event has only a maximum: `count` and `sum`
/// are always 0. A `Minimum` event has only a minimum.
///
/// ```
/// use windrow::{SlidingWindow, events};
///
/// events! { enum Disk { Read: Count, Latency: Value } }
///
/// let window = SlidingWindow::<Disk>::builder().build()?;
/// assert_eq!(window.stats(Disk::Latency).mean(), None);
/// window.record(Disk::Latency, 30);
/// window.record(Disk::Latency, 50);
/// let stats = window.lifetime(Disk::Latency);
/// assert_eq!((stats.count, stats.sum), (2, 80));
/// assert_eq!((stats.min, stats.mean(), stats.max), (Some(30), Some(40.0), Some(50)));
/// # Ok::<(), windrow::BuildError>(())
/// ```
///
/// Stats of different buckets, windows or events can be added: counts and sums add up, wrapping,
/// and the sum has the smaller minimum and the larger maximum.
///
/// ```
/// use windrow::Stats;
///
/// let one = Stats { count: 2, sum: 30, min: Some(10), max: Some(20) };
/// let other = Stats { count: 1, sum: 50, min: Some(50), max: Some(50) };
/// let both = Stats { count: 3, sum: 80, min: Some(10), max: Some(50) };
/// assert_eq!(one + other, both);
/// assert_eq!([one, other].iter().sum::<Stats>(), both);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[doc(alias = "IntRecorder")]
pub struct Stats {
    /// The number of values recorded; for a `Count` or `Signed` event, the sum of the adds; for a
    /// `Maximum` or `Minimum` event, 0.
    pub count: u64,
    /// The sum of the values below 2^60, modulo 2^64; for a `Count` or `Signed` event, the sum of
    /// the adds; for a `Maximum` or `Minimum` event, 0.
    pub sum: u64,
    /// The smallest value recorded; `None` if there was none, and for a `Count`, `Signed` or
    /// `Maximum` event.
    pub min: Option<u64>,
    /// The largest value recorded; `None` if there was none, and for a `Count`, `Signed` or
    /// `Minimum` event.
    pub max: Option<u64>,
}

impl Stats {
    /// Returns the stats of the values of both.
    #[inline]
    pub(crate) fn with(self, other: Stats) -> Stats {
        Stats {
            count: self.count.wrapping_add(other.count),
            sum: self.sum.wrapping_add(other.sum),
            min: self.min.into_iter().chain(other.min).min(),
            max: self.max.max(other.max),
        }
    }

    /// Returns the mean of the values; `None` if nothing was recorded. For a `Count` or `Signed`
    /// event whose sum is not 0, it is 1.
    ///
    /// ```
    /// let stats = windrow::Stats { count: 4, sum: 10, min: Some(1), max: Some(4) };
    /// assert_eq!(stats.mean(), Some(2.5));
    /// assert_eq!(windrow::Stats::default().mean(), None);
    /// ```
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }
}

/// The stats of the values of both.
impl Add for Stats {
    type Output = Stats;

    #[inline]
    fn add(self, other: Stats) -> Stats {
        self.with(other)
    }
}

impl AddAssign for Stats {
    #[inline]
    fn add_assign(&mut self, other: Stats) {
        *self = *self + other;
    }
}

impl Sum for Stats {
    fn sum<I: Iterator<Item = Stats>>(all: I) -> Stats {
        all.fold(Stats::default(), Stats::add)
    }
}

impl<'a> Sum<&'a Stats> for Stats {
    fn sum<I: Iterator<Item = &'a Stats>>(all: I) -> Stats {
        all.copied().sum()
    }
}
