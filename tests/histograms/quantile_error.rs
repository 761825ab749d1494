//! The answers of a distribution, beside the sorted list of all records.

use std::ops::RangeInclusive;

use proptest::collection::vec;
use proptest::prelude::*;
use testkit::Rng;
use testkit::ledger::summand;
use windrow::histogram::{Distribution, Scale};

use crate::distribution;

/// The parts of a thousand that are asked for.
const PARTS: [u64; 12] = [0, 1, 70, 100, 250, 500, 750, 900, 950, 990, 999, 1_000];

/// Returns the value of a percentile, by the list: in whole numbers, so that nothing is rounded.
fn of_list(sorted: &[u64], part: u64) -> u64 {
    let rank = (part * sorted.len() as u64).div_ceil(1_000).max(1);
    sorted[rank as usize - 1]
}

/// Returns whether `stands` may stand for `value`, as far as floating-point numbers tell.
fn is_within(stands: u64, value: u64, error: f64) -> bool {
    stands.abs_diff(value) as f64 <= value as f64 * error * (1.0 + 4.0 * f64::EPSILON) + 0.5
}

/// Returns the number of values below the scale's range.
pub(crate) fn below(found: &Distribution) -> u64 {
    found.cells().filter(|(cell, _)| *cell.start() == 0).map(|(_, count)| count).sum()
}

/// Compares all that a distribution says with the list.
pub(crate) fn agrees_with(found: &Distribution, values: &[u64]) {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let scale = found.scale();
    let sum = values.iter().map(|value| summand(*value)).fold(0, u64::wrapping_add);
    assert_eq!((found.count(), found.sum()), (values.len() as u64, sum));
    assert_eq!((found.min(), found.max()), (sorted.first().copied(), sorted.last().copied()));
    assert_eq!(found.count(), found.cells().map(|(_, count)| count).sum::<u64>());
    let outside =
        |is: &dyn Fn(u64) -> bool| values.iter().filter(|value| is(**value)).count() as u64;
    let above = outside(&|value| value > scale.max());
    assert_eq!(below(found), outside(&|value| value < scale.min()));
    assert_eq!(found.count_above(scale.max()), above..=above);
    for (holds, count) in found.cells() {
        let held = values.iter().filter(|value| holds.contains(value)).count();
        assert_eq!(held as u64, count, "{holds:?} of {scale:?}");
    }
    let range = scale.min()..=scale.max();
    for part in PARTS {
        let q = part as f64 / 1_000.0;
        if sorted.is_empty() {
            assert_eq!(found.quantile(q), None);
            continue;
        }
        let value = of_list(&sorted, part);
        let stands = found.quantile(q).unwrap();
        let holds = |cell: &RangeInclusive<u64>| cell.contains(&value) && cell.contains(&stands);
        assert!(found.cells().any(|(cell, _)| holds(&cell)), "{part}: {stands} for {value}");
        if range.contains(&value) {
            let is_right = is_within(stands, value, found.scale().error_bound());
            assert!(is_right, "{part} of 1000: {stands} for {value} in {scale:?}");
        }
    }
    let borders = found.cells().map(|(holds, _)| *holds.end());
    for (value, is_border) in
        values.iter().map(|value| (*value, false)).chain(borders.map(|border| (border, true)))
    {
        let up_to = sorted.partition_point(|other| *other <= value) as u64;
        let most = found.count_above(value);
        assert!(most.contains(&(found.count() - up_to)), "{value}: {most:?}");
        assert!(!is_border || most.start() == most.end(), "{value} ends a cell: {most:?}");
    }
}

/// Numbers from 0 to 1, both apart.
fn fraction(random: &mut Rng) -> f64 {
    (random.f64() + f64::EPSILON).min(1.0 - f64::EPSILON)
}

/// Returns a number with the normal distribution (Box and Muller).
fn normal(random: &mut Rng) -> f64 {
    let (radius, angle) = (fraction(random), fraction(random));
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

type Known = (&'static str, fn(&mut Rng) -> f64);

const KNOWN: [Known; 5] = [
    ("uniform", |random| 1e3 + 1e9 * fraction(random)),
    ("exponential", |random| 2e3 - 5e6 * fraction(random).ln()),
    ("log-normal", |random| (14.0 + 1.5 * normal(random)).exp().max(600.0)),
    ("bimodal", |random| {
        let middle = if random.u8(..10) == 0 { 80e6 } else { 1e6 };
        (middle * (1.0 + 0.1 * normal(random))).max(600.0)
    }),
    ("constant", |_| 123_456_789.0),
];

#[test]
fn percentiles_of_known_distributions_are_within_the_error() {
    for (name, next) in KNOWN {
        for schema in 0..=5 {
            let scale = Scale::new(schema, 1_000, 60_000_000_000).unwrap();
            let mut random = Rng::with_seed(7);
            #[allow(clippy::cast_sign_loss)] // none is negative
            let values: Vec<u64> = (0..1_000).map(|_| next(&mut random) as u64).collect();
            let found = distribution(scale, &values);
            assert_eq!((below(&found), found.count_above(scale.max())), (0, 0..=0), "{name}");
            agrees_with(&found, &values);
        }
    }
}

/// The nearest number to 0.07 is above it; 7 of 100 are the 7th all the same.
#[test]
fn of_a_hundred_values_each_percent_is_one() {
    for few in 1..100 {
        let values: Vec<u64> = (0..100).map(|n| if n < few { 1_000 } else { 1_000_000 }).collect();
        let found = distribution(Scale::DEFAULT, &values);
        let [last, next] =
            [few, few + 1].map(|part| found.quantile(f64::from(part) / 100.0).unwrap());
        assert!(last < 2_000 && next > 900_000, "{few} of 100: {last}, {next}");
    }
}

#[test]
fn of_equal_values_each_percentile_is_exact() {
    let found = distribution(Scale::DEFAULT, &[987_654_321; 1_000]);
    assert_eq!([0.0, 0.5, 0.999, 1.0].map(|q| found.quantile(q)), [Some(987_654_321); 4]);
}

/// The worst case: a value at the end of a cell, and others all over it.
#[test]
fn the_error_that_is_stated_can_nearly_be_reached() {
    let scale = Scale::DEFAULT;
    // The cell that ends at 2^30, and its neighbours.
    let begin = 2_f64.powf(30.0 - 0.125);
    #[allow(clippy::cast_sign_loss)]
    let values = [1, begin as u64 + 1, 1 << 30, u64::MAX];
    let found = distribution(scale, &values);
    for value in &values[1..3] {
        let stands = found.quantile(0.5).unwrap();
        assert!(is_within(stands, *value, found.scale().error_bound()));
        assert!(!is_within(stands, *value, found.scale().error_bound() * 0.999));
    }
}

#[test]
fn nothing_answers_what_is_no_part() {
    let found = distribution(Scale::DEFAULT, &[2_000]);
    for q in [-0.1, 1.1, 99.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(found.quantile(q), None, "{q}");
    }
    assert_eq!(found.quantile(-0.0), Some(2_000));
}

/// Scales of all schemas and many ranges.
pub(crate) fn scales() -> impl Strategy<Value = Scale> {
    let end = || prop_oneof![1..5_u64, (0..64_u32).prop_map(|power| 1 << power), 1..=u64::MAX];
    (0..=5_u8, end(), end())
        .prop_map(|(schema, one, two)| Scale::new(schema, one.min(two), one.max(two)).unwrap())
}

/// Values of all sizes, small ones and powers of two with their neighbours among them.
pub(crate) fn values() -> impl Strategy<Value = Vec<u64>> {
    let power =
        (0..64_u32, -1..=1_i64).prop_map(|(power, by)| (1_u64 << power).wrapping_add_signed(by));
    let any = (any::<u64>(), 0..64_u32).prop_map(|(bits, shift)| bits >> shift);
    vec(prop_oneof![power, any, 0..20_u64, 1_000..1_100_u64], 0..100)
}

/// Failures are printed, and written to no file.
pub(crate) fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn whatever_was_recorded_agrees_with_the_list(scale in scales(), values in values()) {
        agrees_with(&distribution(scale, &values), &values);
    }
}
