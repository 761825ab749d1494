//! `fastmetrics`.

use std::time::{Duration, SystemTime};

use fastmetrics::error::Result;
use fastmetrics::format::protobuf::{self, ProtobufProfile};
use fastmetrics::format::text::{self, EscapingScheme, TextProfile};
use fastmetrics::metrics::counter::Counter;
use fastmetrics::metrics::family::Family;
use fastmetrics::metrics::histogram::Histogram;
use fastmetrics::metrics::info::Info;
use fastmetrics::raw::{LabelSetSchema, Unit};
use fastmetrics::registry::{NameRule, Registry};

use crate::scrape::{CROWD, Form, HELP, HOSTILE, Made, Metrics, Names, Scene, UNNAMABLE};

#[derive(Clone, PartialEq, Eq, Hash, fastmetrics::derive::EncodeLabelSet)]
struct Path {
    path: String,
}

impl LabelSetSchema for Path {
    fn names() -> Option<&'static [&'static str]> {
        Some(&["path"])
    }
}

struct Exposed {
    registry: Registry,
}

pub(super) fn make(scene: Scene) -> Made {
    match registry(scene) {
        Ok(Some(registry)) => Made::new(Exposed { registry }),
        Ok(None) => Made::Lacking,
        Err(_) => Made::Refused,
    }
}

/// The time since the epoch, which a program gives to each series itself.
fn now() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a time after the epoch")
}

fn registry(scene: Scene) -> Result<Option<Registry>> {
    let rule = if scene == Scene::Utf8 { NameRule::Utf8 } else { NameRule::Legacy };
    let mut registry = Registry::builder().with_name_rule(rule).build()?;
    let family = Family::<Path, Counter>::new(|| Counter::with_created(now()));
    let path = |path: &str| Path { path: path.to_owned() };
    let counter = |n| {
        let counter = Counter::<u64>::with_created(now());
        counter.inc_by(n);
        counter
    };
    match scene {
        Scene::Hits | Scene::Idle => {
            registry.register("hits", "Hits", family.clone())?;
            family.with_or_new(&path("/cart"), |hits| hits.inc_by(3));
        }
        Scene::Hostile => {
            registry.register("hits", HELP.repeat(500), family.clone())?;
            family.with_or_new(&path(HOSTILE), |hits| hits.inc_by(3));
        }
        Scene::Crowd => {
            registry.register("hits", "Hits", family.clone())?;
            (0..CROWD).for_each(|n| family.with_or_new(&path(&n.to_string()), Counter::inc));
        }
        Scene::Unnamable => _ = registry.register(UNNAMABLE, "Hits", counter(1))?,
        Scene::Twice => {
            registry.register("hits", "Hits", counter(1))?;
            registry.register("hits", "Hits", counter(2))?;
        }
        Scene::Utf8 => _ = registry.register("http.hits", "Hits", counter(3))?,
        Scene::Info => {
            registry.register("build", "What runs", Info::new(vec![("version", "1")]))?;
        }
        Scene::Seconds | Scene::Native => {
            let rt = Histogram::new([0.1, 1.0]);
            rt.observe(0.25);
            registry.register_with_unit("rt", "Response times", Unit::Seconds, rt)?;
        }
        Scene::Halves => {
            let cost = Counter::<f64>::default();
            (0..3).for_each(|_| cost.inc_by(0.5));
            registry.register("cost", "Cost", cost)?;
        }
        // Its encoders have exemplars, its metrics take none.
        Scene::Exemplar => _ = registry.register("hits", "Hits", counter(3))?,
    }
    Ok(Some(registry))
}

impl Metrics for Exposed {
    fn body(&self, form: Form) -> Option<Vec<u8>> {
        let names = |names| match names {
            Names::Utf8 => EscapingScheme::AllowUtf8,
            Names::Underscores => EscapingScheme::Underscores,
            Names::Dots => EscapingScheme::Dots,
            Names::Values => EscapingScheme::Values,
        };
        let profile = match form {
            Form::Text => TextProfile::PrometheusV0_0_4,
            Form::Text1(scheme) => TextProfile::PrometheusV1_0_0 { escaping_scheme: names(scheme) },
            Form::OpenMetrics(scheme) => {
                TextProfile::OpenMetricsV1_0_0 { escaping_scheme: names(scheme) }
            }
            Form::Protobuf => {
                let mut body = Vec::new();
                let profile = ProtobufProfile::Prometheus;
                protobuf::encode(&mut body, &self.registry, profile).expect("messages");
                return Some(body);
            }
        };
        let mut body = String::new();
        // It refuses to write in one format what only another has.
        text::encode(&mut body, &self.registry, profile).ok()?;
        Some(body.into_bytes())
    }
}
