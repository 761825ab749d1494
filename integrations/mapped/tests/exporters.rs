//! Each exporter shows the metrics of a file, which it gets as any catalog. (`windrow-top` has its
//! own test.)
#![cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use windrow::export::Catalog;
use windrow_console::Console;
use windrow_log::{Entry, Log, Options};
use windrow_mapped::{File, FileSource, Reader, Scale};
use windrow_otlp::Exporter;
use windrow_prometheus::{Exposition, Format};

/// Returns a catalog with the metrics of a file. No process counts in it any more.
fn catalog() -> (Catalog, TempDir) {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let file = File::open(&path).unwrap();
    file.counter("calls", &[("route", "/cart")]).unwrap().add(3);
    file.counter("calls", &[("route", "/pay")]).unwrap().add(4);
    file.maximum("largest", &[]).unwrap().record(900);
    let gauge = file.gauge("open", &[]).unwrap();
    gauge.add(6);
    file.histogram("latency", Scale::DEFAULT, &[]).unwrap().record(5_000);
    file.pace("limit", &[], Duration::from_secs(1), 1).unwrap();
    let mut catalog = Catalog::new();
    FileSource::new(Reader::open(&path).unwrap()).add_to(&mut catalog).unwrap();
    (catalog, folder)
}

#[test]
fn prometheus_scrapes_a_file() {
    let (catalog, _folder) = catalog();
    let mut exposition = Exposition::new();
    exposition.register_all(&catalog).unwrap();
    let text = String::from_utf8(exposition.encode(Format::negotiate(None))).unwrap();
    for line in [
        "# TYPE calls_total counter",
        "calls_total{route=\"/cart\"} 3",
        "calls_total{route=\"/pay\"} 4",
        "# TYPE largest gauge",
        "largest 900.0",
        "# TYPE open gauge",
        "open 6.0",
        "open_dead 0.0",
        "# TYPE latency histogram",
        "latency_count 1",
        "latency_sum 5000.0",
    ] {
        assert!(text.lines().any(|shown| shown == line), "{line}: {text}");
    }
    assert!(!text.contains("limit"), "{text}");
}

#[test]
fn a_console_shows_a_file() {
    let (catalog, _folder) = catalog();
    let mut console = Console::new("shop");
    console.show_all(&catalog).unwrap();
    let server = console.build().serve("127.0.0.1:0").unwrap();
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let host = server.address();
    write!(stream, "GET /text HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    for row in [("/cart", "3"), ("/pay", "4"), ("largest", "900"), ("open", "6"), ("latency", "1")]
    {
        let mut lines = text.lines().filter(|line| line.contains(row.0));
        assert!(lines.any(|line| line.split_whitespace().any(|word| word == row.1)), "{text}");
    }
}

#[test]
fn a_collector_gets_a_file() {
    let (catalog, _folder) = catalog();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let collector = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut reader, mut length, mut line) = (BufReader::new(&stream), 0, String::new());
        while reader.read_line(&mut line).unwrap() > 2 {
            if let Some(given) = line.to_lowercase().strip_prefix("content-length:") {
                length = given.trim().parse().unwrap();
            }
            line.clear();
        }
        let mut message = vec![0; length];
        reader.read_exact(&mut message).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
        message
    });
    let exporter = Exporter::to(endpoint).catalog(&catalog);
    let started = exporter.start(Duration::from_millis(20)).unwrap();
    let message = collector.join().unwrap();
    drop(started);
    // Names and values as protobuf has them: a tag, the length or eight bytes, the text.
    let has = |part: &[u8]| message.windows(part.len()).any(|found| found == part);
    for text in ["calls", "route", "/cart", "/pay", "largest", "open", "latency"] {
        let mut part = vec![text.len() as u8];
        part.extend(text.as_bytes());
        assert!(has(&part), "{text}: {message:?}");
    }
    for value in [3_u64, 4] {
        assert!(has(&value.to_le_bytes()), "{value}: {message:?}");
    }
    assert!(has(&900_f64.to_le_bytes()) && !has(b"limit"), "{message:?}");
}

/// A log has closed buckets: the source makes windows of the file's counters.
#[test]
fn a_log_has_what_was_added_since_the_first_reading() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let [path, lines] = ["f", "lines"].map(|name| folder.path().join(name));
    let file = File::open(&path).unwrap();
    let cart = file.counter("calls", &[("route", "/cart")]).unwrap();
    cart.add(1_000);
    let (second, reader) = (Duration::from_secs(1), Reader::open(&path).unwrap());
    let mut catalog = Catalog::new();
    FileSource::with_windows(reader, 2 * second, 20).unwrap().add_to(&mut catalog).unwrap();
    cart.add(3);
    file.counter("calls", &[("route", "/pay")]).unwrap().add(4);

    let calls = catalog.iter().next().unwrap();
    let mut log = Log::open(&lines, Options::default()).unwrap();
    let begun = Instant::now();
    let logged = loop {
        log.write("calls", &calls.source).unwrap();
        log.flush().unwrap();
        let mut sums = BTreeMap::new();
        for entry in windrow_log::read(&lines).unwrap().all() {
            if let Entry::Bucket(bucket) = entry.unwrap() {
                *sums.entry(bucket.resource.clone()).or_insert(0) += bucket.stats("Added").sum;
            }
        }
        if sums.len() == 2 {
            break sums;
        }
        assert!(begun.elapsed() < 60 * second, "{sums:?}");
        thread::sleep(second / 50);
    };
    let expected = [("calls{route=\"/cart\"}", 3), ("calls{route=\"/pay\"}", 4)];
    let expected: BTreeMap<_, _> = expected.map(|(name, sum)| (name.to_owned(), sum)).into();
    assert_eq!(logged, expected);
    assert!(FileSource::with_windows(Reader::open(&path).unwrap(), second, 0).is_err());
}
