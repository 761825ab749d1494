//! A sum of one number over several processes: a count, a level, an extreme or a distribution.
//!
//! Counts and levels have 128 bits here, so they do not overflow. The sum of values wraps at 2^64,
//! as in each process. The sum of finite real numbers may be beyond their range: then it is
//! infinite or no number, which is `null` in JSON, and `inf` or `NaN` in a text.

use windrow::histogram::Distribution;

use super::reading::Numbers;

/// The number of cells of a distribution that take the memory of a text: see [`Sum::cells`].
const CELLS: usize = 16;

/// A sum of the numbers of an event.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Sum {
    Count(u128),
    Signed(i128),
    Value {
        count: u128,
        sum: u64,
        min: Option<u64>,
        max: Option<u64>,
    },
    /// Without values if those of two processes have no common cells.
    Histogram {
        count: u128,
        values: Option<Distribution>,
    },
    Maximum(Option<u64>),
    Minimum(Option<u64>),
    Real(f64),
}

impl From<&Numbers> for Sum {
    fn from(numbers: &Numbers) -> Sum {
        match numbers {
            Numbers::Count(count) => Sum::Count(u128::from(*count)),
            Numbers::Signed(sum) => Sum::Signed(i128::from(*sum)),
            Numbers::Value(stats) => Sum::Value {
                count: u128::from(stats.count),
                sum: stats.sum,
                min: stats.min,
                max: stats.max,
            },
            Numbers::Histogram(values) => {
                Sum::Histogram { count: u128::from(values.count()), values: Some(values.clone()) }
            }
            Numbers::Maximum(value) => Sum::Maximum(*value),
            Numbers::Minimum(value) => Sum::Minimum(*value),
            Numbers::Real(number) => Sum::Real(number.unwrap_or_default()),
        }
    }
}

impl Sum {
    /// Adds the numbers of another process. They are of one kind.
    pub(super) fn join(&mut self, other: Sum) {
        match (self, other) {
            (Sum::Count(all), Sum::Count(count)) => *all += count,
            (Sum::Signed(all), Sum::Signed(sum)) => *all += sum,
            (Sum::Real(all), Sum::Real(number)) => *all += number,
            (Sum::Maximum(all), Sum::Maximum(value)) => *all = (*all).max(value),
            (Sum::Minimum(all), Sum::Minimum(value)) => *all = least(*all, value),
            (
                Sum::Value { count, sum, min, max },
                Sum::Value { count: more, sum: sums, min: low, max: high },
            ) => {
                *count += more;
                *sum = sum.wrapping_add(sums); // as it does in each process
                *min = least(*min, low);
                *max = (*max).max(high);
            }
            (Sum::Histogram { count, values }, Sum::Histogram { count: more, values: others }) => {
                *count += more;
                let merged = match (values.as_mut(), &others) {
                    (Some(values), Some(others)) => values.merge(others).is_ok(),
                    _ => false,
                };
                if !merged {
                    *values = None;
                }
            }
            _ => {} // kinds are compared before
        }
    }

    /// Returns the size of the cells of a distribution, beyond that of any sum: a part of 256 bytes
    /// counts as one.
    pub(super) fn cells(&self) -> usize {
        match self {
            Sum::Histogram { values: Some(values), .. } => values.cells().count().div_ceil(CELLS),
            _ => 0,
        }
    }

    /// Returns the one number of a metric without events. `None` for extremes without values.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Sum::Count(count) | Sum::Value { count, .. } | Sum::Histogram { count, .. } => {
                Some(*count as f64)
            }
            Sum::Signed(sum) => Some(*sum as f64),
            Sum::Maximum(value) | Sum::Minimum(value) => value.map(|value| value as f64),
            Sum::Real(number) => Some(*number),
        }
    }

    /// Returns the sum for a terminal.
    pub(super) fn text(&self) -> String {
        match self {
            Sum::Count(count) | Sum::Value { count, .. } | Sum::Histogram { count, .. } => {
                count.to_string()
            }
            Sum::Signed(sum) => sum.to_string(),
            Sum::Maximum(value) | Sum::Minimum(value) => {
                value.map_or_else(|| "none".to_owned(), |value| value.to_string())
            }
            Sum::Real(number) => format!("{number:?}"),
        }
    }
}

fn least(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    [one, other].into_iter().flatten().min()
}
