//! `windrow-metrics`, with the server and the gateway of `windrow-prometheus`.

use std::net::SocketAddr;
use std::time::Duration;

use windrow_metrics::{Handle, Recorder};
use windrow_prometheus::{Pushgateway, serve, text_fn};

use crate::scrape::{Form, LIMIT, Made, Metrics, Scene};

struct Exposed {
    handle: Handle,
    is_idle: bool,
}

pub(super) fn make(scene: Scene) -> Made {
    let mut builder = Recorder::builder().keys_per_name(LIMIT);
    let is_idle = scene == Scene::Idle;
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
        (form == Form::Text).then(|| self.handle.render().into_bytes())
    }

    fn has_idle_timeout(&self) -> bool {
        self.is_idle
    }

    fn listen(&self) -> Option<SocketAddr> {
        let handle = self.handle.clone();
        let metrics = text_fn(move || handle.render());
        let server = serve("127.0.0.1:0", metrics).expect("a free port");
        let address = server.address();
        std::mem::forget(server); // it listens to the end
        Some(address)
    }

    fn push(&self, gateway: SocketAddr) -> bool {
        let handle = self.handle.clone();
        let gateway = Pushgateway::at(&format!("http://{gateway}"), "nightly");
        gateway.push(&text_fn(move || handle.render())).expect("the gateway takes all");
        true
    }
}
