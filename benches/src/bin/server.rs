//! `server [--rounds N] [--requests N] [--only LAYER]`: what counting costs a server, of all that a
//! request costs it.
//!
//! One thread serves an axum router for each contender, by HTTP/1 over loopback. Another sends
//! requests over connections that stay open: one over each, and then it reads the answers. Each
//! contender counts requests by method, route and status, times them by method and route, and
//! counts those in flight. Two layers count nothing: one does nothing else either, and the other
//! reads the clock and keeps the labels, as those that are written by hand must. Figures are CPU
//! time of the serving thread, as Linux counts it. Contenders take turns within each round.
//! `--only` leaves one layer, whose instructions a profiler can count, and prints no table.

use std::error::Error;
use std::fs;
use std::hint;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::get;
use axum::{Router, http};
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use windrow_benches::harness::keep_to_core;
use windrow_benches::lab::stats::Spread;
use windrow_benches::terminal::{Options, options, print_caption, print_table};
use windrow_tower::{MetricsLayer, Routes};

/// The routes that are asked for, in turn.
const ROUTES: [&str; 4] = ["/carts/{id}", "/orders/{id}", "/users/{id}", "/prices/{id}"];
const REQUESTS: [&str; 4] = ["/carts/7", "/orders/12", "/users/5", "/prices/3"];
/// The number of connections to each router.
const CONNECTIONS: usize = 32;
/// The upper bounds of the others' histograms, in seconds.
const BOUNDS: [f64; 11] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

fn route(path: Option<&MatchedPath>) -> &str {
    path.map_or("", MatchedPath::as_str)
}

async fn nothing(request: Request, next: Next) -> Response {
    next.run(request).await
}

/// Has the labels and the time, and counts nothing.
async fn timed(request: Request, next: Next) -> Response {
    let path = request.extensions().get::<MatchedPath>().cloned();
    let method = request.method().clone();
    let begin = Instant::now();
    let response = next.run(request).await;
    hint::black_box((method.as_str(), route(path.as_ref()), begin.elapsed(), response.status()));
    response
}

mod ours {
    use std::time::Instant;

    use axum::extract::Request;
    use axum::middleware::Next;
    use axum::response::Response;
    use windrow::{Counter, Family, Gauge, Histogram, labels};

    use super::route;

    labels! { struct Answered { method: str, route: str, status: u16 } }
    labels! { struct Asked { method: str, route: str } }

    static ANSWERED: Family<Answered, Counter> = Family::new();
    static DURATIONS: Family<Asked, Histogram> = Family::new();
    static OPEN: Gauge = Gauge::new();

    pub(super) async fn count(request: Request, next: Next) -> Response {
        let (path, method) = (request.extensions().get().cloned(), request.method().clone());
        OPEN.increment();
        let begin = Instant::now();
        let response = next.run(request).await;
        let (method, route) = (method.as_str(), route(path.as_ref()));
        DURATIONS.with(Asked { method, route }).record(begin.elapsed().as_nanos() as u64);
        let status = response.status().as_u16();
        ANSWERED.with(Answered { method, route, status }).increment();
        OPEN.decrement();
        response
    }

    pub(super) fn counted() -> u64 {
        ANSWERED.lifetime()
    }
}

/// prometheus-client as its documentation has it: a type for the labels, with owned texts.
mod client {
    use std::sync::LazyLock;
    use std::time::Instant;

    use axum::extract::Request;
    use axum::middleware::Next;
    use axum::response::Response;
    use prometheus_client::encoding::EncodeLabelSet;
    use prometheus_client::metrics::{counter, family, gauge, histogram};

    use super::{BOUNDS, route};

    #[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
    struct Answered {
        method: String,
        route: String,
        status: u16,
    }

    #[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
    struct Asked {
        method: String,
        route: String,
    }

    type Durations = family::Family<Asked, histogram::Histogram, fn() -> histogram::Histogram>;

    static ANSWERED: LazyLock<family::Family<Answered, counter::Counter>> =
        LazyLock::new(Default::default);
    static DURATIONS: LazyLock<Durations> =
        LazyLock::new(|| Durations::new_with_constructor(|| histogram::Histogram::new(BOUNDS)));
    static OPEN: LazyLock<gauge::Gauge> = LazyLock::new(Default::default);

    pub(super) async fn count(request: Request, next: Next) -> Response {
        let (path, method) = (request.extensions().get().cloned(), request.method().clone());
        OPEN.inc();
        let begin = Instant::now();
        let response = next.run(request).await;
        let (method, route) = (method.as_str().to_owned(), route(path.as_ref()).to_owned());
        let asked = Asked { method: method.clone(), route: route.clone() };
        DURATIONS.get_or_create(&asked).observe(begin.elapsed().as_secs_f64());
        let status = response.status().as_u16();
        ANSWERED.get_or_create(&Answered { method, route, status }).inc();
        OPEN.dec();
        response
    }
}

mod vectors {
    use std::sync::LazyLock;
    use std::time::Instant;

    use axum::extract::Request;
    use axum::middleware::Next;
    use axum::response::Response;
    use prometheus::{HistogramOpts, HistogramVec, IntCounterVec, IntGauge, Opts};

    use super::{BOUNDS, route};

    static ANSWERED: LazyLock<IntCounterVec> = LazyLock::new(|| {
        IntCounterVec::new(Opts::new("answered", "About."), &["method", "route", "status"])
            .expect("sound names")
    });
    static DURATIONS: LazyLock<HistogramVec> = LazyLock::new(|| {
        let about = HistogramOpts::new("seconds", "About.").buckets(BOUNDS.to_vec());
        HistogramVec::new(about, &["method", "route"]).expect("sound names")
    });
    static OPEN: LazyLock<IntGauge> =
        LazyLock::new(|| IntGauge::new("open", "About.").expect("a sound name"));

    pub(super) async fn count(request: Request, next: Next) -> Response {
        let (path, method) = (request.extensions().get().cloned(), request.method().clone());
        OPEN.inc();
        let begin = Instant::now();
        let response = next.run(request).await;
        let (method, route) = (method.as_str(), route(path.as_ref()));
        let seconds = begin.elapsed().as_secs_f64();
        DURATIONS.with_label_values(&[method, route]).observe(seconds);
        let status = response.status();
        ANSWERED.with_label_values(&[method, route, status.as_str()]).inc();
        OPEN.dec();
        response
    }
}

static COUNTED: Routes = Routes::new();

fn matched(parts: &http::request::Parts) -> Option<&str> {
    parts.extensions.get::<MatchedPath>().map(MatchedPath::as_str)
}

const BY_HAND: &str = "windrow, families by hand";

fn contenders() -> Vec<(&'static str, Router)> {
    let app = || {
        ROUTES.iter().fold(Router::new(), |app, route| app.route(route, get(|| async { "one" })))
    };
    vec![
        ("no layer", app()),
        ("a layer that does nothing", app().layer(middleware::from_fn(nothing))),
        ("labels and time, nothing counted", app().layer(middleware::from_fn(timed))),
        (BY_HAND, app().layer(middleware::from_fn(ours::count))),
        ("prometheus-client, families by hand", app().layer(middleware::from_fn(client::count))),
        ("prometheus, vectors by hand", app().layer(middleware::from_fn(vectors::count))),
        ("windrow-tower", app().layer(MetricsLayer::new(&COUNTED, matched))),
    ]
}

/// Serves each router at an address of its own, for ever. Tells the thread's name in `/proc`, and
/// the addresses.
fn serve(routers: Vec<Router>, tell: &Sender<(String, Vec<SocketAddr>)>) {
    keep_to_core(0);
    let name = fs::read_link("/proc/thread-self").expect("Linux").display().to_string();
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let mut addresses = Vec::new();
        for router in routers {
            let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
            addresses.push(listener.local_addr().expect("bound"));
            tokio::spawn(async { axum::serve(listener, router).await });
        }
        tell.send((name, addresses)).expect("the main thread waits");
        std::future::pending::<()>().await;
    });
}

/// Returns the nanoseconds of CPU time of a thread by its name in `/proc`.
fn spent(thread: &str) -> Result<u64, Box<dyn Error>> {
    let text = fs::read_to_string(format!("/proc/{thread}/schedstat"))?;
    let nanos = text.split_whitespace().next().ok_or("an empty schedstat")?;
    Ok(nanos.parse()?)
}

/// Sends a number of requests, some at once.
fn send(connections: &mut [TcpStream], requests: usize) -> Result<(), Box<dyn Error>> {
    let mut answer = [0_u8; 1024];
    for _ in 0..requests / CONNECTIONS {
        for (connection, target) in connections.iter_mut().zip(REQUESTS.iter().cycle()) {
            connection
                .write_all(format!("GET {target} HTTP/1.1\r\nHost: here\r\n\r\n").as_bytes())?;
        }
        for connection in &mut *connections {
            let mut read = 0;
            while !answer[..read].ends_with(b"\r\n\r\none") {
                match connection.read(&mut answer[read..])? {
                    0 => return Err("the server has closed the connection".into()),
                    more => read += more,
                }
            }
            if !answer.starts_with(b"HTTP/1.1 200") {
                return Err(String::from_utf8_lossy(&answer[..read]).into());
            }
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let usual = Options { rounds: 101, requests: 2_000, ..Options::default() };
    let known = ["rounds", "requests", "only"];
    let Options { rounds, requests, only, .. } = options("server", &known, usual);
    let requests = requests.next_multiple_of(CONNECTIONS);
    let is_chosen = |name: &str| only.as_deref().is_none_or(|only| only == name);
    let (names, routers): (Vec<_>, Vec<_>) =
        contenders().into_iter().filter(|(name, _)| is_chosen(name)).unzip();
    if let Some(only) = only.as_deref().filter(|_| names.is_empty()) {
        return Err(format!("--only: no layer is called `{only}`").into());
    }
    let (tell, told) = mpsc::channel();
    thread::spawn(move || serve(routers, &tell));
    let (thread, addresses) = told.recv()?;
    print_caption("server");
    keep_to_core(1);
    let mut connections = Vec::new();
    for address in addresses {
        let some = (0..CONNECTIONS).map(|_| TcpStream::connect(address));
        connections.push(some.collect::<Result<Vec<_>, _>>()?);
    }
    let count = names.len();
    let mut took = vec![Vec::new(); count];
    for round in 0..=rounds {
        eprint!("round {round} of {rounds}\r");
        for turn in 0..count {
            let one = (round + turn) % count;
            let before = spent(&thread)?;
            send(&mut connections[one], requests)?;
            thread::sleep(Duration::from_millis(1)); // until the server sleeps
            took[one].push((spent(&thread)? - before) as f64 / requests as f64);
        }
    }
    eprint!("                    \r");
    let row = |index: usize| {
        // The first round warms up.
        let (bare, own) = (&took[0][1..], &took[index][1..]);
        let pairs = || own.iter().zip(bare);
        vec![
            names[index].to_owned(),
            Spread::of(own.iter().copied()).show_median(),
            Spread::of(pairs().map(|(own, bare)| own - bare)).show(),
            Spread::of(pairs().map(|(own, bare)| 100.0 * (own - bare) / own)).show(),
        ]
    };
    if only.is_none() {
        let rows: Vec<_> = (0..count).map(row).collect();
        print_table(&["layer", "ns a request", "more than none", "% of its CPU time"], &rows);
    }
    if is_chosen(BY_HAND) {
        assert_eq!(ours::counted(), ((rounds + 1) * requests) as u64, "requests were lost");
    }
    Ok(())
}
