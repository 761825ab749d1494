//! One scrape of a family with three labels, in each format that `windrow-prometheus` writes and by
//! `prometheus-client`'s encoders: its time, its size and its memory. `cargo run --release -p
//! windrow-benches --features protobuf --bin scrape`; `--series N`, `--rounds N`, `--only PART`.
//!
//! The parts: `counters`, `gauges`, `histograms` (a counter and a histogram in each series),
//! `protobuf`, `gzip`. All contenders of a part have the same series, to each of which every core
//! has added, and are scraped in turn, round by round. A table's last
//! column is the ratio to the first contender of the part.

use std::io::Write;
use std::sync::Arc;

use flate2::{Compression, write::GzEncoder};
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter as TheirCounter;
use prometheus_client::metrics::family::Family as TheirFamily;
use prometheus_client::metrics::gauge::Gauge as TheirGauge;
use prometheus_client::metrics::histogram::Histogram as TheirHistogram;
use prometheus_client::registry::{Metric, Registry};
use windrow::histogram::Scale;
use windrow::{Counter, Family, Gauge, Histogram, labels, metrics};
use windrow_benches::harness::{on_every_core, time};
use windrow_benches::heap::Counting;
use windrow_benches::lab::entries::{Entry, measure, print_rows};
use windrow_benches::terminal::options;
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

/// A scrape of a family to each of whose series every core has added: returns its body.
type Scrape = Box<dyn Fn() -> Vec<u8>>;
type Contender = (&'static str, Scrape);

/// A scrape of a registry of prometheus-client's.
fn of_registry(registry: Registry) -> Scrape {
    Box::new(move || text(&registry).into_bytes())
}

/// A windrow family in an exposition.
fn exposed(source: impl windrow::export::Source + 'static) -> Arc<Exposition> {
    let mut metrics = Exposition::new();
    metrics.register("requests", "Requests", source).expect("a new name");
    Arc::new(metrics)
}

fn plain(metrics: &Arc<Exposition>, format: Format) -> Scrape {
    let metrics = Arc::clone(metrics);
    Box::new(move || metrics.encode(format))
}

fn compressed(metrics: &Arc<Exposition>, format: Format) -> Scrape {
    let metrics = Arc::clone(metrics);
    Box::new(move || metrics.respond_in(format, true).body)
}

fn text(registry: &Registry) -> String {
    let mut text = String::new();
    encode(&mut text, registry).expect("a string takes all");
    text
}

/// Every core adds to every series once.
fn fill(series: usize, add: impl Fn(TheirRequest) + Sync) {
    on_every_core(&|| (0..series).for_each(|series| add(request(series))));
}

/// A family of counters in a registry of theirs.
fn their_counters(series: usize) -> Registry {
    let family = TheirFamily::<TheirRequest, TheirCounter>::default();
    fill(series, |request| _ = family.get_or_create(&request).inc());
    of_family(family)
}

fn of_family(family: impl Metric) -> Registry {
    let mut registry = Registry::default();
    registry.register("requests", "Requests", family);
    registry
}

/// A family of counters.
fn our_counters(series: usize) -> Arc<Family<Request<'static>, Counter>> {
    let family = Arc::new(Family::<Request, Counter>::new().with_max_series(series));
    fill(series, |request| borrowed(&request, |of| family.with(of).increment()));
    family
}

fn counters(series: usize) -> Vec<Contender> {
    let mixed = TheirFamily::<TheirRequest, registry::Counter>::default();
    fill(series, |request| mixed.get_or_create(&request).increment());
    let ours = our_counters(series);
    let mut with_ours = Registry::default();
    register(&mut with_ours, "requests", "Requests", Arc::clone(&ours)).expect("a new name");
    let ours = exposed(ours);
    vec![
        ("prometheus-client: Family of Counter", of_registry(their_counters(series))),
        ("prometheus-client: Family of windrow's Counter", of_registry(of_family(mixed))),
        ("prometheus-client: windrow's Family", of_registry(with_ours)),
        ("windrow: text 0.0.4", plain(&ours, Format::TEXT)),
        ("windrow: OpenMetrics, with times of creation", plain(&ours, Format::OPENMETRICS)),
    ]
}

/// Gauges have no times of creation: so the two write the same lines of `OpenMetrics`.
fn gauges(series: usize) -> Vec<Contender> {
    let theirs = TheirFamily::<TheirRequest, TheirGauge>::default();
    fill(series, |request| _ = theirs.get_or_create(&request).inc());
    let ours = Arc::new(Family::<Request, Gauge>::new().with_max_series(series));
    fill(series, |request| borrowed(&request, |of| ours.with(of).add(1)));
    let ours = exposed(ours);
    vec![
        ("prometheus-client: Family of Gauge", of_registry(of_family(theirs))),
        ("windrow: OpenMetrics", plain(&ours, Format::OPENMETRICS)),
        ("windrow: text 0.0.4", plain(&ours, Format::TEXT)),
    ]
}

/// A counter and a histogram in each series, with a bucket for each octave.
fn histograms(series: usize) -> Vec<Contender> {
    let values = [900_u32, 70_000, 1_000_000, 1_100_000];
    let requests = TheirFamily::<TheirRequest, TheirCounter>::default();
    let times = TheirFamily::<TheirRequest, TheirHistogram, _>::new_with_constructor(|| {
        TheirHistogram::new(Scale::DEFAULT.octaves().map(|bound| bound as f64))
    });
    fill(series, |request| {
        requests.get_or_create(&request).inc();
        let histogram = times.get_or_create(&request);
        for value in values {
            histogram.observe(f64::from(value));
        }
    });
    let mut registry = Registry::default();
    registry.register("requests_requests", "Requests", requests);
    registry.register("requests_rt", "Requests", times);
    let ours = Arc::new(Family::<Request, Endpoint>::new().with_max_series(series));
    fill(series, |request| {
        borrowed(&request, |of| {
            let endpoint = ours.with(of);
            endpoint.requests.increment();
            for value in values {
                endpoint.rt.record(u64::from(value));
            }
        });
    });
    let ours = exposed(ours);
    vec![
        ("prometheus-client: Families of Counter and Histogram", of_registry(registry)),
        ("windrow: text 0.0.4", plain(&ours, Format::TEXT)),
        ("windrow: OpenMetrics, with times of creation", plain(&ours, Format::OPENMETRICS)),
    ]
}

fn protobuf(series: usize) -> Vec<Contender> {
    let ours = exposed(our_counters(series));
    vec![
        #[cfg(feature = "protobuf")]
        {
            use prometheus_client::encoding::prometheus_protobuf::encode_to_vec;

            let registry = their_counters(series);
            let scrape = move || encode_to_vec(&registry).expect("a vector takes all");
            ("prometheus-client: protobuf", Box::new(scrape) as Scrape)
        },
        ("windrow: protobuf, with times of creation", plain(&ours, Format::PROTOBUF)),
    ]
}

/// The text of both by the same compressor at the same level.
fn gzip(series: usize) -> Vec<Contender> {
    let theirs = their_counters(series);
    let ours = exposed(our_counters(series));
    let text_of_ours = ours.encode(Format::TEXT);
    let compress = |body: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(body).expect("a vector takes all");
        encoder.finish().expect("a vector takes all")
    };
    vec![
        (
            "prometheus-client: text through flate2, level 1",
            Box::new(move || compress(text(&theirs).as_bytes())),
        ),
        ("windrow: text, gzip", compressed(&ours, Format::TEXT)),
        (
            "windrow: OpenMetrics with times of creation, gzip",
            compressed(&ours, Format::OPENMETRICS),
        ),
        ("flate2 alone, level 1, of windrow's text", Box::new(move || compress(&text_of_ours))),
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

/// Returns the bytes of a scrape's body, and the most that it takes on the heap.
fn bytes((name, scrape): &Contender, series: usize) -> [String; 2] {
    let before = HEAP.bytes();
    HEAP.forget_peak();
    let body = scrape();
    let most = HEAP.peak() - before;
    if !body.starts_with(&[0x1f, 0x8b]) {
        // The label's value is in it as it is, whatever the format.
        let last = format!("/shop/article/{}", (series - 1) / 2);
        let is_there = body.windows(last.len()).any(|part| part == last.as_bytes());
        assert!(is_there, "{name} has lost series");
    }
    [body.len(), most].map(|bytes| (bytes / series).to_string())
}

fn entry(contender: &Contender, series: usize) -> Entry<'_> {
    let (name, scrape) = contender;
    Entry::new(*name).facts(bytes(contender, series)).column(move || {
        let mut body = Vec::new();
        time(|| body = scrape()).each(series as u64)
    })
}

fn main() {
    let usual = [("series", 10_000), ("rounds", 15)];
    let options = options("scrape", usual, &PARTS.map(|(name, _)| name));
    let [series, rounds] = options.numbers;
    for (part, contenders) in PARTS.iter().filter(|(name, _)| options.wants(name)) {
        let contenders = contenders(series);
        let mut scrapes: Vec<_> = contenders.iter().map(|one| entry(one, series)).collect();
        measure(part, rounds, &mut scrapes);
        let heads =
            [part, "bytes a series in the body", "at most", "ns of CPU a series", "to the first"];
        print_rows(&heads, &scrapes, |scrape| {
            vec![scrape.cost(0).show(), scrape.ratio(0, &scrapes[0], 0).show()]
        });
    }
}
