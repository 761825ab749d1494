//! The numbers of a distribution.

use windrow::histogram::Distribution;

use super::number::Number;
use crate::shown::layout::{PERCENTILES, QUANTILES};

/// Returns the percentiles that are shown.
pub(crate) fn percentiles(distribution: &Distribution) -> [Option<u64>; PERCENTILES] {
    QUANTILES.map(|(_, q)| distribution.quantile(q))
}

/// Appends the numbers of a row: the all-time count; and of these values count, sum, minimum,
/// maximum and percentiles.
pub(crate) fn numbers(lifetime: u64, values: &Distribution, into: &mut Vec<Number>) {
    into.extend([lifetime, values.count(), values.sum()].map(Number::whole));
    into.extend([values.min(), values.max()].map(Number::from));
    into.extend(percentiles(values).map(Number::from));
}

/// Returns the sum of distributions, which must be of one scale.
pub(crate) fn sum(parts: impl IntoIterator<Item = Distribution>) -> Distribution {
    parts.into_iter().fold(Distribution::default(), |mut all, part| {
        let _ = all.merge(&part); // scales that are the same have the same cells
        all
    })
}

/// Returns the number of values that are surely above each bound.
pub(crate) fn above(values: &Distribution, bounds: [u64; PERCENTILES]) -> [u64; PERCENTILES] {
    bounds.map(|bound| *values.count_above(bound).start())
}
