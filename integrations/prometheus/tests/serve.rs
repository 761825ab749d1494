//! The server of scrapes over real sockets: its answers, and what hostile clients can do to it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use windrow::export::{Form, Outline, Series, Source};
use windrow::{Counter, Family, labels};
use windrow_prometheus::{CONTENT_TYPE, Exposition, ServeError, Server, serve};

labels! { struct Key { key: u64 } }

/// The server's limits.
const CONNECTIONS: usize = 64;
const HEAD: usize = 16 * 1024;

fn hits() -> Exposition {
    let since = UNIX_EPOCH + Duration::from_millis(1_500);
    let mut metrics = Exposition::new().since(since);
    let hits = Arc::new(Counter::new());
    hits.add(7);
    metrics.register("hits", "Hits", hits).unwrap();
    metrics
}

/// Returns metrics whose text is longer than the buffers of a connection.
fn large() -> Exposition {
    let family = Arc::new(Family::<Key, Counter>::new().with_max_series(20_000));
    for key in 0..20_000 {
        family.with(Key { key }).increment();
    }
    let mut metrics = Exposition::new().with_label("pad", &"x".repeat(800));
    metrics.register("hits", "Hits", family).unwrap();
    metrics
}

fn served(metrics: Exposition) -> Server {
    serve("127.0.0.1:0", metrics).unwrap()
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    // A server that never closes a connection fails the test, and does not stop it.
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream
}

/// Returns everything that a server sends until it closes the connection.
fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut all = Vec::new();
    match stream.read_to_end(&mut all) {
        Err(error) if error.kind() != std::io::ErrorKind::ConnectionReset => panic!("{error}"),
        _ => all,
    }
}

/// Sends a request, and returns the head and the body of the answer.
fn ask(address: SocketAddr, request: &str, headers: &str) -> (String, Vec<u8>) {
    let mut stream = connect(address);
    write!(stream, "{request} HTTP/1.1\r\nHost: here\r\n{headers}\r\n").unwrap();
    let answer = rest(&mut stream);
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
    (String::from_utf8(answer[..end].to_vec()).unwrap(), answer[end + 4..].to_vec())
}

/// Returns the answer to a scrape; nothing if the connection is closed as it comes.
fn scrape(address: SocketAddr) -> Vec<u8> {
    let mut stream = connect(address);
    let _ = stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n");
    rest(&mut stream)
}

fn answers(server: &Server) {
    let (head, body) = ask(server.address(), "GET /metrics", "");
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    assert!(body.ends_with(b"hits_total 7\n"));
}

#[test]
fn a_scrape_is_in_the_format_that_its_headers_ask_for() {
    let server = served(hits());
    let text = "# HELP hits_total Hits\n# TYPE hits_total counter\nhits_total 7\n";
    let open = "# HELP hits Hits\n# TYPE hits counter\nhits_total 7\nhits_created 1.5\n# EOF\n";
    let plain = "text/plain; version=0.0.4; charset=utf-8";
    let both = "Accept: text/plain;q=0.5\r\nAccept: application/openmetrics-text\r\n";
    let table = [("", plain, text), ("Accept: */*\r\n", plain, text), (both, CONTENT_TYPE, open)];
    for (headers, kind, expected) in table {
        let (head, body) = ask(server.address(), "GET /metrics?x=y", headers);
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        for line in [
            format!("content-type: {kind}"),
            "vary: accept, accept-encoding".into(),
            "cache-control: no-store".into(),
            format!("content-length: {}", expected.len()),
        ] {
            assert!(head.lines().any(|found| found == line), "{line} in {head}");
        }
        assert_eq!(String::from_utf8(body).unwrap(), expected);
        let (of_head, nothing) = ask(server.address(), "HEAD /metrics", headers);
        assert!(nothing.is_empty());
        assert!(of_head.contains(&format!("content-length: {}", expected.len())), "{of_head}");
    }
}

#[test]
fn a_large_scrape_is_compressed_for_clients_that_accept_it() {
    let server = served(large());
    let (head, plain) = ask(server.address(), "GET /metrics", "");
    assert!(!head.contains("content-encoding"), "{head}");
    let (head, compressed) = ask(server.address(), "GET /metrics", "Accept-Encoding: gzip\r\n");
    assert!(head.contains("\r\ncontent-encoding: gzip"), "{head}");
    let mut again = Vec::new();
    flate2::read::GzDecoder::new(&compressed[..]).read_to_end(&mut again).unwrap();
    assert!(again == plain && plain.len() > 16_000_000 && compressed.len() < plain.len() / 4);
}

#[test]
fn other_paths_are_404_and_other_methods_405() {
    let server = served(hits());
    for path in ["/", "/metrics/", "/metric", "//metrics", "/Metrics", "/metrics%2F", "*"] {
        let (head, _) = ask(server.address(), &format!("GET {path}"), "");
        let refused = ["HTTP/1.1 404 ", "HTTP/1.1 400 "].iter().any(|of| head.starts_with(of));
        assert!(refused, "{path}: {head}");
    }
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "BREW"] {
        let (head, _) = ask(server.address(), &format!("{method} /metrics"), "");
        assert!(
            head.starts_with("HTTP/1.1 405 ") && head.contains("\r\nallow: GET, HEAD"),
            "{head}"
        );
    }
    answers(&server);
}

#[test]
fn a_long_head_is_refused_and_one_that_is_not_http_too() {
    let server = served(hits());
    let (head, _) =
        ask(server.address(), "GET /metrics", &format!("X: {}\r\n", "x".repeat(HEAD / 2)));
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    for request in
        [format!("GET /metrics HTTP/1.1\r\nX: {}", "x".repeat(2 * HEAD)), "\0\r\n\r\n".to_owned()]
    {
        let mut stream = connect(server.address());
        stream.write_all(request.as_bytes()).unwrap();
        let answer = String::from_utf8(rest(&mut stream)).unwrap();
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    answers(&server);
}

#[test]
fn clients_that_send_or_take_nothing_do_not_hinder_others() {
    let server = served(large());
    let mut half = connect(server.address());
    half.write_all(b"GET /metrics HT").unwrap();
    let mut takes_nothing = connect(server.address());
    takes_nothing.write_all(b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n").unwrap();
    takes_nothing.read_exact(&mut [0]).unwrap(); // the answer has begun
    let (head, body) = ask(server.address(), "GET /metrics", "");
    assert!(head.starts_with("HTTP/1.1 200 ") && body.len() > 16_000_000, "{head}");
    half.write_all(b"TP/1.1\r\nHost: here\r\n\r\n").unwrap();
    assert!(rest(&mut half).starts_with(b"HTTP/1.1 200 "));
}

#[test]
fn connections_are_bounded_and_silent_clients_keep_no_scrape_out() {
    let server = served(hits());
    let mut held: Vec<TcpStream> = (0..CONNECTIONS)
        .map(|_| {
            let mut stream = connect(server.address());
            stream.write_all(b"GET").unwrap();
            stream
        })
        .collect();
    // Connections are accepted in order: the first of these takes the place of the oldest.
    for _ in 0..3 {
        assert!(scrape(server.address()).ends_with(b"hits_total 7\n"));
    }
    assert!(rest(&mut held[0]).is_empty(), "it has made room");
    held[1].write_all(b" /metrics HTTP/1.1\r\nHost: here\r\n\r\n").unwrap();
    assert!(rest(&mut held[1]).ends_with(b"hits_total 7\n"), "the others have their places");
}

#[test]
fn a_stopped_server_finishes_answers_and_frees_its_address() {
    let server = served(large());
    let address = server.address();
    let mut scrape = connect(address);
    scrape.write_all(b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n").unwrap();
    scrape.read_exact(&mut [0]).unwrap();
    let mut half = connect(address);
    half.write_all(b"GET").unwrap();
    let stopping = thread::spawn(move || server.stop());
    let answer = rest(&mut scrape);
    assert!(answer.len() > 16_000_000 && answer.ends_with(b"xx\"} 0\n"));
    assert!(rest(&mut half).is_empty());
    stopping.join().unwrap();
    assert!(TcpStream::connect(address).is_err());
    drop(serve(&address.to_string(), hits()).unwrap());
    assert!(TcpStream::connect(address).is_err(), "a drop stops it too");
}

/// A source whose first visit panics. It has no series.
struct PanicsOnce(AtomicBool);

impl Source for PanicsOnce {
    fn outline(&self) -> Outline {
        Outline::from(Form::Counter)
    }

    fn visit(&self, _: &mut dyn FnMut(&dyn Series)) {
        assert!(self.0.swap(true, Ordering::Relaxed), "for the test");
    }
}

#[test]
fn a_source_that_panics_fails_its_scrape_and_no_other() {
    let mut metrics = hits();
    metrics.register("panics", "", PanicsOnce(false.into())).unwrap();
    let server = served(metrics);
    let (head, _) = ask(server.address(), "GET /metrics", "");
    assert!(head.starts_with("HTTP/1.1 500 "), "{head}");
    answers(&server);
}

/// The recorder of the facade `metrics` has such a text.
#[test]
fn a_text_of_the_programs_own_is_served_as_it_is() {
    let scrapes = AtomicUsize::new(0);
    let text = move || format!("scrapes {}\n", scrapes.fetch_add(1, Ordering::Relaxed));
    let server = serve("127.0.0.1:0", text).unwrap();
    for number in 0..2 {
        let accept = "Accept: application/openmetrics-text\r\n";
        let (head, body) = ask(server.address(), "GET /metrics", accept);
        assert!(head.contains("\r\ncontent-type: text/plain; version=0.0.4"), "{head}");
        assert_eq!(body, format!("scrapes {number}\n").as_bytes());
    }
}

#[test]
fn a_recorder_is_served_by_its_handle() {
    let recorder = windrow_metrics::Recorder::builder().build().unwrap();
    metrics::with_local_recorder(&recorder, || metrics::counter!("hits").increment(7));
    let server = serve("127.0.0.1:0", recorder.handle()).unwrap();
    let (head, body) = ask(server.address(), "GET /metrics", "");
    assert!(head.contains("\r\ncontent-type: text/plain; version=0.0.4"), "{head}");
    assert_eq!(body, b"# TYPE hits counter\nhits 7\n\n");
}

#[test]
fn an_address_that_is_invalid_or_taken_is_an_error() {
    for address in ["", "here", "127.0.0.1", "127.0.0.1:99999", "localhost:http:80"] {
        let error = serve(address, hits()).unwrap_err();
        assert!(matches!(&error, ServeError::Address { address: named, .. } if named == address));
        assert!(error.to_string().contains(address) && std::error::Error::source(&error).is_some());
    }
    let server = served(hits());
    let error = serve(&server.address().to_string(), hits()).unwrap_err();
    assert!(matches!(error, ServeError::Listen { address, .. } if address == server.address()));
}
