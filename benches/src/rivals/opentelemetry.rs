//! opentelemetry's counter with three attributes, on its own SDK: by attributes that are made for
//! each add, by attributes that are kept, and bound to them.

use std::hint::black_box;
use std::sync::{Arc, Weak};
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{BoundCounter, Counter, MeterProvider};
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::metrics::data::{
    AggregatedMetrics, MetricData, ResourceMetrics, ScopeMetrics, Sum, SumDataPoint,
};
use opentelemetry_sdk::metrics::reader::MetricReader;
use opentelemetry_sdk::metrics::{
    InstrumentKind, ManualReader, Pipeline, SdkMeterProvider, Temporality,
};

use super::labelled::{HOT, NAMES, OTEL_BOUND, OTEL_TEXTS, Texts, all_sets};
use crate::harness::{Contender, Rival, rival};

/// A reader that the provider has, and we as well.
#[derive(Clone, Debug, Default)]
struct Reader(Arc<ManualReader>);

impl MetricReader for Reader {
    fn register_pipeline(&self, pipeline: Weak<Pipeline>) {
        self.0.register_pipeline(pipeline);
    }

    fn collect(&self, metrics: &mut ResourceMetrics) -> OTelSdkResult {
        self.0.collect(metrics)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.0.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.0.shutdown_with_timeout(timeout)
    }

    fn temporality(&self, kind: InstrumentKind) -> Temporality {
        self.0.temporality(kind)
    }
}

/// One counter with all its series.
struct Otel {
    counter: Counter<u64>,
    hot: Texts,
    reader: Reader,
    _provider: SdkMeterProvider,
}

fn attributes(texts: &Texts) -> [KeyValue; 3] {
    let [method, route, status] = texts.lend().map(str::to_owned);
    [
        KeyValue::new(NAMES[0], method),
        KeyValue::new(NAMES[1], route),
        KeyValue::new(NAMES[2], status),
    ]
}

impl Otel {
    fn new() -> Otel {
        let reader = Reader::default();
        let provider = SdkMeterProvider::builder().with_reader(reader.clone()).build();
        let counter = provider.meter("lab").u64_counter("requests").build();
        all_sets().for_each(|set| counter.add(0, &attributes(&Texts::of(set))));
        Otel { counter, hot: Texts::of(HOT), reader, _provider: provider }
    }

    /// Returns the sum of all series: only one is counted.
    fn sum(&self) -> u64 {
        let mut all = ResourceMetrics::default();
        self.reader.collect(&mut all).expect("a reader that is not shut down");
        let metrics = all.scope_metrics().flat_map(ScopeMetrics::metrics);
        let sums = metrics.filter_map(|metric| match metric.data() {
            AggregatedMetrics::U64(MetricData::Sum(sum)) => Some(sum),
            _ => None,
        });
        sums.flat_map(Sum::data_points).map(SumDataPoint::value).sum()
    }
}

rival! { Otel:
    add(self, n) => self.counter.add(n, &attributes(&self.hot));
    sum(self) => Otel::sum(self);
}

/// By attributes that are kept.
struct Kept(Otel, [KeyValue; 3]);

rival! { Kept:
    add(self, n) => self.0.counter.add(n, black_box(&self.1));
    sum(self) => self.0.sum();
}

/// Bound to them.
struct Bound(Otel, BoundCounter<u64>);

rival! { Bound:
    add(self, n) => self.1.add(n);
    sum(self) => self.0.sum();
}

/// Returns all of them, with all series, of which one is counted.
pub fn all() -> Vec<Contender> {
    let kept = attributes(&Texts::of(HOT));
    let bound = Otel::new();
    let binding = bound.counter.bind(&kept);
    vec![
        Contender::new(OTEL_TEXTS, Otel::new()),
        Contender::new("opentelemetry, attributes kept", Kept(Otel::new(), kept)),
        Contender::new(OTEL_BOUND, Bound(bound, binding)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_counted() {
        for Contender { name, rival } in all() {
            assert_eq!(rival.sum(), 0, "{name}");
            rival.add(40);
            rival.add_many(2);
            assert_eq!(rival.sum(), 42, "{name}");
        }
    }
}
