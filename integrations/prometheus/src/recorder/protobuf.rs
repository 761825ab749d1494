//! A recorder's snapshot as Prometheus' protobuf.

use windrow_metrics::{Distribution, Kind, Snapshot, Value};

use crate::Escaping;
use crate::buckets::Buckets;
use crate::collect::{Number, Writer};
use crate::protobuf::message::{Bucket, Histogram, MetricType};
use crate::protobuf::{HISTOGRAM, Protobuf};

/// Returns the messages of all metrics, under the names of the recorder's text.
pub(super) fn encode(snapshot: &Snapshot) -> Vec<u8> {
    let mut writer = Protobuf::new(Escaping::Underscores, 0); // the names are plain
    for family in snapshot.families() {
        let kind = match family.kind {
            Kind::Counter => MetricType::Counter,
            Kind::Gauge => MetricType::Gauge,
            Kind::Histogram => MetricType::Histogram,
            _ => continue, // a kind of a later version
        };
        writer.begin_as(&family.name, family.help.as_deref().unwrap_or_default(), "", kind);
        for series in &family.series {
            writer.set_labels(&Vec::new(), series.labels());
            match &series.value {
                Value::Counter(total) => writer.count(Number::Unsigned(*total), None, None),
                Value::Gauge(value) => writer.gauge(Number::Real(*value)),
                Value::Histogram(values) => writer.put(HISTOGRAM, &histogram(values)),
                _ => {}
            }
        }
    }
    writer.finish()
}

fn histogram(values: &Distribution) -> Histogram {
    let bucket = |(bound, up_to)| Bucket {
        cumulative_count: Some(up_to),
        upper_bound: Some(bound),
        exemplar: None,
    };
    let mut histogram = Histogram {
        sample_count: Some(values.count()),
        sample_sum: Some(values.sum()),
        bucket: values.buckets().map(bucket).collect(),
        ..Histogram::default()
    };
    if let Some((cells, steps)) = values.cells().zip(values.steps())
        && let Some(native) = Buckets::octaves().per(steps.into()).native(cells)
    {
        histogram.set_native(native);
    }
    histogram
}
