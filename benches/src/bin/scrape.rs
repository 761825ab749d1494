//! One scrape of a family with three labels, in each format that `windrow-prometheus` writes and by
//! `prometheus-client`'s encoders: its time, its size and its memory. `cargo run --release -p
//! windrow-benches --features protobuf --bin scrape`; `--series N`, `--rounds N`, `--only PART`.
//!
//! The parts: `counters`, `gauges`, `histograms` (a counter and a histogram in each series),
//! `protobuf`, `gzip`. All contenders of a part have the same series, to each of which every core
//! has added, and are scraped in turn, round by round. The first one of a part is the rival.

use std::io::Write;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use flate2::{Compression, write::GzEncoder};
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter as TheirCounter;
use prometheus_client::metrics::family::Family as TheirFamily;
use prometheus_client::metrics::gauge::Gauge as TheirGauge;
use prometheus_client::metrics::histogram::Histogram as TheirHistogram;
use prometheus_client::registry::Registry;
use windrow::histogram::Scale;
use windrow::{Counter, Family, Gauge, Histogram, labels, metrics};
use windrow_benches::harness::{cores, keep_to_core, time};
use windrow_benches::heap::{Counting, resident};
use windrow_benches::lab::stats::Spread;
use windrow_benches::terminal::{Options, options, print_caption, print_table};
use windrow_prometheus::registry::{self, register};
use windrow_prometheus::{Exposition, Format};

#[global_allocator]
static HEAP: Counting = Counting::new();

labels! {
    enum Method { Get = "GET", Post = "POST" }
    struct Request { method: Method, route: str, status: u16 }
}

metrics! {
    struct Endpoint { requests: Counter, rt: Histogram }
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

/// Calls `see` with the labels as a windrow family takes them.
fn borrowed(request: &TheirRequest, see: impl FnOnce(Request<'_>)) {
    let TheirRequest { method, route, status } = request;
    let method = if *method == TheirMethod::GET { Method::Get } else { Method::Post };
    see(Request { method, route, status: *status });
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

    fn of_registry(name: &'static str, bytes: usize, registry: &Arc<Registry>) -> Contender {
        let registry = Arc::clone(registry);
        Contender::new(name, bytes, move || text(&registry).into_bytes())
    }
}

/// A windrow family in an exposition, and the bytes that it took.
struct Ours {
    bytes: usize,
    metrics: Arc<Exposition>,
}

impl Ours {
    fn new(bytes: usize, source: impl windrow::export::Source + 'static) -> Ours {
        let mut metrics = Exposition::new();
        metrics.register("requests", "Requests", source).expect("a new name");
        Ours { bytes, metrics: Arc::new(metrics) }
    }

    fn plain(&self, name: &'static str, format: Format) -> Contender {
        let metrics = Arc::clone(&self.metrics);
        Contender::new(name, self.bytes, move || metrics.encode(format))
    }

    fn compressed(&self, name: &'static str, format: Format) -> Contender {
        let metrics = Arc::clone(&self.metrics);
        Contender::new(name, self.bytes, move || metrics.respond_in(format, true).body)
    }
}

fn text(registry: &Registry) -> String {
    let mut text = String::new();
    encode(&mut text, registry).expect("a string takes all");
    text
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

/// A family of counters in a registry of theirs, and the bytes that it took.
fn their_counters(series: usize) -> (usize, Arc<Registry>) {
    let family = TheirFamily::<TheirRequest, TheirCounter>::default();
    let bytes = fill(series, |request| _ = family.get_or_create(&request).inc());
    let mut registry = Registry::default();
    registry.register("requests", "Requests", family);
    (bytes, Arc::new(registry))
}

/// A family of counters, and the bytes that it took.
fn our_counters(series: usize) -> (usize, Arc<Family<Request<'static>, Counter>>) {
    let family = Arc::new(Family::<Request, Counter>::new().with_max_series(series));
    let bytes = fill(series, |request| borrowed(&request, |of| family.with(of).increment()));
    (bytes, family)
}

fn counters(series: usize) -> Vec<Contender> {
    let (their_bytes, theirs) = their_counters(series);
    let mixed = TheirFamily::<TheirRequest, registry::Counter>::default();
    let mixed_bytes = fill(series, |request| mixed.get_or_create(&request).increment());
    let (our_bytes, ours) = our_counters(series);
    let [mut with_mixed, mut with_ours] = [(); 2].map(|()| Registry::default());
    with_mixed.register("requests", "Requests", mixed);
    register(&mut with_ours, "requests", "Requests", Arc::clone(&ours)).expect("a new name");
    let [with_mixed, with_ours] = [with_mixed, with_ours].map(Arc::new);
    let ours = Ours::new(our_bytes, ours);
    vec![
        Contender::of_registry("prometheus-client: Family of Counter", their_bytes, &theirs),
        Contender::of_registry(
            "prometheus-client: Family of windrow's Counter",
            mixed_bytes,
            &with_mixed,
        ),
        Contender::of_registry("prometheus-client: windrow's Family", our_bytes, &with_ours),
        ours.plain("windrow: text 0.0.4", Format::TEXT),
        ours.plain("windrow: OpenMetrics, with times of creation", Format::OPENMETRICS),
    ]
}

/// Gauges have no times of creation: so the two write the same lines of `OpenMetrics`.
fn gauges(series: usize) -> Vec<Contender> {
    let theirs = TheirFamily::<TheirRequest, TheirGauge>::default();
    let their_bytes = fill(series, |request| _ = theirs.get_or_create(&request).inc());
    let ours = Arc::new(Family::<Request, Gauge>::new().with_max_series(series));
    let our_bytes = fill(series, |request| borrowed(&request, |of| ours.with(of).add(1)));
    let mut registry = Registry::default();
    registry.register("requests", "Requests", theirs);
    let ours = Ours::new(our_bytes, ours);
    vec![
        Contender::of_registry("prometheus-client: Family of Gauge", their_bytes, &registry.into()),
        ours.plain("windrow: OpenMetrics", Format::OPENMETRICS),
        ours.plain("windrow: text 0.0.4", Format::TEXT),
    ]
}

/// A counter and a histogram in each series, with a bucket for each octave.
fn histograms(series: usize) -> Vec<Contender> {
    let values = [900_u32, 70_000, 1_000_000, 1_100_000];
    let requests = TheirFamily::<TheirRequest, TheirCounter>::default();
    let times = TheirFamily::<TheirRequest, TheirHistogram, _>::new_with_constructor(|| {
        TheirHistogram::new(Scale::DEFAULT.octaves().map(|bound| bound as f64))
    });
    let their_bytes = fill(series, |request| {
        requests.get_or_create(&request).inc();
        let histogram = times.get_or_create(&request);
        for value in &values {
            histogram.observe(f64::from(*value));
        }
    });
    let mut registry = Registry::default();
    registry.register("requests_requests", "Requests", requests);
    registry.register("requests_rt", "Requests", times);
    let ours = Arc::new(Family::<Request, Endpoint>::new().with_max_series(series));
    let our_bytes = fill(series, |request| {
        borrowed(&request, |of| {
            let endpoint = ours.with(of);
            endpoint.requests.increment();
            for value in &values {
                endpoint.rt.record(u64::from(*value));
            }
        });
    });
    let ours = Ours::new(our_bytes, ours);
    vec![
        Contender::of_registry(
            "prometheus-client: Families of Counter and Histogram",
            their_bytes,
            &registry.into(),
        ),
        ours.plain("windrow: text 0.0.4", Format::TEXT),
        ours.plain("windrow: OpenMetrics, with times of creation", Format::OPENMETRICS),
    ]
}

fn protobuf(series: usize) -> Vec<Contender> {
    let (our_bytes, ours) = our_counters(series);
    let ours = Ours::new(our_bytes, ours);
    vec![
        #[cfg(feature = "protobuf")]
        {
            use prometheus_client::encoding::prometheus_protobuf::encode_to_vec;

            let (bytes, registry) = their_counters(series);
            let scrape = move || encode_to_vec(&registry).expect("a vector takes all");
            Contender::new("prometheus-client: protobuf", bytes, scrape)
        },
        ours.plain("windrow: protobuf, with times of creation", Format::PROTOBUF),
    ]
}

/// The text of both by the same compressor at the same level.
fn gzip(series: usize) -> Vec<Contender> {
    let (their_bytes, theirs) = their_counters(series);
    let (our_bytes, ours) = our_counters(series);
    let ours = Ours::new(our_bytes, ours);
    let plain = ours.metrics.encode(Format::TEXT);
    let compress = |body: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(body).expect("a vector takes all");
        encoder.finish().expect("a vector takes all")
    };
    vec![
        Contender::new("prometheus-client: text through flate2, level 1", their_bytes, move || {
            compress(text(&theirs).as_bytes())
        }),
        ours.compressed("windrow: text, gzip", Format::TEXT),
        ours.compressed("windrow: OpenMetrics with times of creation, gzip", Format::OPENMETRICS),
        Contender::new("flate2 alone, level 1, of windrow's text", our_bytes, move || {
            compress(&plain)
        }),
    ]
}

/// A part of the program: contenders of the same rounds.
type Part = (&'static str, fn(usize) -> Vec<Contender>);

const PARTS: [Part; 5] = [
    ("counters", counters),
    ("gauges", gauges),
    ("histograms", histograms),
    ("protobuf", protobuf),
    ("gzip", gzip),
];

fn measure(series: usize, rounds: usize, mut contenders: Vec<Contender>) {
    let mut rows = Vec::new();
    for contender in &contenders {
        let before = HEAP.bytes();
        HEAP.forget_peak();
        let body = (contender.scrape)();
        let most = HEAP.peak() - before;
        rows.push(vec![
            contender.name.to_owned(),
            (contender.bytes / series).to_string(),
            (body.len() / series).to_string(),
            (most / series).to_string(),
        ]);
        if !body.starts_with(&[0x1f, 0x8b]) {
            // The label's value is in it as it is, whatever the format.
            let last = format!("/shop/article/{}", (series - 1) / 2);
            let is_there = body.windows(last.len()).any(|part| part == last.as_bytes());
            assert!(is_there, "{} has lost series", contender.name);
        }
    }
    for _ in 0..rounds {
        for contender in &mut contenders {
            let mut body = Vec::new();
            contender.times.push(time(|| body = (contender.scrape)()));
        }
    }
    let rivals = &contenders[0].times;
    for (row, one) in rows.iter_mut().zip(&contenders) {
        let each = one.times.iter().map(|time| time.as_secs_f64() * 1e9 / series as f64);
        let by_round = one.times.iter().zip(rivals);
        let ratios = by_round.map(|(own, rival)| own.as_secs_f64() / rival.as_secs_f64());
        row.extend([Spread::of(each).show(), Spread::of(ratios).show()]);
    }
    let head = [
        "contender",
        "bytes a series",
        "in the body",
        "at most in a scrape",
        "ns of CPU a series",
        "to the first",
    ];
    print_table(&head, &rows);
    println!();
}

fn main() {
    let usual = Options { rounds: 15, series: 10_000, ..Options::default() };
    let known = ["rounds", "series", "only"];
    let Options { series, rounds, only, .. } = options("scrape", &known, usual);
    print_caption("scrape");
    let parts = PARTS.iter().filter(|(name, _)| only.as_ref().is_none_or(|only| only == name));
    for (name, contenders) in parts {
        println!("{name}\n");
        measure(series, rounds, contenders(series));
    }
    println!("Median (least to greatest). {series} series, {rounds} rounds.");
}
