//! `windrow-otlp`.

use std::sync::Arc;
use std::time::Duration;

use windrow::exemplar::TraceContext;
use windrow::export::total_fn;
use windrow::{Counter, Family, Histogram, labels};
use windrow_otlp::{Exporter, Started, Temporality};

use crate::scrape::TRACE;
use crate::send::{LIMIT, Protocol, Scene, Sends, Wish};

labels! { pub(super) struct Path { path: str } }

struct Running {
    family: Arc<Family<Path<'static>, Counter>>,
    exporter: Started,
}

#[allow(clippy::unnecessary_wraps, reason = "others lack a scene")]
pub(super) fn make(wish: Wish) -> Option<Box<dyn Sends>> {
    let endpoint = format!("http://{}", wish.collector);
    let exporter = match wish.protocol {
        Protocol::Http => Exporter::to(&endpoint),
        Protocol::Grpc => Exporter::to_grpc(&endpoint),
    };
    let temporality = if wish.is_delta { Temporality::Delta } else { Temporality::Cumulative };
    let exporter = exporter.resource("service.name", "probe").temporality(temporality);
    let family = Arc::new(Family::new().with_max_series(LIMIT));
    let exporter = match wish.scene {
        Scene::Hits => exporter.metric("hits", "Hits", Arc::clone(&family)),
        Scene::Native => {
            let rt = Histogram::new();
            (1..=1000).for_each(|value| rt.record(value * 1000));
            exporter.metric_in("ms", "rt", "Response times", Arc::new(rt))
        }
        Scene::Halves => exporter.metric("cost", "Cost", total_fn(|| 1.5)),
        Scene::Exemplar => {
            let trace_id = u128::from_str_radix(TRACE, 16).expect("an id");
            let hits = Counter::new();
            hits.add_with_exemplar(1, TraceContext { trace_id, span_id: 0 });
            exporter.metric("hits", "Hits", Arc::new(hits))
        }
    };
    let exporter = exporter.start(Duration::from_secs(100_000)).expect("sound settings");
    Some(Box::new(Running { family, exporter }))
}

impl Sends for Running {
    fn hit(&self, path: &str, n: u64) {
        self.family.with(Path { path }).add(n);
    }

    fn remove(&self, path: &str) -> bool {
        self.family.remove(Path { path })
    }

    fn flush(&self) {
        // The probe asks the collector what has come.
        let _ = self.exporter.flush();
    }
}
