//! `windrow-metrics`, with the formats, the server and the gateway of `windrow-prometheus`.

use std::net::SocketAddr;
use std::time::Duration;

use windrow::histogram::Scale;
use windrow_metrics::{Handle, Recorder};
use windrow_prometheus::recorder::respond;
use windrow_prometheus::{Format, Pushgateway, serve};

use crate::scrape::{Answer, Form, LIMIT, Made, Metrics, Scene};

struct Exposed {
    handle: Handle,
    is_idle: bool,
}

pub(super) fn make(scene: Scene) -> Made {
    let mut builder = Recorder::builder().keys_per_name(LIMIT);
    let is_idle = scene == Scene::Idle;
    if scene == Scene::Native {
        builder = builder.cells(Scale::DEFAULT, 1 << 10);
    }
    if is_idle {
        builder = builder.idle(Duration::from_millis(50));
    }
    let recorder = builder.build().expect("sound settings");
    let handle = recorder.handle();
    // Threads keep handles for a while: one that ends keeps none.
    let play = || metrics::with_local_recorder(&recorder, || super::play(scene));
    let is_played = std::thread::scope(|scope| scope.spawn(play).join().expect("it ends"));
    if is_played { Made::new(Exposed { handle, is_idle }) } else { Made::Lacking }
}

impl Metrics for Exposed {
    fn body(&self, form: Form) -> Option<Vec<u8>> {
        match form {
            Form::Text => Some(self.handle.render().into_bytes()),
            Form::Protobuf => {
                let accept = Format::PROTOBUF.content_type();
                Some(respond(&self.handle, Some(accept), None).body)
            }
            Form::Text1(_) | Form::OpenMetrics(_) => None,
        }
    }

    fn answer(&self, accept: &str, encoding: &str) -> Option<Answer> {
        let answer = respond(&self.handle, Some(accept), Some(encoding));
        Some(Answer {
            content_type: answer.content_type.to_owned(),
            content_encoding: answer.content_encoding.unwrap_or_default().to_owned(),
            body: answer.body,
        })
    }

    fn has_idle_timeout(&self) -> bool {
        self.is_idle
    }

    fn listen(&self) -> Option<SocketAddr> {
        let server = serve("127.0.0.1:0", self.handle.clone()).expect("a free port");
        let address = server.address();
        std::mem::forget(server); // it listens to the end
        Some(address)
    }

    fn push(&self, gateway: SocketAddr) -> bool {
        let gateway = Pushgateway::at(&format!("http://{gateway}"), "nightly");
        gateway.push(&self.handle).expect("the gateway takes all");
        true
    }
}
