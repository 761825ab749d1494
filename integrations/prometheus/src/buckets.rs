//! The buckets of a histogram in a scrape: their bounds and their unit.

use std::fmt;

use prometheus_client::encoding::{
    MetricEncoder, NativeHistogram, NativeHistogramBuckets, NoLabelSet,
};
use windrow::export::Source;
use windrow::histogram::Distribution;

/// Bounds and unit of a scrape's histograms, for [`buckets`].
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
}

impl Buckets {
    /// The default: octaves, in the histogram's own unit.
    pub(crate) const DEFAULT: Buckets = Buckets { bounds: None, per: 1 };

    /// Returns buckets with a bound at each power of two in the
    /// [scale](windrow::histogram::Scale::octaves)'s range: with the default scale, 28. Their
    /// counts are exact.
    pub fn octaves() -> Buckets {
        Buckets::DEFAULT
    }

    /// Returns buckets with these bounds, in the histogram's own unit.
    ///
    /// Each bound is rounded up to the end of its [cell](windrow::histogram::Scale::cell), and
    /// shown there, so the count is exact at the bound that is shown. A bound at the end of a cell,
    /// such as a power of two, stays where it is; any other moves up by less than a cell, which is
    /// 9 % with the default scale. Several bounds in one cell are shown once. A bound above the
    /// scale's range is not shown, since there only the infinite bucket's count is known. A bound
    /// below the range, where a histogram does not tell values apart, is
    /// [refused](crate::RegisterError::BoundBelow): all such bounds would be shown as one far
    /// greater bound. For lower bounds, give the histogram a [`Scale`](windrow::histogram::Scale)
    /// that begins lower.
    pub fn at(bounds: &[u64]) -> Buckets {
        let mut bounds = bounds.to_vec();
        bounds.sort_unstable();
        Buckets { bounds: Some(bounds), ..Buckets::DEFAULT }
    }

    /// Divides bounds and sum by `per`: `1_000_000_000` shows nanoseconds as seconds.
    ///
    /// A [native](crate#native-histograms) histogram is shown only if `per` is a power of two, as 1
    /// is.
    pub fn per(self, per: u64) -> Buckets {
        Buckets { per, ..self }
    }

    /// Returns the least requested bound.
    pub(crate) fn least_bound(&self) -> Option<u64> {
        self.bounds.as_ref()?.first().copied()
    }

    pub(crate) fn divides_by_zero(&self) -> bool {
        self.per == 0
    }

    fn shown(&self, value: u64) -> f64 {
        value as f64 / self.per as f64
    }

    /// Returns the bounds, each with the number of values between it and the bound before; the last
    /// one is infinite.
    fn classic(&self, distribution: &Distribution) -> Vec<(f64, u64)> {
        let (mut buckets, mut last) = (Vec::new(), (None, 0_u64));
        let mut put = |(end, up_to): (u64, u64)| {
            if end < u64::MAX && last.0 != Some(end) {
                buckets.push((self.shown(end), up_to.wrapping_sub(last.1)));
                last = (Some(end), up_to);
            }
        };
        match &self.bounds {
            None => distribution.buckets(distribution.scale().octaves()).for_each(&mut put),
            Some(bounds) => distribution.buckets(bounds.iter().copied()).for_each(&mut put),
        }
        let above = distribution.count().wrapping_sub(last.1);
        buckets.push((f64::INFINITY, above));
        buckets
    }

    pub(crate) fn encode(
        &self,
        distribution: &Distribution,
        encoder: &mut MetricEncoder<'_>,
    ) -> fmt::Result {
        let (sum, count) = (self.shown(distribution.sum()), distribution.count());
        let classic = self.classic(distribution);
        if !self.per.is_power_of_two() {
            return encoder.encode_histogram::<NoLabelSet>(sum, count, &classic, None);
        }
        let octaves = self.per.trailing_zeros().cast_signed();
        let sparse = Sparse::of(distribution, octaves);
        let native = NativeHistogram {
            schema: i32::from(distribution.scale().schema()),
            zero_threshold: self.shown(distribution.scale().min() - 1),
            zero_count: distribution.below(),
            negative: NativeHistogramBuckets { spans: &[], deltas: &[] },
            positive: NativeHistogramBuckets { spans: &sparse.spans, deltas: &sparse.deltas },
            created: None,
        };
        encoder.encode_histogram_with_native::<NoLabelSet>(sum, count, &classic, None, native)
    }
}

/// The positive buckets of a native histogram: runs of adjacent buckets, each with its distance
/// from the run before; and for each count its difference from the count before.
#[derive(Debug)]
struct Sparse {
    spans: Vec<(i32, u32)>,
    deltas: Vec<i64>,
}

impl Sparse {
    /// Returns the buckets of a distribution, with values divided by two to the power of `octaves`.
    /// Values above the scale's range are in the infinite bucket: their size is unknown.
    fn of(distribution: &Distribution, octaves: i32) -> Sparse {
        let schema = distribution.scale().schema();
        let infinite = (1024 << schema) + 1;
        let above = Some((infinite, distribution.above())).filter(|(_, count)| *count > 0);
        let in_range = distribution.numbered_cells();
        let shown = in_range.map(|(number, count)| (number - (octaves << schema), count));
        let (mut spans, mut deltas) = (Vec::new(), Vec::new());
        let (mut next, mut before) = (0, 0_u64);
        for (number, count) in shown.chain(above) {
            match spans.last_mut() {
                Some((_, length)) if number == next => *length += 1,
                _ => spans.push((number - next, 1)),
            }
            deltas.push(count.wrapping_sub(before).cast_signed());
            (next, before) = (number + 1, count);
        }
        if spans.is_empty() {
            spans.push((0, 0)); // an empty span marks a native histogram
        }
        Sparse { spans, deltas }
    }
}

/// A source whose histograms are shown with other bounds or in another unit: from [`buckets`].
#[derive(Clone, Debug)]
#[must_use = "a source is not exported before it is registered"]
pub struct Bucketed<S> {
    source: S,
    buckets: Buckets,
}

/// Shows the histograms of a source (a histogram, a family of them, a
/// [`field`](windrow::export::field)) at other bounds, or in another unit.
///
/// ```
/// use prometheus_client::{encoding::text::encode, registry::Registry};
/// use windrow::Histogram;
/// use windrow_prometheus::{Buckets, buckets, register};
///
/// static RT: Histogram = Histogram::new(); // nanoseconds
///
/// let seconds = Buckets::octaves().per(1_000_000_000);
/// let mut registry = Registry::default();
/// register(&mut registry, "rt_seconds", "Response times", buckets(&RT, seconds))?;
///
/// RT.record(250_000_000);
/// let mut text = String::new();
/// encode(&mut text, &registry)?;
/// assert!(text.contains("rt_seconds_bucket{le=\"0.268435456\"} 1\n"));
/// assert!(text.contains("rt_seconds_sum 0.25\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn buckets<S>(source: S, buckets: Buckets) -> Bucketed<S> {
    Bucketed { source, buckets }
}

/// Can be registered by [`register`](crate::register): a [`Source`], or one with other [`buckets`].
///
/// It cannot be implemented for other types.
pub trait Registrable: Sealed {
    /// Takes the source and its buckets apart.
    #[doc(hidden)]
    fn with_buckets(self) -> (Box<dyn Source>, Buckets);
}

/// Restricts [`Registrable`](super::Registrable) to the types of this crate.
pub trait Sealed {}

impl<S: Source + 'static> Sealed for S {}

impl<S: Source + 'static> Registrable for S {
    fn with_buckets(self) -> (Box<dyn Source>, Buckets) {
        (Box::new(self), Buckets::DEFAULT)
    }
}

impl<S: Source + 'static> Sealed for Bucketed<S> {}

impl<S: Source + 'static> Registrable for Bucketed<S> {
    fn with_buckets(self) -> (Box<dyn Source>, Buckets) {
        (Box::new(self.source), self.buckets)
    }
}

#[cfg(test)]
mod tests {
    use windrow::{Histogram, histogram::Scale};

    use super::*;

    fn distribution(scale: Scale, values: &[u64]) -> Distribution {
        let histogram = Histogram::with_scale(scale);
        for value in values {
            histogram.record(*value);
        }
        histogram.distribution()
    }

    /// Returns the buckets that spans and deltas stand for: numbers and counts.
    fn decoded(sparse: &Sparse) -> Vec<(i32, u64)> {
        let mut deltas = sparse.deltas.iter();
        let (mut number, mut count, mut all) = (0, 0_i64, Vec::new());
        for (offset, length) in &sparse.spans {
            number += offset;
            for _ in 0..*length {
                count += deltas.next().expect("a delta for each bucket");
                all.push((number, count.cast_unsigned()));
                number += 1;
            }
        }
        assert_eq!(deltas.next(), None);
        all
    }

    #[test]
    fn spans_and_deltas_stand_for_the_cells_and_what_is_above_is_infinite() {
        for schema in 0..=5 {
            let scale = Scale::new(schema, 600, 1 << 20).unwrap();
            let values = [0, 1, 1_000, 1_001, 1_002, 1_100, 1 << 20, 1 << 21, 1 << 22];
            let counted = distribution(scale, &values);
            let cells: Vec<_> = counted.numbered_cells().collect();
            for octaves in [0, 3, 30] {
                let decoded = decoded(&Sparse::of(&counted, octaves));
                let (infinite, in_range) = decoded.split_last().unwrap();
                assert_eq!(*infinite, ((1024 << schema) + 1, 2));
                let moved =
                    cells.iter().map(|(number, count)| (number - (octaves << schema), *count));
                assert!(in_range.iter().copied().eq(moved), "{decoded:?}");
            }
        }
    }

    #[test]
    fn neighbours_are_in_one_span_and_nothing_has_an_empty_one() {
        let scale = Scale::new(0, 1, 1 << 10).unwrap();
        let sparse = Sparse::of(&distribution(scale, &[2, 3, 3, 5, 100]), 0);
        assert_eq!(sparse.spans, [(1, 3), (3, 1)]); // (1, 2], (2, 4], (4, 8], and (64, 128]
        assert_eq!(sparse.deltas, [1, 1, -1, 0]);
        let nothing = Sparse::of(&distribution(scale, &[]), 0);
        assert_eq!((nothing.spans, nothing.deltas), (vec![(0, 0)], vec![]));
    }

    #[test]
    fn bounds_are_moved_to_the_ends_of_their_cells_and_shown_once() {
        let counted = distribution(Scale::DEFAULT, &[3, 700, 1_000, 1_020, 1 << 35, u64::MAX]);
        let shown = Buckets::at(&[u64::MAX, 1_010, 2_000, 1_024, 5, 1 << 40]).classic(&counted);
        assert_eq!(shown, [(512.0, 1), (1_024.0, 3), (2_048.0, 0), (f64::INFINITY, 2)]);
        assert_eq!(Buckets::at(&[]).classic(&counted), [(f64::INFINITY, 6)]);
    }
}
