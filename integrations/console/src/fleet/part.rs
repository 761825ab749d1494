//! The part of one process in a row, and the spread of all parts.

use windrow::Kind;
use windrow::histogram::Scale;

use super::reading::{Numbers, Series};
use crate::percentiles;
use crate::roles::Roles;

/// The position of the failed operations among the counts of a part, and of the refused ones.
pub(super) const FAILED: usize = 1;
pub(super) const REFUSED: usize = 2;

/// The positions of the median and of the 99th percentile among the percentiles.
pub(super) const P50: usize = 0;
pub(super) const P99: usize = 2;

/// The numbers of one process in a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    /// The position of the process in the view.
    pub(super) process: usize,
    /// Operations a second, over the closed buckets of the interval; of a metric without events,
    /// its number. `None` for a window that is too young to have a rate, and for extremes without
    /// values.
    pub(super) rate: Option<f64>,
    /// The operations of that span: all, failed and refused.
    pub(super) counts: [u64; 3],
    /// The percentiles of the first event with any.
    pub(super) percentiles: [Option<u64>; percentiles::PERCENTILES.len()],
}

/// A number of a process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Of {
    pub(super) value: f64,
    pub(super) process: usize,
}

/// The lowest, the median and the highest of the processes' numbers. Of an even number of
/// processes, the median is the higher one of the two in the middle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    pub(super) low: Of,
    pub(super) median: Of,
    pub(super) high: Of,
}

/// Returns an event's kind by its name. A scale does not matter here.
pub(super) fn kind_of(name: Option<&str>) -> Kind {
    match name {
        Some("Count") => Kind::Count,
        Some("Value") => Kind::Value,
        Some("Histogram") => Kind::Histogram(Scale::DEFAULT),
        Some("Maximum") => Kind::Maximum,
        Some("Minimum") => Kind::Minimum,
        _ => Kind::Signed,
    }
}

impl Part {
    pub(super) fn of(process: usize, roles: Option<&Roles>, series: &Series) -> Part {
        let values = series.values();
        let mut part = Part {
            process,
            rate: None,
            counts: [0; 3],
            percentiles: values.map(percentiles::percentiles).unwrap_or_default(),
        };
        if let Some(roles) = roles {
            part.counts = roles.counts(|event| count(&series.last[event]));
            let seconds = series.span_ns as f64 / 1e9;
            part.rate = (seconds > 0.0).then(|| part.counts[0] as f64 / seconds);
        } else {
            part.rate = series.all.first().and_then(number);
        }
        part
    }

    /// Returns the share of the operations that failed, or that were refused.
    pub(super) fn share(&self, which: usize) -> Option<f64> {
        let all = self.counts[0];
        (all > 0).then(|| self.counts[which] as f64 / all as f64)
    }

    /// Returns the 99th percentile; 0 if there is none.
    pub(super) fn p99(&self) -> f64 {
        self.percentiles[P99].unwrap_or_default() as f64
    }
}

/// Returns the count of an event that has one; 0 for any other.
pub(super) fn count(numbers: &Numbers) -> u64 {
    match numbers {
        Numbers::Count(count) => *count,
        Numbers::Value(stats) => stats.count,
        Numbers::Histogram(values) => values.count(),
        _ => 0,
    }
}

/// Returns the number of a metric without events.
fn number(numbers: &Numbers) -> Option<f64> {
    match numbers {
        Numbers::Count(count) => Some(*count as f64),
        Numbers::Signed(sum) => Some(*sum as f64),
        Numbers::Maximum(value) | Numbers::Minimum(value) => value.map(|value| value as f64),
        Numbers::Real(number) => *number,
        Numbers::Value(_) | Numbers::Histogram(_) => Some(count(numbers) as f64),
    }
}

impl Spread {
    /// Returns the spread of a number over the processes that have it.
    pub(super) fn of(parts: &[Part], number: impl Fn(&Part) -> Option<f64>) -> Option<Spread> {
        let found = |part: &Part| Some(Of { value: number(part)?, process: part.process });
        let mut all: Vec<Of> = parts.iter().filter_map(found).collect();
        all.sort_by(|one, other| one.value.total_cmp(&other.value));
        let (low, high) = (*all.first()?, *all.last()?);
        Some(Spread { low, median: all[all.len() / 2], high })
    }

    pub(super) fn of_rates(parts: &[Part]) -> Option<Spread> {
        Spread::of(parts, |part| part.rate)
    }

    pub(super) fn of_failures(parts: &[Part]) -> Option<Spread> {
        Spread::of(parts, |part| part.share(FAILED))
    }

    /// Returns the spread of a percentile, by its position.
    pub(super) fn of_percentiles(parts: &[Part], position: usize) -> Option<Spread> {
        Spread::of(parts, |part| part.percentiles[position].map(|value| value as f64))
    }
}
