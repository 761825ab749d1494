//! The audits of series: each compares independent readings of one series, and some series have
//! their turn in each pass.

use std::ops::Range;

use windrow::export::AnyMetric;

use super::ledger::{Audit, Ledger};

/// The number of series that are audited in one pass, in turn.
pub(crate) const AUDITS: usize = 128;

/// The place in the pass of the next series to audit.
#[derive(Debug, Default)]
pub(crate) struct Turn(usize);

impl Turn {
    /// Returns the places that have their turn in this pass.
    pub(crate) fn places(&self) -> Range<usize> {
        self.0..self.0 + AUDITS
    }

    /// Ends a pass over this number of series.
    pub(crate) fn end(&mut self, series: usize) {
        self.0 = if self.0 + AUDITS < series { self.0 + AUDITS } else { 0 };
    }
}

/// Compares independent readings with each other, and with those of the audit before.
pub(crate) fn audit(metric: AnyMetric<'_>, ledger: &mut Ledger) -> Audit {
    let only_grows = match metric {
        AnyMetric::Window(window) => return ledger.window(window),
        AnyMetric::Counter(counter) => Some(counter.lifetime()),
        AnyMetric::Count(count) => count,
        AnyMetric::Maximum(maximum) => maximum.get(),
        AnyMetric::Minimum(minimum) => minimum.get().map(|value| !value),
        AnyMetric::Histogram(histogram) => Some(histogram.lifetime().count()),
        AnyMetric::Distribution(values) => Some(values.count()),
        // A gauge promises nothing while it goes up and down, or has only one reading.
        AnyMetric::Gauge(_)
        | AnyMetric::InFlight(_)
        | AnyMetric::Real(_)
        | AnyMetric::RealTotal(_)
        | AnyMetric::Fields(_) => None,
    };
    only_grows.map_or(Audit::Nothing, |number| ledger.only_grows(number))
}

/// The results of the audits of one pass.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    pub(crate) audits: u64,
    /// The keys of the series whose readings disagree, and the differences.
    pub(crate) failing: Vec<(String, u64)>,
}

impl Checks {
    pub(crate) fn note(&mut self, key: &str, audit: Audit) {
        self.audits += u64::from(audit != Audit::Nothing);
        if let Audit::Fails { by } = audit {
            self.failing.push((key.to_owned(), by));
        }
    }
}
