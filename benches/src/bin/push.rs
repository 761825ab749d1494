//! A push of a family with three labels to an OpenTelemetry collector, by windrow-otlp and by
//! OpenTelemetry's SDK with `opentelemetry-otlp`: its time, its size and its memory. `cargo run
//! --release -p windrow-benches --features push --bin push`; `--series N`, `--rounds N`.
//!
//! The series are counters; then histograms of ten values over a decade, sent as exponential
//! histograms at scale 3; then with a count for each power of two. Both sides send the same kind.
//!
//! Both send all totals, over HTTP on a connection of its own, to a listener that only counts
//! bytes. A time is the CPU time of the whole process, the listener's included, since each sends on
//! threads of its own.

use std::error::Error;
use std::hint::black_box;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use cpu_time::ProcessTime;
use opentelemetry::KeyValue;
use opentelemetry::metrics::MeterProvider;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{MetricExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::metrics::{
    Aggregation, Instrument, PeriodicReader, SdkMeterProvider, Stream,
};
use windrow::{Counter, Family, Histogram, labels};
use windrow_benches::heap::Counting;
use windrow_benches::lab::entries::{Entry, measure, print_rows};
use windrow_benches::lab::stats::Sample;
use windrow_benches::terminal::options;
use windrow_otlp::{Exporter, HistogramForm, StartError};

#[global_allocator]
static HEAP: Counting = Counting::new();

/// A period that the program does not live to see.
const NEVER: Duration = Duration::from_secs(100_000);

labels! { struct Requests { method: str, route: str, status: u16 } }

/// The plainest client that the SDK's exporter can have.
#[derive(Debug)]
struct Client;

#[async_trait::async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (uri, body) = (request.uri(), request.body());
        let host = uri.authority().ok_or("no host")?.as_str();
        let mut stream = TcpStream::connect(host)?;
        let (path, length) = (uri.path(), body.len());
        write!(stream, "POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {length}\r\n")?;
        write!(stream, "content-type: application/x-protobuf\r\n\r\n")?;
        stream.write_all(body)?;
        let mut answer = [0; 1024];
        let length = stream.read(&mut answer)?;
        let is_good = answer[..length].starts_with(b"HTTP/1.1 200");
        Ok(Response::builder().status(if is_good { 200 } else { 500 }).body(Bytes::new())?)
    }
}

/// Takes requests, and counts the bytes of their bodies.
fn listen() -> io::Result<(SocketAddr, Arc<AtomicUsize>)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let (address, taken) = (listener.local_addr()?, Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&taken);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            answer(&stream, &counted).expect("a whole request");
        }
    });
    Ok((address, taken))
}

/// Answers a request, once the length of its body is counted.
fn answer(mut stream: &TcpStream, counted: &AtomicUsize) -> io::Result<()> {
    let mut request = BufReader::with_capacity(1 << 16, stream);
    let (mut line, mut length) = (String::new(), 0);
    while request.read_line(&mut line)? > "\r\n".len() {
        if let Some(of_body) = line.to_lowercase().strip_prefix("content-length: ") {
            length = of_body.trim_end().parse().map_err(io::Error::other)?;
        }
        line.clear();
    }
    io::copy(&mut request.take(length), &mut io::sink())?;
    counted.fetch_add(length as usize, Ordering::Relaxed);
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
}

/// One side's way to push what it has.
type Push = Box<dyn Fn()>;

/// The kind of the series.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Counter,
    Exponential,
    Explicit,
}

const KINDS: [(Kind, &str); 3] = [
    (Kind::Counter, "counters"),
    (Kind::Exponential, "exponential histograms"),
    (Kind::Explicit, "histograms with a bound at each power of two"),
];

/// Returns the values of a series: ten over a decade of nanoseconds.
fn values(number: usize) -> impl Iterator<Item = u64> {
    (0..10).map(move |value| 1_000_000 + value * 900_000 + number as u64)
}

/// Calls `each` with the number, the method and the route of each series.
fn each_series(series: usize, mut each: impl FnMut(usize, &'static str, &str)) {
    for number in 0..series {
        each(number, ["GET", "POST"][number % 2], &format!("/shop/article/{}", number / 2));
    }
}

/// Returns our way to push, and to read the same series without sending anything.
fn ours(kind: Kind, series: usize, address: SocketAddr) -> Result<[Push; 2], StartError> {
    let exporter = Exporter::to(format!("http://{address}"));
    let (exporter, read): (_, Push) = if kind == Kind::Counter {
        let family = Arc::new(Family::<Requests, Counter>::new().with_max_series(series));
        each_series(series, |_, method, route| {
            family.with(Requests { method, route, status: 200 }).increment();
        });
        let exporter = exporter.metric("requests", "Requests", Arc::clone(&family));
        let read = move || family.iter().for_each(|counter| _ = black_box(counter.lifetime()));
        (exporter, Box::new(read))
    } else {
        let family = Arc::new(Family::<Requests, Histogram>::new().with_max_series(series));
        each_series(series, |number, method, route| {
            let histogram = family.with(Requests { method, route, status: 200 });
            values(number).for_each(|value| histogram.record(value));
        });
        let octaves = kind == Kind::Explicit;
        let form = if octaves { HistogramForm::Octaves } else { HistogramForm::Exponential };
        let exporter = exporter.metric("requests", "Requests", Arc::clone(&family));
        let read = move || family.iter().for_each(|values| _ = black_box(values.lifetime()));
        (exporter.histograms(form), Box::new(read))
    };
    let started = exporter.start(NEVER)?;
    Ok([Box::new(move || started.flush().expect("the listener takes all")), read])
}

fn theirs(kind: Kind, series: usize, address: SocketAddr) -> Result<Push, Box<dyn Error>> {
    let exporter = MetricExporter::builder().with_http().with_http_client(Client);
    let exporter = exporter.with_endpoint(format!("http://{address}/v1/metrics")).build()?;
    let all = move |_: &Instrument| {
        let stream = Stream::builder().with_cardinality_limit(series + 1);
        let aggregation = match kind {
            Kind::Counter => return stream.build().ok(),
            Kind::Exponential => Aggregation::Base2ExponentialHistogram {
                max_size: 160,
                max_scale: 3,
                record_min_max: true,
            },
            // Those of windrow's default scale.
            Kind::Explicit => Aggregation::ExplicitBucketHistogram {
                boundaries: (9..=36).map(|power| f64::from(power).exp2()).collect(),
                record_min_max: true,
            },
        };
        stream.with_aggregation(aggregation).build().ok()
    };
    let reader = PeriodicReader::builder(exporter).with_interval(NEVER).build();
    let provider = SdkMeterProvider::builder().with_reader(reader).with_view(all).build();
    let meter = provider.meter("push");
    let labels = |method: &'static str, route: &str| {
        [
            KeyValue::new("method", method),
            KeyValue::new("route", route.to_owned()),
            KeyValue::new("status", 200),
        ]
    };
    if kind == Kind::Counter {
        let counter = meter.u64_counter("requests").build();
        each_series(series, |_, method, route| counter.add(1, &labels(method, route)));
    } else {
        let histogram = meter.u64_histogram("requests").build();
        each_series(series, |number, method, route| {
            let labels = labels(method, route);
            values(number).for_each(|value| histogram.record(value, &labels));
        });
    }
    Ok(Box::new(move || provider.force_flush().expect("the listener takes all")))
}

fn main() -> Result<(), Box<dyn Error>> {
    let [series, rounds] = options("push", [("series", 10_000), ("rounds", 15)], &[]).numbers;
    let (address, taken) = listen()?;
    for (kind, name) in KINDS {
        let [push, read] = ours(kind, series, address)?;
        let theirs = theirs(kind, series, address)?;
        let entry = |contender, push: Push| {
            let before = HEAP.bytes();
            HEAP.forget_peak();
            taken.store(0, Ordering::Relaxed);
            push();
            let bytes = [taken.load(Ordering::Relaxed), HEAP.peak() - before];
            let bytes = bytes.map(|bytes| (bytes / series).to_string());
            Entry::new(contender).facts(bytes).column(move || {
                let begin = ProcessTime::now();
                push();
                let ns = begin.elapsed().as_nanos() as f64;
                // Other processes are not seen: it is the time of several threads.
                Sample { ns, running: 1.0 }.each(series as u64)
            })
        };
        let mut pushes = [
            entry("SDK, opentelemetry-otlp", theirs),
            entry("windrow-otlp", push),
            entry("windrow, reading alone", read),
        ];
        measure(name, rounds, &mut pushes);
        let heads = [name, "bytes a series sent", "at most", "ns of CPU a series", "to the SDK's"];
        print_rows(&heads, &pushes, |push| {
            vec![push.cost(0).show(), push.ratio(0, &pushes[0], 0).show()]
        });
        std::mem::forget(pushes); // the SDK would push once more
    }
    std::process::exit(0)
}
