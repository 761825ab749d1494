//! The reading of a series: its labels as attributes, its beginning, and its numbers.

use windrow::export::{Reading, Series};
use windrow::labels::LabelValue;

use crate::acknowledged::Number;
use crate::clock::nanos;
use crate::message::{Attribute, KeyValue};
use crate::rules::{Described, OVERFLOW};

/// The reading of a series.
pub(crate) struct Read {
    pub(crate) series: Number,
    pub(crate) attributes: Vec<KeyValue>,
    /// The time since which it counts.
    pub(crate) born: u64,
    /// `None` for the uses of an overflow series.
    pub(crate) reading: Option<Reading>,
}

impl Read {
    pub(crate) fn of(series: &dyn Series, described: &Described) -> Read {
        let mut attributes = Vec::new();
        if series.is_overflow() {
            attributes.push(KeyValue::new(OVERFLOW, Attribute::Bool(true)));
        } else {
            series.labels(&mut |name, value| attributes.push(KeyValue::new(name, label(value))));
        }
        let metric = series.metric();
        let born = nanos(described.starts.of(series, metric));
        Read { series: Some(series.number()), attributes, born, reading: Some(metric.read()) }
    }

    pub(crate) fn of_uses(since: u64) -> Read {
        Read { series: None, attributes: Vec::new(), born: since, reading: None }
    }
}

fn label(value: LabelValue<'_>) -> Attribute {
    match value {
        LabelValue::Signed(number) => Attribute::Int(number),
        LabelValue::Unsigned(number) if number <= i64::MAX.cast_unsigned() => {
            Attribute::Int(number.cast_signed())
        }
        LabelValue::Text(text) => Attribute::Text(text.to_owned()),
        other => Attribute::Text(other.to_string()),
    }
}
