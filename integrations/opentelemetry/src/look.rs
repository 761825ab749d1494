//! Reading a source for one instrument.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use opentelemetry::{Key, KeyValue};
use windrow::export::{Part, Series, Source};
use windrow::labels::LabelValue;

use crate::instrument::{Attributes, Instrument, Value};

/// The attribute that marks the overflow series.
pub(crate) const OVERFLOW: &str = Part::OVERFLOW.suffix;

/// The measurements of a series for one instrument.
#[derive(Debug)]
pub(crate) struct Reading<'r> {
    /// The number of the series.
    pub(crate) series: u64,
    pub(crate) is_overflow: bool,
    /// The attributes of the series.
    pub(crate) attributes: &'r [KeyValue],
    /// The values, each with its further attributes. If reading has panicked, those before the
    /// panic.
    pub(crate) values: Vec<(Attributes, Value)>,
}

/// The source of an instrument, and the part that it reads.
#[derive(Clone)]
pub(crate) struct Look {
    source: Arc<dyn Source>,
    /// The names of the series' labels. Copied once: a key's clone shares the text.
    keys: Arc<[Key]>,
    /// The instrument; `None` for the uses of the overflow series.
    instrument: Option<Instrument>,
}

impl Look {
    pub(crate) fn new(
        source: &Arc<dyn Source>,
        labels: &[String],
        instrument: Option<Instrument>,
    ) -> Look {
        let keys = labels.iter().map(|name| Key::from(Arc::<str>::from(name.as_str()))).collect();
        Look { source: Arc::clone(source), keys, instrument }
    }

    /// Reads all series.
    pub(crate) fn read(&self, put: &mut dyn FnMut(Reading<'_>)) {
        let Some(instrument) = &self.instrument else {
            if let Some(refused) = self.source.refused() {
                let values = vec![([None, None], Value::Whole(refused))];
                put(Reading { series: 0, is_overflow: false, attributes: &[], values });
            }
            return;
        };
        let mut attributes = Vec::new();
        self.source.visit(&mut |series| {
            attributes.clear();
            if series.is_overflow() {
                attributes.push(KeyValue::new(OVERFLOW, "true"));
            } else {
                let mut keys = self.keys.iter();
                series.labels(&mut |_, value| {
                    attributes.extend(keys.next().map(|key| attribute(key, value)));
                });
            }
            put(Reading {
                series: series.number(),
                is_overflow: series.is_overflow(),
                attributes: &attributes,
                values: measure(series, instrument),
            });
        });
    }
}

/// Returns the measurements of a series. If reading panics, the rest is missing: the thread that
/// reads for an exporter goes on.
fn measure(series: &dyn Series, instrument: &Instrument) -> Vec<(Attributes, Value)> {
    let mut read = Vec::new();
    let measuring = || {
        let reading = series.metric().read_part(instrument.part);
        instrument.measure(&reading, &mut |more, value| read.push((more, value)));
    };
    // Reading does not change a metric. (The panic has already been reported by the panic hook.)
    let _ = catch_unwind(AssertUnwindSafe(measuring));
    read
}

fn attribute(key: &Key, value: LabelValue<'_>) -> KeyValue {
    let key = key.clone();
    match value {
        LabelValue::Signed(number) => KeyValue::new(key, number),
        LabelValue::Unsigned(number) if number <= i64::MAX.cast_unsigned() => {
            KeyValue::new(key, number.cast_signed())
        }
        text => KeyValue::new(key, text.to_string()),
    }
}
