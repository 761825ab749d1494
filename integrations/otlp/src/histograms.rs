//! Distributions as data points.

use prost::encoding::encode_varint;
use windrow::histogram::Distribution;

use crate::draft::Frame;
use crate::exemplars;
use crate::protobuf::{begin, put_double, put_fixed, put_nested, put_zigzag};

/// The tags that `HistogramDataPoint` and `ExponentialHistogramDataPoint` have in common.
const START: u8 = 2;
const TIME: u8 = 3;
const COUNT: u8 = 4;
const SUM: u8 = 5;

/// The tags of `HistogramDataPoint`.
mod explicit {
    pub(super) const BUCKET_COUNTS: u8 = 6;
    pub(super) const EXPLICIT_BOUNDS: u8 = 7;
    pub(super) const EXEMPLARS: u8 = 8;
    pub(super) const ATTRIBUTES: u8 = 9;
    pub(super) const MIN: u8 = 11;
    pub(super) const MAX: u8 = 12;
}

/// The tags of `ExponentialHistogramDataPoint`.
mod exponential {
    pub(super) const ATTRIBUTES: u8 = 1;
    pub(super) const SCALE: u8 = 6;
    pub(super) const ZERO_COUNT: u8 = 7;
    pub(super) const POSITIVE: u8 = 8;
    pub(super) const EXEMPLARS: u8 = 11;
    pub(super) const MIN: u8 = 12;
    pub(super) const MAX: u8 = 13;
}

/// The tags of `Buckets`.
mod buckets {
    pub(super) const OFFSET: u8 = 1;
    pub(super) const BUCKET_COUNTS: u8 = 2;
}

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

/// Appends what both kinds of data points begin with.
fn put_totals(values: &Distribution, frame: Frame<'_>, to: &mut Vec<u8>) {
    put_fixed(START, frame.start, to);
    put_fixed(TIME, frame.time, to);
    put_fixed(COUNT, values.count(), to);
    put_double(SUM, values.sum() as f64, to);
}

/// Appends minimum and maximum, if they are values and not bounds alone.
fn put_extremes(values: &Distribution, min: u8, max: u8, to: &mut Vec<u8>) {
    for (tag, extreme) in [(min, values.min()), (max, values.max())] {
        if let Some(extreme) = extreme.filter(|_| values.has_exact_extremes()) {
            put_double(tag, extreme as f64, to);
        }
    }
}

/// Appends the cells as a message `ExponentialHistogramDataPoint`.
///
/// With schema `s`, cell `n` holds the values above `2^((n - 1) / 2^s)` and at most `2^(n / 2^s)`:
/// this is the bucket with the index `n - 1` at scale `s`, ends included. Values outside of the
/// range are in the buckets [beside it](Distribution::exponential_buckets). The zero bucket has
/// zeros alone, so it needs no threshold.
pub(crate) fn put_exponential(values: &Distribution, frame: Frame<'_>, to: &mut Vec<u8>) {
    let schema = i32::from(values.scale().schema());
    frame.attributes.put(exponential::ATTRIBUTES, to);
    put_totals(values, frame, to);
    put_zigzag(exponential::SCALE, schema, to);
    let (zeros, buckets) = values.exponential_buckets();
    put_fixed(exponential::ZERO_COUNT, zeros, to);
    let indexed = buckets.map(|(number, count)| (number - 1, count));
    put_nested(exponential::POSITIVE, to, |to| put_buckets(indexed, to));
    exemplars::put(exponential::EXEMPLARS, frame.exemplars, to);
    put_extremes(values, exponential::MIN, exponential::MAX, to);
}

/// Appends counts by their indices, which ascend, as a message `Buckets`.
fn put_buckets(mut cells: impl Iterator<Item = (i32, u64)>, to: &mut Vec<u8>) {
    let Some((offset, first)) = cells.next() else { return };
    put_zigzag(buckets::OFFSET, offset, to);
    put_nested(buckets::BUCKET_COUNTS, to, |to| {
        encode_varint(first, to);
        let mut next = offset + 1;
        for (index, count) in cells {
            // Zeros, each of which is one byte. There are at most 2048.
            to.resize(to.len() + index.abs_diff(next) as usize, 0);
            encode_varint(count, to);
            next = index + 1;
        }
    });
}

/// Appends the counts between powers of two, ends included, as a message `HistogramDataPoint`.
pub(crate) fn put_octaves(values: &Distribution, frame: Frame<'_>, to: &mut Vec<u8>) {
    put_totals(values, frame, to);
    let ends = || values.scale().octaves().filter(|end| *end < u64::MAX);
    let (bounds, schema) = (ends().count(), values.scale().schema());
    begin(explicit::BUCKET_COUNTS, 8 * (bounds + 1), to);
    let (zeros, cells) = values.exponential_buckets();
    let (mut cells, mut before, mut up_to) = (cells.peekable(), 0, zeros);
    for end in ends() {
        // The last cell up to `2^k` has the number `k * 2^s`: see `put_exponential`.
        let last = end.ilog2().cast_signed() << schema;
        while let Some((_, count)) = cells.next_if(|(number, _)| *number <= last) {
            up_to = up_to.saturating_add(count);
        }
        to.extend_from_slice(&(up_to - before).to_le_bytes());
        before = up_to;
    }
    to.extend_from_slice(&(values.count() - before).to_le_bytes());
    if bounds > 0 {
        begin(explicit::EXPLICIT_BOUNDS, 8 * bounds, to);
        ends().for_each(|end| to.extend_from_slice(&(end as f64).to_le_bytes()));
    }
    exemplars::put(explicit::EXEMPLARS, frame.exemplars, to);
    frame.attributes.put(explicit::ATTRIBUTES, to);
    put_extremes(values, explicit::MIN, explicit::MAX, to);
}

#[cfg(test)]
mod tests {
    use opentelemetry_proto::tonic::metrics::v1::{
        ExponentialHistogramDataPoint, HistogramDataPoint,
    };
    use prost::Message;
    use windrow::{Histogram, histogram::Scale};

    use super::*;
    use crate::attributes::Attributes;

    /// Returns the message that a function appends, as the generated code reads it.
    fn point<P: Message + Default>(
        values: &Distribution,
        put: fn(&Distribution, Frame<'_>, &mut Vec<u8>),
    ) -> P {
        let mut bytes = Vec::new();
        let attributes = &Attributes::default();
        put(values, Frame { attributes, exemplars: &[], start: 1, time: 2 }, &mut bytes);
        let message = P::decode(&*bytes).unwrap();
        assert_eq!(bytes, message.encode_to_vec());
        message
    }

    fn exponential(values: &Distribution) -> ExponentialHistogramDataPoint {
        point(values, put_exponential)
    }

    fn octaves(values: &Distribution) -> HistogramDataPoint {
        point(values, put_octaves)
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
                let point = exponential(&histogram.distribution());
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
    fn what_is_outside_of_the_range_is_in_the_buckets_beside_it() {
        let histogram = Histogram::new(); // 513 to 2^36
        for value in [0, 1, 512, 513, 1 << 36, (1 << 36) + 1, u64::MAX] {
            histogram.record(value);
        }
        let point = exponential(&histogram.distribution());
        assert_eq!((point.count, point.zero_count, point.zero_threshold), (7, 0, 0.0));
        let positive = point.positive.unwrap();
        assert_eq!(positive.offset, 71); // (2^(9 - 1/8), 2^9]
        let used = positive.bucket_counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let used: Vec<_> = used.map(|(at, count)| (at + 71, *count)).collect();
        assert_eq!(used, [(71, 3), (72, 1), (8 * 36 - 1, 1), (8 * 36, 2)]);
        assert_eq!((point.min, point.max), (Some(0.0), Some(u64::MAX as f64)));
    }

    #[test]
    fn a_range_up_to_the_greatest_value_ends_in_the_last_bucket() {
        let histogram = Histogram::with_scale(Scale::new(2, 1, u64::MAX).unwrap());
        histogram.record(u64::MAX);
        let point = exponential(&histogram.distribution());
        let positive = point.positive.unwrap();
        assert_eq!((positive.offset, positive.bucket_counts), (4 * 64 - 1, vec![1]));
        let point = octaves(&histogram.distribution());
        assert_eq!(point.bucket_counts.len(), point.explicit_bounds.len() + 1);
        assert_eq!(point.bucket_counts.last(), Some(&1));
    }

    #[test]
    fn explicit_bounds_are_octaves_and_what_is_above_is_infinite() {
        let histogram = Histogram::with_scale(Scale::new(3, 4, 32).unwrap());
        for value in [0, 3, 2, 4, 5, 8, 9, 32, 33] {
            histogram.record(value);
        }
        let point = octaves(&histogram.distribution());
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
        let point = exponential(&since);
        assert_eq!((point.count, point.sum), (1, Some(3_000.0)));
        assert_eq!((point.min, point.max), (None, None));
    }
}
