//! The cells of a scale, as documented: the values that are counted together, and the numbers by
//! which other systems know the cells.

use std::ops::RangeInclusive;

use windrow::{Histogram, histogram::Scale};

use crate::distribution;

/// Scales of all schemas: from one on, beside one, and up to the last value.
fn scales() -> impl Iterator<Item = Scale> {
    let ranges = [(1, 1 << 20), (1_000, 60_000_000_000), (1 << 62, u64::MAX)];
    (0..=5).flat_map(move |schema| {
        ranges.map(|(least, greatest)| Scale::new(schema, least, greatest).unwrap())
    })
}

/// Returns the cell in which a value is counted.
fn cell(scale: Scale, value: u64) -> RangeInclusive<u64> {
    distribution(scale, &[value]).cells().map(|(cell, _)| cell).next().expect("one was recorded")
}

#[test]
fn values_of_a_cell_are_counted_together_and_its_end_is_exact() {
    for scale in scales() {
        for value in [0, 1, 2, 3, 500, 1_000, 1 << 20, 60_000_000_000, 1 << 63, u64::MAX] {
            let cell = cell(scale, value);
            assert!(cell.contains(&value), "{scale:?}, {value}");
            assert_eq!(
                [*cell.start(), *cell.end()].map(|end| self::cell(scale, end)),
                [cell.clone(), cell.clone()]
            );
            let counted = distribution(scale, &[*cell.start(), value, *cell.end()]);
            let cells: Vec<_> = counted.cells().collect();
            assert_eq!(cells, [(cell.clone(), 3)], "{scale:?}, {value}");
            assert!(counted.buckets([*cell.end()]).eq([(*cell.end(), 3)]));
        }
    }
}

#[test]
fn the_number_of_a_cell_says_between_which_powers_its_values_are() {
    for scale in scales() {
        let parts = f64::from(1_u32 << scale.schema());
        for value in
            [1, 2, 3, 4, 5, 700, 1_000, 1_024, 1_025, 54_321, 1 << 36, (1 << 62) + 1, 1 << 63]
        {
            let numbered: Vec<_> = distribution(scale, &[value]).exponential_buckets().1.collect();
            if !(scale.min()..=scale.max()).contains(&value) {
                continue; // in a bucket beside the range
            }
            let [(number, 1)] = numbered[..] else { panic!("{numbered:?}") };
            // Values that a 64-bit float cannot tell apart are skipped; whole numbers near the
            // borders are the library's own tests.
            let log = (value as f64).log2() * parts;
            assert!(
                log <= f64::from(number) + 1e-9 && log > f64::from(number - 1) - 1e-9,
                "{scale:?}, {value}: {number}"
            );
        }
    }
}

#[test]
fn a_power_of_two_ends_the_cell_whose_number_is_that_power_in_parts_of_an_octave() {
    for schema in 0..=5 {
        let scale = Scale::new(schema, 1, 1 << 40).unwrap();
        for power in 0..=40 {
            let number = |value| {
                distribution(scale, &[value])
                    .exponential_buckets()
                    .1
                    .next()
                    .map(|(number, _)| number)
            };
            assert_eq!(number(1 << power), Some(power << schema), "{scale:?}");
            if power < 40 {
                assert!(number((1 << power) + 1) > Some(power << schema), "{scale:?}");
            }
        }
    }
}

#[test]
fn many_records_of_a_value_at_once_are_that_many_records() {
    let (one, many) = (Histogram::new(), Histogram::new());
    for (value, times) in [(0, 3), (5_000, 7), (1 << 40, 2), (9_000, 1)] {
        (0..times).for_each(|_| one.record(value));
        many.record_many(value, times);
    }
    many.record_many(u64::MAX, 0); // is no record, and no maximum
    assert_eq!(many.distribution(), one.distribution());
}

#[test]
fn octaves_are_the_powers_of_two_from_before_the_range_to_its_end_and_end_cells() {
    for scale in scales() {
        let octaves: Vec<u64> = scale.octaves().collect();
        assert!(octaves.iter().all(|end| cell(scale, *end).end() == end), "{scale:?}");
        let first = if scale.min() == 1 { 1 } else { scale.min() - 1 };
        assert_eq!((octaves[0], octaves.last()), (first, Some(&scale.max())));
        assert!(
            octaves.windows(2).all(|pair| pair[1] == pair[0].saturating_mul(2).max(pair[1] & 1))
        );
        assert!(octaves.iter().all(|end| end.is_power_of_two() || *end == u64::MAX), "{octaves:?}");
    }
}

#[test]
fn a_bucket_counts_what_is_up_to_the_end_of_its_bounds_cell_in_any_order_of_bounds() {
    let values = [0, 1, 5, 700, 701, 1_024, 1_025, 54_321, 54_321, 1 << 40, u64::MAX];
    let bounds = [54_000, 0, 1, u64::MAX, 1_024, 700, 2_000_000, 699, 1 << 36];
    for scale in scales() {
        let counted = distribution(scale, &values);
        for (bound, (end, count)) in bounds.into_iter().zip(counted.buckets(bounds)) {
            assert_eq!(end, *cell(scale, bound).end());
            assert_eq!(
                count,
                values.iter().filter(|value| **value <= end).count() as u64,
                "{scale:?}, {bound}"
            );
        }
        assert_eq!(counted.buckets(bounds).count(), bounds.len());
    }
    let nothing = distribution(Scale::DEFAULT, &[]);
    assert!(nothing.buckets([3, 5_000]).eq([(512, 0), (5_311, 0)]));
}
