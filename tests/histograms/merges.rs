//! A merge is what one histogram of all values would be.

use proptest::prelude::*;
use windrow::{Distribution, Histogram, Scale, ScaleMismatch, Stats};

use crate::error::{config, scales, values};
use crate::{counts, distribution};

/// What is the same in both.
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

    /// In either order. The range of both is all there is, so that each value is in it.
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
        let (mut merged, mut other) = (one.clone(), two.clone());
        merged.merge(&two).unwrap();
        other.merge(&one).unwrap();
        prop_assert_eq!(of(&merged), of(&all));
        prop_assert_eq!(merged, other);
    }

    /// What is in both ranges, or outside where that is known: else it is refused, and nothing has changed.
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
                prop_assert!(merged.scale().least() <= first.least().min(second.least()));
                prop_assert!(merged.scale().greatest() >= first.greatest().max(second.greatest()));
                prop_assert_eq!(merged.scale().schema(), first.schema().min(second.schema()));
            }
            Err(ScaleMismatch::Outside { count, from, to }) => {
                prop_assert!(count > 0 && from < to);
                let outside = [&before, &other].map(|one| [one.below(), one.above()]);
                prop_assert!(outside.as_flattened().contains(&count));
                prop_assert_eq!(merged, before);
            }
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn nothing_added_changes_nothing_but_the_scale() {
    let some = distribution(Scale::DEFAULT, &[5, 2_000, u64::MAX]);
    let (mut one, mut two) = (some.clone(), Distribution::default());
    one.merge(&Distribution::default()).unwrap();
    two.merge(&some).unwrap();
    assert_eq!((&one, &two), (&some, &some));
}

#[test]
fn what_is_below_one_range_and_in_the_other_is_refused() {
    let fine = Histogram::new();
    fine.record(700);
    let coarse = Histogram::with_scale(Scale::fixed::<3, 5_000, 60_000>());
    coarse.record(6_000);
    let mut merged = fine.distribution();
    merged.merge(&coarse.distribution()).unwrap(); // it has counted nothing below
    assert_eq!((merged.count(), merged.below()), (2, 0));
    coarse.record(700);
    coarse.record(3_000);
    let refused = merged.merge(&coarse.distribution()).unwrap_err();
    let ScaleMismatch::Outside { count, from, to } = refused.clone() else { panic!("{refused}") };
    assert_eq!((count, from, to), (2, 700, 4_096));
    assert!(refused.to_string().contains("2 values from 700 to 4096"));
}

/// A minute of three machines: the percentile of all, which no mean of theirs is.
#[test]
fn a_percentile_of_all_is_not_the_mean_of_percentiles() {
    let fast = distribution(Scale::DEFAULT, &[1_000_000; 990]);
    let slow = distribution(Scale::DEFAULT, &[900_000_000; 10]);
    let [one, two] = [&fast, &slow].map(|found| found.percentile(0.99).unwrap());
    let mean = u64::midpoint(one, two);
    let mut all = fast;
    all.merge(&slow).unwrap();
    let p99 = all.percentile(0.99).unwrap();
    assert!(p99 <= 1_043_300 && mean > 400_000_000, "{p99}, {mean}");
}
