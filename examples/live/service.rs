//! The service: some requests pass and succeed, some are refused, some fail.
//!
//! It counts twice, independently. The handler counts each decision where it is taken, in plain
//! atomics; a middleware around it counts each answer from outside, by its status, in the
//! window.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::get;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};
use windrow::SlidingWindow;
use windrow::clock::Ticker;

use crate::verdict::Row;

windrow::events! {
    /// What the window counts of the service.
    pub(crate) enum Http {
        /// Requests that were let in.
        Pass: Count,
        /// Requests that were refused: 429.
        Block: Count,
        /// Requests that failed: 500.
        Exception: Count,
        /// Requests that were answered as they wished: 200.
        Success: Count,
        /// The response times of those that were let in, in microseconds.
        Rt: Value,
    }
}

pub(crate) type Window = SlidingWindow<Http, Ticker>;

/// The path that the service answers.
pub(crate) const PATH: &str = "/hay";

/// What the service's own hand counts, one exact atomic each.
#[derive(Default)]
struct Own {
    pass: AtomicU64,
    block: AtomicU64,
    exception: AtomicU64,
    success: AtomicU64,
    times: AtomicU64,
    microseconds: AtomicU64,
}

/// The service's state.
pub(crate) struct Service {
    pub(crate) window: Window,
    own: Own,
    room: Semaphore,
}

impl Service {
    /// A service that lets `places` requests in at a time, counted over the last ten seconds.
    pub(crate) fn new(places: usize) -> Service {
        let window = SlidingWindow::builder()
            .interval(Duration::from_secs(10))
            .buckets(10)
            .clock(Ticker::start(Duration::from_millis(1)))
            .build()
            .expect("ten seconds make ten buckets, and a tick of 1 ms is fine enough for them");
        Service { window, own: Own::default(), room: Semaphore::new(places) }
    }

    /// The routes, with the counting middleware around them.
    pub(crate) fn router(self: &Arc<Self>) -> Router {
        Router::new()
            .route(PATH, get(answer))
            .layer(middleware::from_fn_with_state(Arc::clone(self), observe))
            .with_state(Arc::clone(self))
    }

    /// How many requests the service says that it answered.
    pub(crate) fn answered(&self) -> u64 {
        self.own.pass.load(Relaxed) + self.own.block.load(Relaxed)
    }

    /// What the service counted beside what the window counted. Call it when no request is running.
    pub(crate) fn compare(&self) -> Vec<Row> {
        let own = &self.own;
        let counts = [
            (Http::Pass, &own.pass),
            (Http::Block, &own.block),
            (Http::Exception, &own.exception),
            (Http::Success, &own.success),
            (Http::Rt, &own.times),
        ];
        let row = |(event, own): (Http, &AtomicU64)| Row {
            name: format!("{event:?}"),
            expected: own.load(Relaxed),
            counted: self.window.lifetime(event).count,
            is_adds: true,
        };
        let mut rows: Vec<Row> = counts.map(row).into();
        rows.push(Row {
            name: "Rt, sum in us".to_owned(),
            expected: own.microseconds.load(Relaxed),
            counted: self.window.lifetime(Http::Rt).sum,
            is_adds: false,
        });
        rows
    }
}

/// Answers one request.
async fn answer(State(service): State<Arc<Service>>) -> (StatusCode, &'static str) {
    let own = &service.own;
    let Ok(_place) = service.room.try_acquire() else {
        own.block.fetch_add(1, Relaxed);
        return (StatusCode::TOO_MANY_REQUESTS, "the barn is full\n");
    };
    let nth = own.pass.fetch_add(1, Relaxed);
    sleep(work(nth)).await;
    if nth % 30 == 29 {
        own.exception.fetch_add(1, Relaxed);
        (StatusCode::INTERNAL_SERVER_ERROR, "the fork broke\n")
    } else {
        own.success.fetch_add(1, Relaxed);
        (StatusCode::OK, "a forkful of hay\n")
    }
}

/// Counts an answer into the window.
///
/// A request whose client goes away before the answer is dropped here uncounted. So the
/// clients finish what they began before the counts are compared.
async fn observe(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let response = next.run(request).await;
    let window = &service.window;
    if response.status() == StatusCode::TOO_MANY_REQUESTS {
        window.add(Http::Block, 1);
        return response;
    }
    let time = begun.elapsed().as_micros() as u64;
    window.add(Http::Pass, 1);
    window.record(Http::Rt, time);
    let outcome = if response.status().is_success() { Http::Success } else { Http::Exception };
    window.add(outcome, 1);
    service.own.times.fetch_add(1, Relaxed);
    service.own.microseconds.fetch_add(time, Relaxed);
    response
}

/// How long the `nth` request works: 1 to 8 ms as a rule, ten times as long now and then.
fn work(nth: u64) -> Duration {
    let scattered = nth.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    let milliseconds = 1 + scattered % 8;
    Duration::from_millis(if scattered.is_multiple_of(97) {
        10 * milliseconds
    } else {
        milliseconds
    })
}

/// Listens on loopback, on a free port unless one is given.
pub(crate) fn listen(port: Option<u16>) -> Result<TcpListener, String> {
    let listener = TcpListener::bind(("127.0.0.1", port.unwrap_or(0))).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    listener.map_err(|error| match port {
        Some(port) => format!("--port {port}: cannot listen on 127.0.0.1:{port}: {error}"),
        None => format!("cannot listen on a free port of 127.0.0.1: {error}"),
    })
}
