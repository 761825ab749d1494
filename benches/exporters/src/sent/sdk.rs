//! OpenTelemetry's SDK, with `opentelemetry-otlp`.

use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Meter, MeterProvider};
use opentelemetry_otlp::{MetricExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::{
    Aggregation, Instrument, InstrumentKind, PeriodicReader, SdkMeterProvider, Stream, Temporality,
};

use crate::runtime;
use crate::send::{LIMIT, Protocol, Scene, Sends, Wish};

struct Running {
    hits: Counter<u64>,
    provider: SdkMeterProvider,
}

/// Returns the SDK with its exporter, and a meter.
pub(super) fn sdk(wish: Wish) -> (SdkMeterProvider, Meter) {
    let _context = runtime().enter();
    let endpoint = format!("http://{}", wish.collector);
    let temporality = if wish.is_delta { Temporality::Delta } else { Temporality::Cumulative };
    let builder = MetricExporter::builder().with_temporality(temporality);
    let exporter = match wish.protocol {
        Protocol::Http => {
            builder.with_http().with_endpoint(format!("{endpoint}/v1/metrics")).build()
        }
        Protocol::Grpc => builder.with_tonic().with_endpoint(endpoint).build(),
    };
    let never = Duration::from_secs(100_000);
    let reader = PeriodicReader::builder(exporter.expect("sound settings")).with_interval(never);
    let view = |instrument: &Instrument| {
        let stream = Stream::builder().with_cardinality_limit(LIMIT);
        let exponential = Aggregation::Base2ExponentialHistogram {
            max_size: 160,
            max_scale: 20,
            record_min_max: true,
        };
        let is_histogram = instrument.kind() == InstrumentKind::Histogram;
        let stream = if is_histogram { stream.with_aggregation(exponential) } else { stream };
        stream.build().ok()
    };
    let resource = Resource::builder().with_service_name("probe").build();
    let provider = SdkMeterProvider::builder().with_reader(reader.build()).with_view(view);
    let provider = provider.with_resource(resource).build();
    let meter = provider.meter("probe");
    (provider, meter)
}

pub(super) fn make(wish: Wish) -> Option<Box<dyn Sends>> {
    let (provider, meter) = sdk(wish);
    match wish.scene {
        Scene::Hits => {}
        Scene::Native => {
            let rt = meter.u64_histogram("rt").with_unit("ms").build();
            (1..=1000).for_each(|value| rt.record(value, &[]));
        }
        Scene::Halves => {
            let cost = meter.f64_counter("cost").build();
            (0..3).for_each(|_| cost.add(0.5, &[]));
        }
        Scene::Exemplar => return None,
    }
    Some(Box::new(Running { hits: meter.u64_counter("hits").build(), provider }))
}

impl Sends for Running {
    fn hit(&self, path: &str, n: u64) {
        self.hits.add(n, &[KeyValue::new("path", path.to_owned())]);
    }

    fn flush(&self) {
        // The probe asks the collector what has come.
        let _ = self.provider.force_flush();
    }
}
