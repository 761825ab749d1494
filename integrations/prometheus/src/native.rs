//! The buckets of a native histogram.

use windrow::histogram::Distribution;

/// A native histogram. Its positive buckets are runs of adjacent buckets, each with its distance
/// from the run before; and for each count its difference from the count before.
#[derive(Debug)]
pub(crate) struct Native {
    pub(crate) schema: i32,
    pub(crate) zero_threshold: f64,
    pub(crate) zero_count: u64,
    pub(crate) spans: Vec<(i32, u32)>,
    pub(crate) deltas: Vec<i64>,
}

impl Native {
    /// Returns the [buckets](Distribution::exponential_buckets) of a distribution, each moved down
    /// by a number of cells.
    pub(crate) fn of(distribution: &Distribution, down: i32) -> Native {
        let schema = i32::from(distribution.scale().schema());
        let (zero_count, buckets) = distribution.exponential_buckets();
        let shown = buckets.map(|(number, count)| (number - down, count));
        let (mut spans, mut deltas) = (Vec::new(), Vec::new());
        let (mut next, mut before) = (0, 0_u64);
        for (number, count) in shown {
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
        Native { schema, zero_threshold: ZERO_THRESHOLD, zero_count, spans, deltas }
    }
}

/// The zero bucket's end, 2^-128, as in Prometheus' library for Go: to add up two histograms, a
/// server widens the zero bucket to the greater threshold of both. A threshold of 0 would not do:
/// Prometheus 2.42 stores a histogram with such a threshold and without a value as a classic
/// histogram, whose series end at its first value.
pub(crate) const ZERO_THRESHOLD: f64 = f64::from_bits((1023 - 128) << 52);

#[cfg(test)]
mod tests {
    use windrow::histogram::Scale;

    use super::*;
    use crate::buckets::tests::distribution;

    /// Returns the buckets that spans and deltas stand for: numbers and counts.
    fn decoded(sparse: &Native) -> Vec<(i32, u64)> {
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
    fn spans_and_deltas_stand_for_the_cells_and_what_is_outside_is_beside_them() {
        for schema in 0..=5 {
            let scale = Scale::new(schema, 600, 1 << 20).unwrap();
            let values = [0, 1, 1_000, 1_001, 1_002, 1_100, 1 << 20, 1 << 21, 1 << 22];
            let counted = distribution(scale, &values);
            let (below, above) = ((9 << schema, 2), ((20 << schema) + 1, 2)); // 2^9 and 2^20
            let cells: Vec<_> = counted.exponential_buckets().1.collect();
            assert_eq!((cells.first(), cells.last()), (Some(&below), Some(&above)));
            for octaves in [0, 3, 30] {
                let native = Native::of(&counted, octaves << schema);
                let moved = cells.iter();
                let moved = moved.map(|(number, count)| (number - (octaves << schema), *count));
                assert_eq!(decoded(&native), moved.collect::<Vec<_>>());
                assert_eq!((native.zero_count, native.zero_threshold), (0, 2.0_f64.powi(-128)));
            }
        }
    }

    #[test]
    fn neighbours_are_in_one_span_and_nothing_has_an_empty_one() {
        let scale = Scale::new(0, 1, 1 << 10).unwrap();
        let sparse = Native::of(&distribution(scale, &[2, 3, 3, 5, 100]), 0);
        assert_eq!(sparse.spans, [(1, 3), (3, 1)]); // (1, 2], (2, 4], (4, 8], and (64, 128]
        assert_eq!(sparse.deltas, [1, 1, -1, 0]);
        let nothing = Native::of(&distribution(scale, &[]), 0);
        assert_eq!((nothing.spans, nothing.deltas), (vec![(0, 0)], vec![]));
    }
}
