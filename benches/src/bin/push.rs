//! A push of a family of counters with three labels to an OpenTelemetry collector, by windrow-otlp
//! and by OpenTelemetry's SDK with `opentelemetry-otlp`: its time, its size and its memory. `cargo
//! run --release -p windrow-benches --features push --bin push`; `--series N`, `--rounds N`.
//!
//! Both send all totals, over HTTP on a connection of its own, to a listener that only counts
//! bytes. A time is the CPU time of the whole process, the listener's included, since each sends on
//! threads of its own.

use std::io::{self, Read, Write};
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
use opentelemetry_sdk::metrics::{Instrument, PeriodicReader, SdkMeterProvider, Stream};
use windrow::{Counter, Family, labels};
use windrow_benches::heap::Counting;
use windrow_benches::terminal::{print_caption, print_table, series_and_rounds};
use windrow_otlp::Exporter;

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
        let mut buffer = vec![0; 1 << 16];
        for stream in listener.incoming().flatten() {
            answer(stream, &mut buffer, &counted).expect("a whole request");
        }
    });
    Ok((address, taken))
}

/// Answers a request, once the length of its body is counted.
fn answer(mut stream: TcpStream, buffer: &mut [u8], counted: &AtomicUsize) -> io::Result<()> {
    let mut head = Vec::new();
    let end = loop {
        let length = stream.read(buffer)?;
        head.extend_from_slice(&buffer[..length]);
        match head.windows(4).position(|four| four == b"\r\n\r\n") {
            Some(end) => break end + 4,
            None if length == 0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            None => {}
        }
    };
    let text = String::from_utf8_lossy(&head[..end]).to_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length = length.and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut taken = head.len() - end;
    while taken < length {
        taken += stream.read(buffer)?;
    }
    counted.fetch_add(length, Ordering::Relaxed);
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (series, rounds) = series_and_rounds("push");
    let (address, taken) = listen()?;
    let family = Arc::new(Family::<Requests, Counter>::new().with_max_series(series));
    let ours = Exporter::to(&format!("http://{address}"))
        .metric("requests", "Requests", Arc::clone(&family))
        .start(NEVER)?;

    let exporter = MetricExporter::builder().with_http().with_http_client(Client);
    let exporter = exporter.with_endpoint(format!("http://{address}/v1/metrics")).build()?;
    let limit = series + 1;
    let all = move |_: &Instrument| Stream::builder().with_cardinality_limit(limit).build().ok();
    let reader = PeriodicReader::builder(exporter).with_interval(NEVER).build();
    let provider = SdkMeterProvider::builder().with_reader(reader).with_view(all).build();
    let theirs = provider.meter("push").u64_counter("requests").build();

    for number in 0..series {
        let (method, route) =
            (["GET", "POST"][number % 2], format!("/shop/article/{}", number / 2));
        family.with(Requests { method, route: &route, status: 200 }).increment();
        let labels = [
            KeyValue::new("method", method),
            KeyValue::new("route", route),
            KeyValue::new("status", 200),
        ];
        theirs.add(1, &labels);
    }

    let push_ours = || ours.flush().expect("the listener takes all");
    let push_theirs = || provider.force_flush().expect("the listener takes all");
    let contenders: [(&str, &dyn Fn()); 2] =
        [("windrow-otlp", &push_ours), ("SDK, opentelemetry-otlp", &push_theirs)];
    let mut measured = contenders.map(|_| (Vec::new(), 0, 0));
    for round in 0..rounds {
        eprint!("round {} of {rounds}\r", round + 1);
        for ((_, push), (times, memory, sent)) in contenders.iter().zip(&mut measured) {
            let before = HEAP.bytes();
            HEAP.forget_peak();
            taken.store(0, Ordering::Relaxed);
            let begin = ProcessTime::now();
            push();
            times.push(begin.elapsed());
            (*memory, *sent) = (HEAP.peak() - before, taken.load(Ordering::Relaxed));
        }
    }
    eprint!("                    \r");

    print_caption("push");
    let each = |time: Duration| format!("{:.0}", time.as_secs_f64() * 1e9 / series as f64);
    let rows = contenders.iter().zip(&mut measured).map(|((name, _), (times, memory, sent))| {
        times.sort_unstable();
        let [first, median, last] = [0, rounds / 2, rounds - 1].map(|at| each(times[at]));
        let [sent, memory] = [*sent, *memory].map(|bytes| (bytes / series).to_string());
        vec![(*name).to_owned(), sent, memory, median, format!("{first} to {last}")]
    });
    let rows: Vec<_> = rows.collect();
    let head =
        ["contender", "bytes a series sent", "at most", "ns of CPU a series: median", "range"];
    print_table(&head, &rows);
    println!("\n{series} series, {rounds} rounds.");
    std::process::exit(0) // the SDK would push once more
}
