//! Distributions as data points.

use windrow::histogram::Distribution;

use crate::message::{Buckets, Exemplar, ExponentialPoint, HistogramPoint, KeyValue};

/// The form in which an exporter sends histograms.
///
/// Both are exact: each count is the number of values in the bucket that is sent, whose ends are
/// the ends of cells. They differ in what a backend can read, and in the error of percentiles.
///
/// ```
/// use windrow_otlp::HistogramForm;
///
/// assert_eq!(HistogramForm::default(), HistogramForm::Exponential);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HistogramForm {
    /// Exponential histograms: the cells one for one, at the scale that is the histogram's
    /// [schema](windrow::histogram::Scale). Percentiles keep the [error
    /// bound](windrow::histogram::Scale::error_bound) of the histogram.
    #[default]
    Exponential,
    /// Histograms with explicit bounds, for backends that have no other: a bound at each power of
    /// two in the [scale](windrow::histogram::Scale::octaves)'s range.
    Octaves,
}

/// The attributes, the exemplars and the times of a data point.
pub(crate) struct Frame {
    pub(crate) attributes: Vec<KeyValue>,
    pub(crate) exemplars: Vec<Exemplar>,
    pub(crate) start: u64,
    pub(crate) time: u64,
}

/// Returns minimum and maximum, if they are values and not bounds alone.
fn extremes(values: &Distribution) -> (Option<f64>, Option<f64>) {
    let exact = |extreme: Option<u64>| extreme.filter(|_| values.has_exact_extremes());
    let shown = |extreme: Option<u64>| exact(extreme).map(|value| value as f64);
    (shown(values.min()), shown(values.max()))
}

/// Returns the cells as buckets of an exponential histogram.
///
/// With schema `s`, cell `n` holds the values above `2^((n - 1) / 2^s)` and at most `2^(n / 2^s)`:
/// this is the bucket with the index `n - 1` at scale `s`, ends included. Values below the range
/// are at most `min - 1`: they are in the zero bucket, whose threshold is included, too. Values
/// above the range are in the bucket that ends at 2^64: they are not greater, and that bucket is
/// none of the range's (or the range ends there, and has no value above it).
pub(crate) fn exponential(values: &Distribution, frame: Frame) -> ExponentialPoint {
    let schema = i32::from(values.scale().schema());
    let cells = values.numbered_cells().map(|(number, count)| (number - 1, count));
    let above = Some(((64 << schema) - 1, values.above())).filter(|(_, count)| *count > 0);
    let mut positive = Buckets::default();
    for (index, count) in cells.chain(above) {
        if positive.bucket_counts.is_empty() {
            positive.offset = index;
        }
        // Indices ascend, and there are at most 2048.
        let at = index.abs_diff(positive.offset) as usize;
        positive.bucket_counts.resize(at, 0);
        positive.bucket_counts.push(count);
    }
    let (min, max) = extremes(values);
    ExponentialPoint {
        attributes: frame.attributes,
        start_time_unix_nano: frame.start,
        time_unix_nano: frame.time,
        count: values.count(),
        sum: Some(values.sum() as f64),
        scale: schema,
        zero_count: values.below(),
        positive: Some(positive),
        exemplars: frame.exemplars,
        min,
        max,
        zero_threshold: (values.scale().min() - 1) as f64,
    }
}

/// Returns the counts between powers of two, ends included.
pub(crate) fn octaves(values: &Distribution, frame: Frame) -> HistogramPoint {
    let ends = values.scale().octaves().filter(|end| *end < u64::MAX);
    let (mut explicit_bounds, mut bucket_counts, mut before) = (Vec::new(), Vec::new(), 0);
    for (end, up_to) in values.buckets(ends) {
        explicit_bounds.push(end as f64);
        bucket_counts.push(up_to - before);
        before = up_to;
    }
    bucket_counts.push(values.count() - before);
    let (min, max) = extremes(values);
    HistogramPoint {
        attributes: frame.attributes,
        start_time_unix_nano: frame.start,
        time_unix_nano: frame.time,
        count: values.count(),
        sum: Some(values.sum() as f64),
        bucket_counts,
        explicit_bounds,
        exemplars: frame.exemplars,
        min,
        max,
    }
}

#[cfg(test)]
mod tests {
    use windrow::{Histogram, histogram::Scale};

    use super::*;

    fn frame() -> Frame {
        Frame { attributes: Vec::new(), exemplars: Vec::new(), start: 1, time: 2 }
    }

    /// Returns the bucket of `value` at a scale, by OpenTelemetry's definition: with
    /// `base = 2^(2^-scale)`, above `base^index` and at most `base^(index + 1)`.
    fn index(value: u64, scale: i32) -> i32 {
        let all = 0..64 << scale;
        // Powers of two are exact in floating point, and the test has no value that is nearer to
        // any other end than its error.
        let end = |index: i32| f64::exp2(f64::from(index + 1) / f64::from(1 << scale));
        all.clone().find(|index| value as f64 <= end(*index)).unwrap_or(all.end - 1)
    }

    #[test]
    fn cells_are_buckets_of_the_same_scale_and_powers_of_two_are_in_the_lower_one() {
        for schema in 0..=5_u8 {
            let scale = Scale::new(schema, 1, 1 << 40).unwrap();
            let powers = (1..40).map(|power| 1_u64 << power);
            let values: Vec<u64> =
                powers.flat_map(|power| [power, power + 1, power * 3 / 2]).chain([3, 1]).collect();
            for value in values {
                let histogram = Histogram::with_scale(scale);
                histogram.record(value);
                let point = exponential(&histogram.distribution(), frame());
                let positive = point.positive.unwrap();
                assert_eq!((point.scale, point.zero_count), (i32::from(schema), 0), "{value}");
                assert_eq!(positive.bucket_counts, [1]);
                // A value of 1 is `base^0`: in the bucket that ends there.
                let expected = if value == 1 { -1 } else { index(value, i32::from(schema)) };
                assert_eq!(positive.offset, expected, "{value} at {schema}");
            }
        }
    }

    #[test]
    fn what_is_outside_of_the_range_is_zero_or_ends_at_two_to_the_64() {
        let histogram = Histogram::new(); // 513 to 2^36
        for value in [0, 1, 512, 513, 1 << 36, (1 << 36) + 1, u64::MAX] {
            histogram.record(value);
        }
        let point = exponential(&histogram.distribution(), frame());
        assert_eq!((point.count, point.zero_count, point.zero_threshold), (7, 3, 512.0));
        let positive = point.positive.unwrap();
        assert_eq!(positive.offset, 72); // (2^9, 2^(9 + 1/8)]
        let used = positive.bucket_counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let used: Vec<_> = used.map(|(at, count)| (at + 72, *count)).collect();
        assert_eq!(used, [(72, 1), (8 * 36 - 1, 1), (8 * 64 - 1, 2)]);
        assert_eq!((point.min, point.max), (Some(0.0), Some(u64::MAX as f64)));
    }

    #[test]
    fn a_range_up_to_the_greatest_value_ends_in_the_last_bucket() {
        let histogram = Histogram::with_scale(Scale::new(2, 1, u64::MAX).unwrap());
        histogram.record(u64::MAX);
        let point = exponential(&histogram.distribution(), frame());
        let positive = point.positive.unwrap();
        assert_eq!((positive.offset, positive.bucket_counts), (4 * 64 - 1, vec![1]));
        let point = octaves(&histogram.distribution(), frame());
        assert_eq!(point.bucket_counts.len(), point.explicit_bounds.len() + 1);
        assert_eq!(point.bucket_counts.last(), Some(&1));
    }

    #[test]
    fn explicit_bounds_are_octaves_and_what_is_above_is_infinite() {
        let histogram = Histogram::with_scale(Scale::new(3, 4, 32).unwrap());
        for value in [0, 3, 2, 4, 5, 8, 9, 32, 33] {
            histogram.record(value);
        }
        let point = octaves(&histogram.distribution(), frame());
        assert_eq!(point.explicit_bounds, [2.0, 4.0, 8.0, 16.0, 32.0]);
        assert_eq!(point.bucket_counts, [2, 2, 2, 1, 1, 1]);
        assert_eq!((point.count, point.sum), (9, Some(96.0)));
    }

    #[test]
    fn extremes_that_are_bounds_alone_are_not_sent() {
        let histogram = Histogram::new();
        histogram.record(2_000);
        let before = histogram.lifetime();
        histogram.record(3_000);
        let since = histogram.lifetime().since(&before).unwrap();
        let point = exponential(&since, frame());
        assert_eq!((point.count, point.sum), (1, Some(3_000.0)));
        assert_eq!((point.min, point.max), (None, None));
    }
}
