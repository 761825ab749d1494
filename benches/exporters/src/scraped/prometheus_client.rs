//! `prometheus-client`.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::{prometheus_protobuf, prometheus_text, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::exemplar::CounterWithExemplar;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, NativeHistogramConfig};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use crate::scrape::{CROWD, Form, HELP, HOSTILE, Made, Metrics, Names, Scene, TRACE, UNNAMABLE};

type Labels = Vec<(String, String)>;

struct Exposed {
    registry: Arc<Registry>,
    family: Family<Labels, Counter>,
}

fn path(path: &str) -> Labels {
    vec![("path".to_owned(), path.to_owned())]
}

pub(super) fn make(scene: Scene) -> Made {
    let mut registry = Registry::default();
    let family = Family::<Labels, Counter>::default();
    let counter = |n| {
        let counter = Counter::<u64>::default();
        counter.inc_by(n);
        counter
    };
    match scene {
        Scene::Hits | Scene::Idle => {
            registry.register("hits", "Hits", family.clone());
            family.get_or_create(&path("/cart")).inc_by(3);
        }
        Scene::Hostile => {
            registry.register("hits", HELP.repeat(500), family.clone());
            family.get_or_create(&path(HOSTILE)).inc_by(3);
        }
        Scene::Crowd => {
            registry.register("hits", "Hits", family.clone());
            for n in 0..CROWD {
                family.get_or_create(&path(&n.to_string())).inc();
            }
        }
        Scene::Unnamable => registry.register(UNNAMABLE, "Hits", counter(1)),
        Scene::Twice => {
            registry.register("hits", "Hits", counter(1));
            registry.register("hits", "Hits", counter(2));
        }
        Scene::Utf8 => registry.register("http.hits", "Hits", counter(3)),
        Scene::Info => {
            registry.register("build", "What runs", Info::new(vec![("version", "1")]));
        }
        Scene::Seconds => {
            let rt = Histogram::new([0.1, 1.0]);
            rt.observe(0.25);
            registry.register_with_unit("rt", "Response times", Unit::Seconds, rt);
        }
        Scene::Native => {
            let rt = Histogram::new_native(NativeHistogramConfig::new(1.1));
            (1..=1000).for_each(|value| rt.observe(f64::from(value)));
            registry.register("rt", "Response times", rt);
        }
        Scene::Halves => {
            let cost = Counter::<f64, AtomicU64>::default();
            (0..3).for_each(|_| _ = cost.inc_by(0.5));
            registry.register("cost", "Cost", cost);
        }
        Scene::Exemplar => {
            let hits = CounterWithExemplar::<Labels>::default();
            hits.inc_by(3, Some(vec![("trace_id".to_owned(), TRACE.to_owned())]), None);
            registry.register("hits", "Hits", hits);
        }
    }
    Made::new(Exposed { registry: Arc::new(registry), family })
}

impl Metrics for Exposed {
    fn body(&self, form: Form) -> Option<Vec<u8>> {
        let mut body = String::new();
        match form {
            Form::Text => prometheus_text::encode(&mut body, &self.registry).expect("a text"),
            // It has one way to write names.
            Form::OpenMetrics(Names::Underscores | Names::Utf8) => {
                text::encode(&mut body, &self.registry).expect("a text");
            }
            Form::OpenMetrics(Names::Dots | Names::Values) | Form::Text1(_) => return None,
            Form::Protobuf => {
                return Some(prometheus_protobuf::encode_to_vec(&self.registry).expect("messages"));
            }
        }
        Some(body.into_bytes())
    }

    fn make_again(&self) -> bool {
        self.family.remove(&path("/cart"));
        self.family.get_or_create(&path("/cart")).inc_by(2);
        true
    }
}
