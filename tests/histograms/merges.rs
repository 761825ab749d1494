//! A merge is what one histogram of all values would be.

use proptest::collection::vec;
use proptest::prelude::*;
use windrow::{
    Histogram, Stats,
    histogram::{Distribution, Scale, ScaleError},
};

use crate::quantile_error::{below, config, scales, values};
use crate::{counts, distribution, merged};

/// Returns the parts that are equal in both.
fn of(found: &Distribution) -> (Scale, Vec<(u64, u64)>, Stats) {
    let (min, max) = (found.min(), found.max());
    let stats = Stats { count: found.count(), sum: found.sum(), min, max };
    (found.scale(), counts(found), stats)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn of_one_scale_it_is_that_of_all_values(scale in scales(), one in values(), two in values()) {
        let mut merged = distribution(scale, &one);
        merged.merge(&distribution(scale, &two)).unwrap();
        prop_assert_eq!(merged, distribution(scale, &[one, two].concat()));
    }

    /// In either order. The range of both is all there is, so that each value is in it. (Of one
    /// without values the scale says nothing.)
    #[test]
    fn of_a_finer_schema_it_is_that_of_all_values_in_the_coarser_one(
        (fine, coarse) in (0..=5_u8, 0..=5_u8).prop_map(|(one, two)| (one.max(two), one.min(two))),
        from in 1..100_000_u64,
        one in values(),
        two in values(),
    ) {
        let [fine, coarse] = [fine, coarse].map(|schema| Scale::new(schema, from, 1 << 40).unwrap());
        let all = distribution(coarse, &[one.clone(), two.clone()].concat());
        let (one, two) = (distribution(fine, &one), distribution(coarse, &two));
        prop_assume!(one.count() > 0 && two.count() > 0);
        let (mut merged, mut other) = (one.clone(), two.clone());
        merged.merge(&two).unwrap();
        other.merge(&one).unwrap();
        prop_assert_eq!(of(&merged), of(&all));
        prop_assert_eq!(merged, other);
    }

    /// A merge converts values in both ranges, and those outside if they are known: otherwise it is
    /// refused, and nothing has changed.
    #[test]
    fn what_is_since_an_earlier_one_is_that_of_the_later_values(
        scale in scales(), earlier in values(), later in values(),
    ) {
        let before = distribution(scale, &earlier);
        let all = distribution(scale, &[earlier, later.clone()].concat());
        let since = all.since(&before).expect("one scale");
        let expected = distribution(scale, &later);
        prop_assert_eq!((counts(&since), since.sum()), (counts(&expected), expected.sum()));
        if let (Some(min), Some(max)) = (expected.min(), expected.max()) {
            prop_assert!(since.min() <= Some(min) && Some(max) <= since.max());
        }
        let both = merged([&before, &since]);
        prop_assert_eq!((counts(&both), both.sum()), (counts(&all), all.sum()));
        // The other way round, the source has begun again.
        if !later.is_empty() {
            prop_assert_eq!(before.since(&all).expect("one scale"), before);
        }
    }

    #[test]
    fn of_any_scales_it_is_right_or_refused(
        (first, second) in (scales(), scales()),
        one in values(),
        two in values(),
    ) {
        let (before, other) = (distribution(first, &one), distribution(second, &two));
        let mut merged = before.clone();
        match merged.merge(&other) {
            Ok(()) => {
                let all = distribution(merged.scale(), &[one, two].concat());
                prop_assert_eq!(of(&merged), of(&all));
                let is_empty = [&before, &other].map(|one| one.count() == 0);
                if is_empty.contains(&true) {
                    prop_assert_eq!(merged.scale(), if is_empty[0] { second } else { first });
                    return Ok(());
                }
                prop_assert!(merged.scale().min() <= first.min().min(second.min()));
                prop_assert!(merged.scale().max() >= first.max().max(second.max()));
                prop_assert_eq!(merged.scale().schema(), first.schema().min(second.schema()));
            }
            Err(ScaleError::Outside { count, from, to }) => {
                prop_assert!(count > 0 && from < to);
                let above = |one: &Distribution| *one.count_above(one.scale().max()).start();
                let outside = [&before, &other].map(|one| [below(one), above(one)]);
                prop_assert!(outside.as_flattened().contains(&count));
                prop_assert_eq!(merged, before);
            }
            Err(other) => panic!("{other}"),
        }
    }
}

/// Returns the distributions in this order, added up as the guide does.
fn folded<'a>(
    parts: impl IntoIterator<Item = &'a Distribution>,
) -> Result<Distribution, ScaleError> {
    let mut all = Distribution::default();
    parts.into_iter().try_for_each(|part| all.merge(part))?;
    Ok(all)
}

proptest! {
    #![proptest_config(config())]

    /// Empty distributions of any scales, anywhere in the order, beside some of one scale.
    #[test]
    fn empty_distributions_are_neutral_in_every_order(
        scale in scales(),
        parts in vec(prop_oneof![
            values().prop_map(Ok),
            scales().prop_map(Err),
        ], 0..6).prop_shuffle(),
    ) {
        let of = |part: &Result<Vec<u64>, Scale>| match part {
            Ok(values) => distribution(scale, values),
            Err(empty) => distribution(*empty, &[]),
        };
        let all: Vec<Distribution> = parts.iter().map(of).collect();
        let some: Vec<&Distribution> = all.iter().filter(|part| part.count() > 0).collect();
        let merged = folded(&all).unwrap(); // nothing is refused
        prop_assert_eq!(&merged, &folded(&all).unwrap());
        if some.is_empty() {
            prop_assert!(merged.count() == 0);
        } else {
            let values: Vec<u64> = parts.iter().flat_map(|part| part.clone().unwrap_or_default()).collect();
            prop_assert_eq!(merged, distribution(scale, &values));
        }
    }

    /// Coarser cells are those that a histogram of the coarser scale would have had.
    #[test]
    fn coarsened_it_is_that_of_all_values_in_the_coarser_scale(
        scale in scales(), schema in 0..=7_u8, values in values(),
    ) {
        let coarse = Scale::new(schema.min(scale.schema()), scale.min(), scale.max()).unwrap();
        prop_assert_eq!(distribution(scale, &values).coarsened(schema), distribution(coarse, &values));
    }
}

/// The sum of minutes keeps the scale of the minutes: from the default there is nothing to take
/// over.
#[test]
fn a_fold_from_the_default_keeps_the_scale_of_the_parts() {
    let fine = Scale::fixed::<5, 1, 1_000_000>();
    let part = distribution(fine, &[700, 700, 2_000]);
    let all = folded([&part, &part]).unwrap();
    assert_eq!((all.scale(), all.count()), (fine, 6));
    // Values below the part's range, which the default's range has: they are counted where they
    // were.
    let low = distribution(Scale::fixed::<3, 1_000_000, 2_000_000>(), &[2_000, 3_000, 1_500_000]);
    assert_eq!(folded([&low]).unwrap(), low);
    let mut first = low.clone();
    first.merge(&Distribution::default()).unwrap();
    assert_eq!(first, low);
}

#[test]
fn what_is_below_one_range_and_in_the_other_is_refused() {
    let fine = Histogram::new();
    fine.record(700);
    let coarse = Histogram::with_scale(Scale::fixed::<3, 5_000, 60_000>());
    coarse.record(6_000);
    let mut merged = fine.distribution();
    merged.merge(&coarse.distribution()).unwrap(); // it has counted nothing below
    assert_eq!((merged.count(), below(&merged)), (2, 0));
    coarse.record(700);
    coarse.record(3_000);
    let refused = merged.merge(&coarse.distribution()).unwrap_err();
    let ScaleError::Outside { count, from, to } = refused.clone() else { panic!("{refused}") };
    assert_eq!((count, from, to), (2, 700, 4_096));
    assert!(refused.to_string().contains("2 values from 700 to 4096"));
}

/// A minute of three machines: the percentile of all, which no mean of theirs is.
#[test]
fn a_percentile_of_all_is_not_the_mean_of_percentiles() {
    let fast = distribution(Scale::DEFAULT, &[1_000_000; 990]);
    let slow = distribution(Scale::DEFAULT, &[900_000_000; 10]);
    let [one, two] = [&fast, &slow].map(|found| found.quantile(0.99).unwrap());
    let mean = u64::midpoint(one, two);
    let mut all = fast;
    all.merge(&slow).unwrap();
    let p99 = all.quantile(0.99).unwrap();
    assert!(p99 <= 1_043_300 && mean > 400_000_000, "{p99}, {mean}");
}
