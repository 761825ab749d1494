//! `windrow-opentelemetry`, with OpenTelemetry's SDK and `opentelemetry-otlp` behind it.

use std::sync::Arc;

use opentelemetry_sdk::metrics::SdkMeterProvider;
use windrow::export::{Catalog, total_fn};
use windrow::{Counter, Family, Histogram};
use windrow_opentelemetry::Observer;

use super::sdk::sdk;
use super::windrow::Path;
use crate::send::{LIMIT, Scene, Sends, Wish};

struct Running {
    family: Arc<Family<Path<'static>, Counter>>,
    provider: SdkMeterProvider,
    _observer: Observer,
}

pub(super) fn make(wish: Wish) -> Option<Box<dyn Sends>> {
    let (provider, meter) = sdk(wish);
    let mut observer = Observer::new(meter);
    let family = Arc::new(Family::new());
    match wish.scene {
        Scene::Hits => {
            let hits = Arc::clone(&family);
            observer.observe_up_to(LIMIT, "hits", "Hits", hits).expect("a new name");
        }
        Scene::Native => {
            let rt = Histogram::new();
            (1..=1000).for_each(|value| rt.record(value * 1000));
            let mut catalog = Catalog::new();
            catalog.add("rt", "Response times", Arc::new(rt)).expect("a new name").set_unit("ms");
            observer.observe_all(&catalog).expect("a new name");
        }
        Scene::Halves => observer.observe("cost", "Cost", total_fn(|| 1.5)).expect("a new name"),
        Scene::Exemplar => return None,
    }
    Some(Box::new(Running { family, provider, _observer: observer }))
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
        let _ = self.provider.force_flush();
    }
}
