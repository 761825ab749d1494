//! The labels of a series as attributes, and the time since which it counts.

use windrow::export::{AnyMetric, Series};

use crate::attributes::{Attribute, Attributes};
use crate::clock::nanos;
use crate::rules::{Described, OVERFLOW};

/// Makes the attributes those of a series.
pub(crate) fn labels(series: &dyn Series, attributes: &mut Attributes) {
    attributes.clear();
    if series.is_overflow() {
        attributes.push(OVERFLOW, Attribute::Bool(true));
    } else {
        series.labels(&mut |name, value| attributes.push_label(name, value));
    }
}

/// Returns the time since which a series counts, in nanoseconds since 1970.
pub(crate) fn born(series: &dyn Series, metric: AnyMetric<'_>, described: &Described) -> u64 {
    nanos(described.starts.of(series, metric))
}
