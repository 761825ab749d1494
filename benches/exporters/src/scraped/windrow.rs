//! `windrow-prometheus`.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use windrow::exemplar::TraceContext;
use windrow::export::total_fn;
use windrow::{Counter, Family, Histogram, labels};
use windrow_prometheus::{
    Buckets, Escaping, Exposition, Format, Pushgateway, RegisterError, buckets, serve,
};

use crate::scrape::{
    Answer, CROWD, Form, HELP, HOSTILE, LIMIT, Made, Metrics, Names, Scene, TRACE, UNNAMABLE,
};

labels! { struct Path { path: str } }

struct Exposed {
    metrics: Arc<Exposition>,
    family: Arc<Family<Path<'static>, Counter>>,
    is_idle: bool,
}

pub(super) fn make(scene: Scene) -> Made {
    let family = Arc::new(Family::new().with_max_series(LIMIT));
    let mut metrics = Exposition::new();
    if fill(&mut metrics, &family, scene).is_err() {
        return Made::Refused;
    }
    Made::new(Exposed { metrics: Arc::new(metrics), family, is_idle: scene == Scene::Idle })
}

fn fill(
    metrics: &mut Exposition,
    family: &Arc<Family<Path<'static>, Counter>>,
    scene: Scene,
) -> Result<(), RegisterError> {
    let counter = |n| {
        let counter = Counter::new();
        counter.add(n);
        Arc::new(counter)
    };
    let rt = Arc::new(Histogram::new());
    match scene {
        Scene::Hits | Scene::Idle => {
            metrics.register("hits", "Hits", Arc::clone(family))?;
            family.with(Path { path: "/cart" }).add(3);
        }
        Scene::Hostile => {
            metrics.register("hits", &HELP.repeat(500), Arc::clone(family))?;
            family.with(Path { path: HOSTILE }).add(3);
        }
        Scene::Crowd => {
            metrics.register("hits", "Hits", Arc::clone(family))?;
            (0..CROWD).for_each(|n| family.with(Path { path: &n.to_string() }).increment());
        }
        Scene::Unnamable => metrics.register(UNNAMABLE, "Hits", counter(1))?,
        Scene::Twice => {
            metrics.register("hits", "Hits", counter(1))?;
            metrics.register("hits", "Hits", counter(2))?;
        }
        Scene::Utf8 => metrics.register("http.hits", "Hits", counter(3))?,
        Scene::Info => metrics.info("build", "What runs", &[("version", "1")])?,
        Scene::Seconds => {
            rt.record(250_000_000);
            let seconds = buckets(rt, Buckets::octaves().per(1_000_000_000));
            metrics.register_in("seconds", "rt", "Response times", seconds)?;
        }
        Scene::Native => {
            (1..=1000).for_each(|value| rt.record(value * 1000));
            metrics.register("rt", "Response times", rt)?;
        }
        Scene::Halves => metrics.register("cost", "Cost", total_fn(|| 1.5))?,
        Scene::Exemplar => {
            let trace_id = u128::from_str_radix(TRACE, 16).expect("an id");
            let hits = counter(2);
            hits.add_with_exemplar(1, TraceContext { trace_id, span_id: 0 });
            metrics.register("hits", "Hits", hits)?;
        }
    }
    Ok(())
}

impl Metrics for Exposed {
    fn body(&self, form: Form) -> Option<Vec<u8>> {
        if self.is_idle {
            // What a program does each minute.
            self.family.retain(|_, idle| idle < Duration::from_millis(50));
        }
        let names = |names| match names {
            Names::Utf8 => Escaping::AllowUtf8,
            Names::Underscores => Escaping::Underscores,
            Names::Dots => Escaping::Dots,
            Names::Values => Escaping::Values,
        };
        Some(self.metrics.encode(match form {
            Form::Text => Format::TEXT,
            Form::Text1(scheme) => Format::TEXT_1_0_0.with_escaping(names(scheme)),
            Form::OpenMetrics(scheme) => Format::OPENMETRICS.with_escaping(names(scheme)),
            Form::Protobuf => Format::PROTOBUF,
        }))
    }

    fn answer(&self, accept: &str, encoding: &str) -> Option<Answer> {
        let answer = self.metrics.respond(Some(accept), Some(encoding));
        Some(Answer {
            content_type: answer.content_type.to_owned(),
            content_encoding: answer.content_encoding.unwrap_or_default().to_owned(),
            body: answer.body,
        })
    }

    fn has_idle_timeout(&self) -> bool {
        self.is_idle
    }

    fn make_again(&self) -> bool {
        self.family.remove(Path { path: "/cart" });
        self.family.with(Path { path: "/cart" }).add(2);
        true
    }

    fn listen(&self) -> Option<SocketAddr> {
        let server = serve("127.0.0.1:0", Arc::clone(&self.metrics)).expect("a free port");
        let address = server.address();
        std::mem::forget(server); // it listens to the end
        Some(address)
    }

    fn push(&self, gateway: SocketAddr) -> bool {
        let gateway = Pushgateway::at(&format!("http://{gateway}"), "nightly");
        gateway.push(&self.metrics).expect("the gateway takes all");
        true
    }
}
