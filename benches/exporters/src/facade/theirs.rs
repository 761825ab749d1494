//! `metrics-exporter-prometheus`.

use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use metrics_exporter_prometheus::{
    Matcher, NativeHistogramConfig, PrometheusBuilder, PrometheusHandle,
};
use metrics_util::MetricKindMask;

use crate::http::get;
use crate::runtime;
use crate::scrape::{Answer, Form, Made, Metrics, Scene};

struct Exposed {
    scene: Scene,
    handle: PrometheusHandle,
}

pub(super) fn make(scene: Scene) -> Made {
    let recorder = builder(scene).build_recorder();
    let handle = recorder.handle();
    let is_played = metrics::with_local_recorder(&recorder, || super::play(scene));
    if is_played { Made::new(Exposed { scene, handle }) } else { Made::Lacking }
}

fn builder(scene: Scene) -> PrometheusBuilder {
    let builder = PrometheusBuilder::new();
    match scene {
        Scene::Idle => builder.idle_timeout(MetricKindMask::ALL, Some(Duration::from_millis(50))),
        Scene::Native => {
            let native = NativeHistogramConfig::new(1.1, 160, 1e-9).expect("sound settings");
            builder.set_native_histogram_for_metric(Matcher::Full("rt".to_owned()), native)
        }
        _ => builder,
    }
}

impl Exposed {
    /// Plays the scene once more, with a server or pushes.
    fn run(&self, builder: PrometheusBuilder) {
        let context = runtime().enter();
        let (recorder, exporter) = builder.build().expect("a free port");
        drop(context);
        metrics::with_local_recorder(&recorder, || super::play(self.scene));
        runtime().spawn(exporter);
    }
}

impl Metrics for Exposed {
    fn body(&self, form: Form) -> Option<Vec<u8>> {
        match form {
            Form::Text => Some(self.handle.render().into_bytes()),
            Form::Protobuf => Some(self.handle.render_protobuf()),
            Form::Text1(_) | Form::OpenMetrics(_) => None,
        }
    }

    fn answer(&self, accept: &str, encoding: &str) -> Option<Answer> {
        let answer = get(self.listen()?, accept, encoding).ok()?;
        Some(Answer {
            content_type: answer.header("content-type").unwrap_or_default().to_owned(),
            content_encoding: answer.header("content-encoding").unwrap_or_default().to_owned(),
            body: answer.body,
        })
    }

    fn has_idle_timeout(&self) -> bool {
        self.scene == Scene::Idle
    }

    fn listen(&self) -> Option<SocketAddr> {
        let address = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).ok()?;
        self.run(builder(self.scene).with_http_listener(address));
        Some(address)
    }

    fn push(&self, gateway: SocketAddr) -> bool {
        let endpoint = format!("http://{gateway}/metrics/job/nightly");
        // What it needs, though it does not encrypt. It may be there from another push.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let often = Duration::from_millis(50);
        let builder = builder(self.scene).with_push_gateway(endpoint, often, None, None, false);
        self.run(builder.expect("an endpoint"));
        true
    }
}
