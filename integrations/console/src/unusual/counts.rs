//! Counts of operations and values, and what is compared of them.

use super::change::Of;
use crate::shown::layout::PERCENTILES;

/// All-time counts, modulo 2^32, because only differences are used; or the counts of a span.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Counts {
    /// Operations, including those that failed or were refused.
    pub(crate) all: u32,
    pub(crate) failed: u32,
    pub(crate) refused: u32,
    /// Values, and those above each bound: see [`Watch::bounds`](super::watch::Watch::bounds).
    pub(crate) values: u32,
    pub(crate) above: [u32; PERCENTILES],
}

/// Hits and trials of a share, or operations and seconds of a rate.
pub(super) type Hits = (f64, f64);

/// The hits and trials of a span, and the seconds that it covers.
pub(super) type Sum = (Hits, f64);

impl Counts {
    /// Returns the counts since earlier ones.
    pub(super) fn since(&self, earlier: &Counts) -> Counts {
        Counts {
            all: self.all.wrapping_sub(earlier.all),
            failed: self.failed.wrapping_sub(earlier.failed),
            refused: self.refused.wrapping_sub(earlier.refused),
            values: self.values.wrapping_sub(earlier.values),
            above: std::array::from_fn(|at| self.above[at].wrapping_sub(earlier.above[at])),
        }
    }

    /// Returns the hits and trials of a span of this length.
    pub(super) fn hits(&self, of: Of, seconds: f64) -> Hits {
        let (hits, trials) = match of {
            Of::Failed => (self.failed, self.all),
            Of::Refused => (self.refused, self.all),
            Of::Above(at) => (self.above[at], self.values),
            Of::Rate => return (f64::from(self.all), seconds),
        };
        (f64::from(hits), f64::from(trials.max(hits))) // what fails may be counted sooner than all
    }
}

/// Returns the sum of hits and of trials.
pub(super) fn sum(all: impl Iterator<Item = Hits>) -> Hits {
    all.fold((0.0, 0.0), |sum, of| (sum.0 + of.0, sum.1 + of.1))
}

/// The numbers of a series at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// The time in milliseconds of the window's clock.
    pub(crate) at: u64,
    /// All-time counts.
    pub(crate) counts: Counts,
    /// The values of the interval: their count, and their percentiles.
    pub(crate) interval: u32,
    pub(crate) percentiles: [f32; PERCENTILES],
}
