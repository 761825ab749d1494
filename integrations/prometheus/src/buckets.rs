//! The buckets of a histogram in a scrape: their bounds and their unit.

use std::sync::Arc;

use windrow::exemplar::Exemplar;
use windrow::export::{Part, Source, Value};
use windrow::histogram::Distribution;

#[cfg(any(feature = "protobuf", feature = "registry"))]
use crate::native::Native;

/// The unit of a source in a scrape and the bounds of its histograms, for [`buckets`].
///
/// ```
/// use windrow_prometheus::Buckets;
///
/// let seconds = Buckets::octaves().per(1_000_000_000); // of nanoseconds
/// // 134, 268 and 537 ms.
/// let objective = Buckets::at(&[1 << 27, 1 << 28, 1 << 29]).per(1_000_000_000);
/// assert_ne!(seconds, objective);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Buckets {
    /// The bounds in ascending order; `None` for the octaves.
    bounds: Option<Vec<u64>>,
    per: u64,
    /// True if a native histogram has the nearest buckets where it cannot have the cells.
    nearest: bool,
}

impl Buckets {
    /// The default: octaves, in the histogram's own unit.
    pub(crate) const DEFAULT: Buckets = Buckets { bounds: None, per: 1, nearest: false };

    /// Returns buckets with a bound at each power of two in the
    /// [scale](windrow::histogram::Scale::octaves)'s range: with the default scale, 28. Their
    /// counts are exact.
    pub fn octaves() -> Buckets {
        Buckets::DEFAULT
    }

    /// Returns buckets with these bounds, in the histogram's own unit.
    ///
    /// Each bound is rounded up to the end of its [cell](windrow::histogram::Scale), and shown
    /// there, so the count is exact at the bound that is shown. A bound at the end of a cell, such
    /// as a power of two, stays where it is; any other moves up by less than a cell, which is 9 %
    /// with the default scale. Several bounds in one cell are shown once. A bound above the scale's
    /// range is not shown, since there only the infinite bucket's count is known. A bound below the
    /// range, where a histogram does not tell values apart, is
    /// [refused](crate::RegisterError::BoundBelow): all such bounds would be shown as one far
    /// greater bound. For lower bounds, give the histogram a [`Scale`](windrow::histogram::Scale)
    /// that begins lower.
    pub fn at(bounds: &[u64]) -> Buckets {
        let mut bounds = bounds.to_vec();
        bounds.sort_unstable();
        Buckets { bounds: Some(bounds), ..Buckets::DEFAULT }
    }

    /// Divides the source's values by `per`: `1_000_000_000` shows nanoseconds as seconds.
    ///
    /// A window's event that [declares its unit](crate#units) is divided by that alone.
    ///
    /// These are the bounds and sums of histograms; the sums, means, extremes and percentiles of a
    /// window; and the numbers of any other metric, so of a counter of nanoseconds, too. Counts and
    /// rates of a window's events stay as they are.
    ///
    /// A [native](crate#native-histograms) histogram is shown only if `per` is a power of two, as 1
    /// is.
    pub fn per(self, per: u64) -> Buckets {
        Buckets { per, ..self }
    }

    /// Divides the source's values by `per`, because their declared unit is shown in another one.
    pub(crate) fn per_unit(&self, per: u64) -> Buckets {
        Buckets { per, nearest: true, ..self.clone() }
    }

    /// Returns the least requested bound.
    pub(crate) fn least_bound(&self) -> Option<u64> {
        self.bounds.as_ref()?.first().copied()
    }

    pub(crate) fn divides_by_zero(&self) -> bool {
        self.per == 0
    }

    /// Returns a value of a histogram as a scrape shows it.
    pub(crate) fn shown(&self, value: u64) -> f64 {
        value as f64 / self.per as f64
    }

    /// Returns the number of a part as a scrape shows it.
    pub(crate) fn number<'v>(&self, part: &Part, value: Value<'v>) -> Value<'v> {
        if self.per == 1 || !part.is_in_unit {
            return value;
        }
        let per = self.per as f64;
        match value {
            Value::Count(total) => Value::RealTotal(self.shown(total)),
            Value::RealTotal(total) => Value::RealTotal(total / per),
            Value::Unsigned(number) => Value::Real(self.shown(number)),
            Value::Signed(number) => Value::Real(number as f64 / per),
            Value::Real(number) => Value::Real(number / per),
            Value::Distribution(_) => value, // it is shown bucket by bucket
        }
    }

    /// Calls `see` with each bound and the number of values up to it; the last one is infinite.
    pub(crate) fn each(&self, distribution: &Distribution, mut see: impl FnMut(f64, u64)) {
        let mut last = None;
        let put = |(end, up_to): (u64, u64)| {
            if end < u64::MAX && last != Some(end) {
                see(self.shown(end), up_to);
                last = Some(end);
            }
        };
        match &self.bounds {
            None => distribution.buckets(distribution.scale().octaves()).for_each(put),
            Some(bounds) => distribution.buckets(bounds.iter().copied()).for_each(put),
        }
        see(f64::INFINITY, distribution.count());
    }

    /// Calls `see` as [`each`](Self::each) does, with the newest exemplar of each bucket, if it has
    /// one. Exemplars are in the order of their values.
    pub(crate) fn each_with<'e>(
        &self,
        distribution: &Distribution,
        exemplars: &'e [Exemplar],
        mut see: impl FnMut(f64, u64, Option<&'e Exemplar>),
    ) {
        let mut rest = exemplars;
        self.each(distribution, |bound, up_to| {
            let is_in = |exemplar: &Exemplar| self.shown(exemplar.value) <= bound;
            let (in_bucket, behind) = rest.split_at(rest.partition_point(is_in));
            rest = behind;
            see(bound, up_to, in_bucket.iter().max_by_key(|exemplar| exemplar.time));
        });
    }

    /// Returns the cells as the buckets of a native histogram, or the buckets that are nearest to
    /// them; `None` if neither is to be shown.
    #[cfg(any(feature = "protobuf", feature = "registry"))]
    pub(crate) fn native(&self, distribution: &Distribution) -> Option<Native> {
        if !self.per.is_power_of_two() && !self.nearest {
            return None;
        }
        let cells_of_an_octave = f64::from(1_u32 << distribution.scale().schema());
        let down = ((self.per as f64).log2() * cells_of_an_octave).round();
        Some(Native::of(distribution, down as i32))
    }
}

/// A source that can be registered by [`Exposition::register`](crate::Exposition::register): from
/// any [`Source`], or from [`buckets`], with other bounds or in another unit.
#[derive(Clone)]
#[must_use = "a source is not exported before it is registered"]
pub struct Bucketed {
    pub(crate) source: Arc<dyn Source>,
    pub(crate) buckets: Buckets,
}

impl<S: Source + 'static> From<S> for Bucketed {
    fn from(source: S) -> Bucketed {
        buckets(source, Buckets::DEFAULT)
    }
}

/// Shows the histograms of a source (a histogram, a family of them, a
/// [`field`](windrow::export::field)) at other bounds, or any source in another unit.
///
/// ```
/// use windrow::Histogram;
/// use windrow_prometheus::{Buckets, Exposition, buckets};
///
/// static RT: Histogram = Histogram::new(); // nanoseconds
///
/// let seconds = Buckets::octaves().per(1_000_000_000);
/// let mut metrics = Exposition::new();
/// metrics.register("rt_seconds", "Response times", buckets(&RT, seconds))?;
///
/// RT.record(250_000_000);
/// let text = metrics.to_string();
/// assert!(text.contains("rt_seconds_bucket{le=\"0.268435456\"} 1\n"));
/// assert!(text.contains("rt_seconds_sum 0.25\n"));
/// # Ok::<(), windrow_prometheus::RegisterError>(())
/// ```
pub fn buckets(source: impl Source + 'static, buckets: Buckets) -> Bucketed {
    Bucketed { source: Arc::new(source), buckets }
}

#[cfg(test)]
pub(crate) mod tests {
    use windrow::{Histogram, histogram::Scale};

    use super::*;

    pub(crate) fn distribution(scale: Scale, values: &[u64]) -> Distribution {
        let histogram = Histogram::with_scale(scale);
        for value in values {
            histogram.record(*value);
        }
        histogram.distribution()
    }

    fn shown(buckets: &Buckets, distribution: &Distribution) -> Vec<(f64, u64)> {
        let mut all = Vec::new();
        buckets.each(distribution, |bound, up_to| all.push((bound, up_to)));
        all
    }

    #[test]
    fn bounds_are_moved_to_the_ends_of_their_cells_and_shown_once() {
        let counted = distribution(Scale::DEFAULT, &[3, 700, 1_000, 1_020, 1 << 35, u64::MAX]);
        let at = Buckets::at(&[u64::MAX, 1_010, 2_000, 1_024, 5, 1 << 40]);
        let expected = [(512.0, 1), (1_024.0, 4), (2_048.0, 4), (f64::INFINITY, 6)];
        assert_eq!(shown(&at, &counted), expected);
        assert_eq!(shown(&Buckets::at(&[]), &counted), [(f64::INFINITY, 6)]);
    }
}
