//! The stages of a metric that is registered.

/// The metric is to be checked.
pub(super) const ENTERS: u8 = 0;
/// The metric is written for the check.
pub(super) const WRITES: u8 = 1;
/// Each scrape shows the metric.
pub(super) const SHOWN: u8 = 2;
/// No scrape shows the metric.
pub(super) const REFUSED: u8 = 3;
