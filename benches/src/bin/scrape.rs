//! One scrape of a family of counters with three labels, in each format that `windrow-prometheus`
//! writes and by `prometheus-client`'s text encoder: its time, its size and its memory. `cargo run
//! --release -p windrow-benches --bin scrape`; `--series N`, `--rounds N`.
//!
//! All contenders have the same series, each of which every core has added to, and are scraped in
//! turn, round by round.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter as TheirCounter;
use prometheus_client::metrics::family::Family as TheirFamily;
use prometheus_client::registry::Registry;
use windrow::{Counter, Family, labels};
use windrow_benches::harness::{cores, keep_to_core, time};
use windrow_benches::heap::Counting;
use windrow_benches::terminal::{print_caption, print_table, series_and_rounds};
use windrow_prometheus::registry::{self, register};
use windrow_prometheus::{Exposition, Format};

#[global_allocator]
static HEAP: Counting = Counting::new();

labels! {
    enum Method { Get = "GET", Post = "POST" }
    struct Request { method: Method, route: str, status: u16 }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TheirRequest {
    method: TheirMethod,
    route: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
enum TheirMethod {
    #[allow(clippy::upper_case_acronyms)] // shown as they are
    GET,
    #[allow(clippy::upper_case_acronyms)]
    POST,
}

/// Returns the labels of one of the series, which no other has.
fn request(series: usize) -> TheirRequest {
    let method = if series.is_multiple_of(2) { TheirMethod::GET } else { TheirMethod::POST };
    TheirRequest { method, route: format!("/shop/article/{}", series / 2), status: 200 }
}

/// A family, one of whose series each core has added to, and its scrape.
struct Contender {
    name: &'static str,
    /// Returns the body of a scrape.
    scrape: Box<dyn Fn() -> Vec<u8>>,
    /// The bytes that the family took.
    bytes: usize,
    times: Vec<Duration>,
}

impl Contender {
    fn new(name: &'static str, bytes: usize, scrape: impl Fn() -> Vec<u8> + 'static) -> Contender {
        Contender { name, scrape: Box::new(scrape), bytes, times: Vec::new() }
    }

    fn of_registry(name: &'static str, bytes: usize, registry: Registry) -> Contender {
        Contender::new(name, bytes, move || {
            let mut text = String::new();
            encode(&mut text, &registry).expect("a string takes all");
            text.into_bytes()
        })
    }
}

/// Resident bytes of this process: a windrow counter's cells are not on the heap.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = pages.split_whitespace().nth(1).and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or(0) * 4096
}

/// Every core adds to every series once. Returns the bytes that this took.
fn fill(series: usize, add: impl Fn(TheirRequest) + Sync) -> usize {
    let (heap, pages) = (HEAP.bytes(), resident());
    for core in 0..cores() {
        thread::scope(|scope| {
            scope.spawn(|| {
                keep_to_core(core);
                (0..series).for_each(|series| add(request(series)));
            });
        });
    }
    // The greater of the two: resident memory may have been free before.
    (HEAP.bytes() - heap).max(resident().saturating_sub(pages))
}

fn contenders(series: usize) -> Vec<Contender> {
    let theirs = TheirFamily::<TheirRequest, TheirCounter>::default();
    let mixed = TheirFamily::<TheirRequest, registry::Counter>::default();
    let ours = Arc::new(Family::<Request, Counter>::new().with_max_series(series));
    let their_bytes = fill(series, |request| _ = theirs.get_or_create(&request).inc());
    let mixed_bytes = fill(series, |request| mixed.get_or_create(&request).increment());
    let our_bytes = fill(series, |TheirRequest { method, route, status }| {
        let method = if method == TheirMethod::GET { Method::Get } else { Method::Post };
        ours.with(Request { method, route: &route, status }).increment();
    });
    let [mut with_theirs, mut with_mixed, mut with_ours] = [(); 3].map(|()| Registry::default());
    with_theirs.register("requests", "Requests", theirs);
    with_mixed.register("requests", "Requests", mixed);
    register(&mut with_ours, "requests", "Requests", Arc::clone(&ours)).expect("a new name");
    let mut metrics = Exposition::new();
    metrics.register("requests", "Requests", ours).expect("a new name");
    let metrics = Arc::new(metrics);
    let in_format = |name, format| {
        let metrics = Arc::clone(&metrics);
        Contender::new(name, our_bytes, move || metrics.encode(format))
    };
    vec![
        Contender::of_registry("prometheus-client: Family of Counter", their_bytes, with_theirs),
        Contender::of_registry(
            "prometheus-client: Family of windrow's Counter",
            mixed_bytes,
            with_mixed,
        ),
        Contender::of_registry("prometheus-client: windrow's Family", our_bytes, with_ours),
        in_format("windrow: text 0.0.4", Format::TEXT),
        in_format("windrow: OpenMetrics, with times of creation", Format::OPENMETRICS),
        in_format("windrow: protobuf, with times of creation", Format::PROTOBUF),
    ]
}

/// Returns the nanoseconds of a series.
fn each(time: Duration, series: usize) -> String {
    format!("{:.0}", time.as_secs_f64() * 1e9 / series as f64)
}

fn main() {
    let (series, rounds) = series_and_rounds("scrape");
    print_caption("scrape");
    let mut contenders = contenders(series);
    let mut rows = Vec::new();
    for contender in &contenders {
        let before = HEAP.bytes();
        HEAP.forget_peak();
        let body = (contender.scrape)();
        let most = HEAP.peak() - before;
        // The label's value is in it as it is, whatever the format.
        let last = format!("/shop/article/{}", (series - 1) / 2);
        let is_there = body.windows(last.len()).any(|part| part == last.as_bytes());
        assert!(is_there, "{} has lost series", contender.name);
        rows.push(vec![
            contender.name.to_owned(),
            (contender.bytes / series).to_string(),
            (body.len() / series).to_string(),
            (most / series).to_string(),
        ]);
    }
    for _ in 0..rounds {
        for contender in &mut contenders {
            let mut body = Vec::new();
            contender.times.push(time(|| body = (contender.scrape)()));
        }
    }
    for (row, contender) in rows.iter_mut().zip(&mut contenders) {
        contender.times.sort_unstable();
        let times = &contender.times;
        let [first, median, last] = [times[0], times[times.len() / 2], times[times.len() - 1]]
            .map(|time| each(time, series));
        row.extend([median, format!("{first} to {last}")]);
    }
    let head = [
        "contender",
        "bytes a series",
        "in the body",
        "at most in a scrape",
        "ns of CPU a series: median",
        "range",
    ];
    print_table(&head, &rows);
    println!("\n{series} series, {rounds} rounds.");
}
