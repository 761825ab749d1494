//! The reading of a series: its labels as attributes, its beginning, and its numbers.

use windrow::export::{Reading, Series};

use crate::acknowledged::Number;
use crate::attributes::{Attribute, Attributes};
use crate::clock::nanos;
use crate::rules::{Described, OVERFLOW};

/// The reading of a series.
pub(crate) struct Read {
    pub(crate) series: Number,
    /// The time since which it counts.
    pub(crate) born: u64,
    /// `None` for the uses of an overflow series.
    pub(crate) reading: Option<Reading>,
}

impl Read {
    /// Reads a series. Its labels are in `attributes` then, and nothing else is.
    pub(crate) fn of(
        series: &dyn Series,
        described: &Described,
        attributes: &mut Attributes,
    ) -> Read {
        attributes.clear();
        if series.is_overflow() {
            attributes.push(OVERFLOW, Attribute::Bool(true));
        } else {
            series.labels(&mut |name, value| attributes.push_label(name, value));
        }
        let metric = series.metric();
        let born = nanos(described.starts.of(series, metric));
        Read { series: Some(series.number()), born, reading: Some(metric.read()) }
    }

    pub(crate) fn of_uses(since: u64) -> Read {
        Read { series: None, born: since, reading: None }
    }
}
