//! Histograms: what a distribution says beside the list of all values, what merges give, and
//! records under threads that read and drain.

mod cells;
mod exemplars;
mod extremes;
mod families;
mod merges;
mod quantile_error;
mod ranks;
mod records;
mod sums;
mod window_records;
mod windows;

use windrow::{
    Histogram,
    histogram::{Distribution, Scale},
};

/// Returns a histogram's distribution of `values`.
fn distribution(scale: Scale, values: &[u64]) -> Distribution {
    let histogram = Histogram::with_scale(scale);
    for value in values {
        histogram.record(*value);
    }
    histogram.distribution()
}

/// Returns all that a distribution counts, by the greatest value of each cell.
fn counts(of: &Distribution) -> Vec<(u64, u64)> {
    of.cells().map(|(values, count)| (*values.end(), count)).collect()
}

/// Two as one.
fn merged([one, other]: [&Distribution; 2]) -> Distribution {
    let mut both = one.clone();
    both.merge(other).expect("scales that agree");
    both
}
