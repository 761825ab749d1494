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
    /// Returns the buckets of a distribution, each moved down by a number of cells. Values above
    /// the scale's range are in the infinite bucket: their size is unknown.
    pub(crate) fn of(distribution: &Distribution, down: i32, zero_threshold: f64) -> Native {
        let schema = distribution.scale().schema();
        let infinite = (1024 << schema) + 1;
        let above = Some((infinite, distribution.above())).filter(|(_, count)| *count > 0);
        let in_range = distribution.numbered_cells();
        let shown = in_range.map(|(number, count)| (number - down, count));
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
        let zero_count = distribution.below();
        Native { schema: i32::from(schema), zero_threshold, zero_count, spans, deltas }
    }
}

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
    fn spans_and_deltas_stand_for_the_cells_and_what_is_above_is_infinite() {
        for schema in 0..=5 {
            let scale = Scale::new(schema, 600, 1 << 20).unwrap();
            let values = [0, 1, 1_000, 1_001, 1_002, 1_100, 1 << 20, 1 << 21, 1 << 22];
            let counted = distribution(scale, &values);
            let cells: Vec<_> = counted.numbered_cells().collect();
            for octaves in [0, 3, 30] {
                let decoded = decoded(&Native::of(&counted, octaves << schema, 0.0));
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
        let sparse = Native::of(&distribution(scale, &[2, 3, 3, 5, 100]), 0, 0.0);
        assert_eq!(sparse.spans, [(1, 3), (3, 1)]); // (1, 2], (2, 4], (4, 8], and (64, 128]
        assert_eq!(sparse.deltas, [1, 1, -1, 0]);
        let nothing = Native::of(&distribution(scale, &[]), 0, 0.0);
        assert_eq!((nothing.spans, nothing.deltas), (vec![(0, 0)], vec![]));
    }
}
