//! Real requests from concurrent clients, some of which fail, over loopback.

use std::f32::consts::TAU;
use std::io::{Error, Result};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, Method, StatusCode};
use http_body_util::BodyExt;
use tokio::task::JoinSet;
use tokio::time::sleep;
use windrow_http::client::{Client, Url};

/// The load rises and falls in this time.
const TIDE: Duration = Duration::from_secs(40);

/// The refusals of the service.
const REFUSALS: [StatusCode; 3] =
    [StatusCode::BAD_REQUEST, StatusCode::NOT_FOUND, StatusCode::TOO_MANY_REQUESTS];

/// The clients at work.
pub(crate) struct Load {
    stop: Arc<AtomicBool>,
    clients: JoinSet<Result<u64>>,
}

impl Load {
    pub(crate) fn begin(service: SocketAddr, clients: usize) -> Load {
        let stop = Arc::new(AtomicBool::new(false));
        let begun = Instant::now();
        let client = |_| run(service, begun, Arc::clone(&stop));
        Load { clients: (0..clients).map(client).collect(), stop }
    }

    /// Lets each client finish what it has begun. Returns the number of answers to all of them.
    pub(crate) async fn end(mut self) -> Result<u64> {
        self.stop.store(true, Relaxed);
        let mut answers = 0;
        while let Some(client) = self.clients.join_next().await {
            answers += client??;
        }
        Ok(answers)
    }
}

/// Sends one request after another until the stop flag is set, and returns the number of answers.
async fn run(service: SocketAddr, begun: Instant, stop: Arc<AtomicBool>) -> Result<u64> {
    let url = Url::parse(&format!("http://{service}/")).map_err(Error::other)?;
    let client = Client::kept_alive();
    let mut answers = 0;
    while !stop.load(Relaxed) {
        let (method, path, body) = request();
        let url = url.with_path(&path).map_err(Error::other)?;
        let answer = client.send(method, &url, HeaderMap::new(), body).await;
        let answer = answer.map_err(Error::other)?;
        let status = answer.status();
        answer.into_body().collect().await.map_err(Error::other)?; // so that the connection is kept
        answers += 1;
        if !(status.is_success() || status.is_server_error() || REFUSALS.contains(&status)) {
            return Err(Error::other(format!("not an answer of this service: {status}")));
        }
        sleep(pause(begun.elapsed())).await;
    }
    Ok(answers)
}

/// Any request: a method, a path and a body.
fn request() -> (Method, String, String) {
    match fastrand::u32(0..100) {
        0..60 => (Method::GET, format!("/carts/{}", fastrand::u32(1..1_000)), String::new()),
        60..90 => (Method::POST, "/orders".to_owned(), fastrand::u32(100..20_000).to_string()),
        90..93 => (Method::POST, "/orders".to_owned(), "a handful".to_owned()),
        93..97 => (Method::GET, format!("/slow/{}", fastrand::u32(50..200)), String::new()),
        _ => (Method::GET, format!("/{}", fastrand::u32(..)), String::new()),
    }
}

/// Returns the time that a client thinks before it asks again: 2 to 18 ms.
fn pause(since_begin: Duration) -> Duration {
    let tide = (since_begin.as_secs_f32() / TIDE.as_secs_f32() * TAU).cos();
    Duration::from_secs_f32(0.010 + 0.008 * tide)
}
