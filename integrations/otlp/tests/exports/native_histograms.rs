//! A histogram has the same buckets here and in Prometheus' protobuf.

use std::collections::BTreeMap;
use std::sync::Arc;

use prost::Message;
use windrow::Histogram;
use windrow::histogram::Scale;
use windrow_prometheus::{Exposition, Format};

use crate::book::Data;
use crate::receiver::{Receiver, Wire};
use crate::successes::{NEVER, exporter};

/// The messages of `io.prometheus.client`, as far as native histograms need them.
#[derive(Clone, PartialEq, Message)]
struct Family {
    #[prost(message, repeated, tag = "4")]
    metrics: Vec<Metric>,
}

#[derive(Clone, PartialEq, Message)]
struct Metric {
    #[prost(message, optional, tag = "7")]
    histogram: Option<Native>,
}

#[derive(Clone, PartialEq, Message)]
struct Native {
    #[prost(sint32, tag = "5")]
    schema: i32,
    #[prost(uint64, tag = "7")]
    zeros: u64,
    #[prost(message, repeated, tag = "12")]
    spans: Vec<Span>,
    #[prost(sint64, repeated, packed = "false", tag = "13")]
    deltas: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct Span {
    #[prost(sint32, tag = "1")]
    offset: i32,
    #[prost(uint32, tag = "2")]
    length: u32,
}

/// The schema, the zero bucket, and the counts of the others by the exponents at which they end, in
/// parts of an octave.
type Shown = (i32, u64, BTreeMap<i32, u64>);

fn by_prometheus(histogram: &Arc<Histogram>) -> Shown {
    let mut metrics = Exposition::new();
    metrics.register("values", "", Arc::clone(histogram)).unwrap();
    let family = Family::decode_length_delimited(&*metrics.encode(Format::PROTOBUF)).unwrap();
    let native = family.metrics[0].histogram.clone().unwrap();
    let (mut number, mut count, mut buckets) = (0, 0, BTreeMap::new());
    let mut deltas = native.deltas.iter();
    for Span { offset, length } in native.spans {
        number += offset;
        for _ in 0..length {
            count += deltas.next().expect("a delta for each bucket");
            buckets.insert(number, u64::try_from(count).unwrap());
            number += 1;
        }
    }
    (native.schema, native.zeros, buckets)
}

fn by_otlp(histogram: &Arc<Histogram>) -> Shown {
    let receiver = Receiver::start(Wire::Http);
    let exporter = exporter(&receiver, Wire::Http).metric("values", "", Arc::clone(histogram));
    exporter.start(NEVER).unwrap().flush().unwrap();
    let Data::Exponential(point) = receiver.book().last("values", "").data else { panic!() };
    assert_eq!(point.zero_threshold, 0.0);
    let positive = point.positive.unwrap();
    // The bucket with index `n` ends at the power `n + 1`.
    let counts = (positive.offset + 1..).zip(positive.bucket_counts);
    (point.scale, point.zero_count, counts.filter(|(_, count)| *count > 0).collect())
}

#[test]
fn a_histogram_has_the_same_buckets_in_otlp_and_in_prometheus_protobuf() {
    let ranges =
        [(1, 1 << 20), (2, 1 << 20), (1_000, 60_000_000_000), (1, u64::MAX), (1 << 63, 1 << 63)];
    for (min, max) in ranges {
        for schema in [0, 3, 5] {
            let scale = Scale::new(schema, min, max).unwrap();
            let histogram = Arc::new(Histogram::with_scale(scale));
            assert_eq!(by_prometheus(&histogram), by_otlp(&histogram), "{scale:?}, empty");
            for value in [0, 1, 2, 300, 1_000, 1_025, 1 << 36, 1 << 40, 1 << 63, u64::MAX] {
                histogram.record_many(value, value % 7 + 1);
            }
            let (shown, otlp) = (by_prometheus(&histogram), by_otlp(&histogram));
            assert_eq!(shown, otlp, "{scale:?}");
            let all = histogram.distribution();
            assert_eq!(shown.1 + shown.2.values().sum::<u64>(), all.count(), "{scale:?}");
            // At the ends of the range the counts are exact.
            let up_to = |end: u64| {
                let end = end.ilog2().cast_signed() << schema;
                shown.1 + shown.2.range(..=end).map(|(_, count)| count).sum::<u64>()
            };
            let counted = |end: u64| all.count() - all.count_above(end).start();
            if min > 1 {
                assert_eq!(up_to(scale.min() - 1), counted(scale.min() - 1), "{scale:?}");
            }
            if scale.max() < u64::MAX {
                assert_eq!(up_to(scale.max()), counted(scale.max()), "{scale:?}");
            }
        }
    }
}
