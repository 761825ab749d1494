//! `opentelemetry-prometheus`, with OpenTelemetry's SDK behind it and `prometheus` before it.

use std::collections::HashMap;
use std::net::SocketAddr;

use opentelemetry::KeyValue;
use opentelemetry::metrics::MeterProvider;
use opentelemetry_sdk::metrics::{Instrument, SdkMeterProvider, Stream};
use prometheus::{Encoder, ProtobufEncoder, Registry, TextEncoder};

use crate::scrape::{CROWD, Form, HELP, HOSTILE, LIMIT, Made, Metrics, Scene, UNNAMABLE};

struct Exposed {
    registry: Registry,
    _provider: SdkMeterProvider,
}

pub(super) fn make(scene: Scene) -> Made {
    let registry = Registry::new();
    let exporter = opentelemetry_prometheus::exporter().with_registry(registry.clone());
    let exporter = exporter.without_target_info().build().expect("an exporter");
    let limit = |_: &Instrument| Stream::builder().with_cardinality_limit(LIMIT).build().ok();
    let provider = SdkMeterProvider::builder().with_reader(exporter).with_view(limit).build();
    let meter = provider.meter("probe");
    let path = |path: &str| [KeyValue::new("path", path.to_owned())];
    let counter = |name: &'static str| meter.u64_counter(name).build();
    match scene {
        Scene::Hits | Scene::Idle | Scene::Exemplar => counter("hits").add(3, &path("/cart")),
        Scene::Hostile => {
            let hits = meter.u64_counter("hits").with_description(HELP.repeat(500)).build();
            hits.add(3, &path(HOSTILE));
        }
        Scene::Crowd => {
            let hits = counter("hits");
            (0..CROWD).for_each(|n| hits.add(1, &path(&n.to_string())));
        }
        Scene::Unnamable => counter(UNNAMABLE).add(1, &[]),
        // Two names, since instruments of one name are one.
        Scene::Twice => {
            counter("http.hits").add(1, &[]);
            counter("http_hits").add(2, &[]);
        }
        Scene::Utf8 => counter("http.hits").add(3, &[]),
        Scene::Info => return Made::Lacking,
        Scene::Seconds | Scene::Native => {
            meter.f64_histogram("rt").with_unit("s").build().record(0.25, &[]);
        }
        Scene::Halves => {
            let cost = meter.f64_counter("cost").build();
            (0..3).for_each(|_| cost.add(0.5, &[]));
        }
    }
    Made::new(Exposed { registry, _provider: provider })
}

impl Metrics for Exposed {
    fn body(&self, form: Form) -> Option<Vec<u8>> {
        let families = self.registry.gather();
        let mut body = Vec::new();
        match form {
            Form::Text => TextEncoder::new().encode(&families, &mut body).expect("a text"),
            Form::Protobuf => {
                ProtobufEncoder::new().encode(&families, &mut body).expect("messages");
            }
            Form::Text1(_) | Form::OpenMetrics(_) => return None,
        }
        Some(body)
    }

    fn push(&self, gateway: SocketAddr) -> bool {
        let families = self.registry.gather();
        let pushed =
            prometheus::push_metrics("job", HashMap::new(), &gateway.to_string(), families, None);
        pushed.expect("the gateway takes all");
        true
    }
}
