//! The clients that the console's own server must bear: clients that are slow, gone, idle, too
//! many, or not meant.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use http::StatusCode;
use windrow_console::{Console, ServeError};

use super::{
    Http, Route, Routes, console_of, get, request, routes, routes_up_to, send, served, text,
};

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(60);

/// Sends a request by hand, and leaves the answer to be read.
fn ask(address: SocketAddr, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    stream
}

/// Reads until the other side ends it, by a close or a reset: what came.
fn until_it_ends(stream: &mut TcpStream) -> Vec<u8> {
    let (mut all, mut some) = (Vec::new(), vec![0; 1 << 16]);
    let begun = Instant::now();
    while begun.elapsed() < LONG {
        match stream.read(&mut some) {
            Ok(0) => return all,
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return all,
            Ok(read) => all.extend_from_slice(&some[..read]),
            Err(error) => panic!("after {} bytes: {error}", all.len()),
        }
    }
    panic!("it goes on after {} bytes", all.len());
}

/// Routes whose names take some megabytes to tell.
fn long_winded() -> &'static Routes {
    let routes = routes_up_to(4_000);
    for index in 0..4_000 {
        let route = format!("{index}{}", "/long".repeat(200));
        routes.with(Route { route: &route, status: 200 }).add(Http::Pass, 1);
    }
    routes
}

#[test]
fn a_port_that_is_taken_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let error = Console::new("shop").build().serve(&address.to_string()).unwrap_err();
    assert!(error.to_string().starts_with(&format!("cannot listen on {address}: ")), "{error}");
    let ServeError::Listen { address: named, error } = error else { panic!("{error:?}") };
    assert_eq!((named, error.kind()), (address, ErrorKind::AddrInUse));
}

#[test]
fn addresses_that_others_can_reach_are_refused_unless_asked_for() {
    let console = Console::new("shop").build();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.7:9090"] {
        let error = console.serve(address).unwrap_err();
        assert!(matches!(error, ServeError::BeyondLoopback { .. }), "{error:?}");
    }
    for address in ["nonsense", "127.0.0.1", "127.0.0.1:99999", ""] {
        let error = console.serve(address).unwrap_err();
        assert!(matches!(error, ServeError::Address { .. }), "{error:?}");
    }
    assert!(console.serve_beyond_loopback("0.0.0.0:0").is_ok());
}

#[tokio::test]
async fn only_who_asks_for_this_machine_is_answered() {
    let console = console_of(routes());
    let (server, open) = (served(&console), console.serve_beyond_loopback("127.0.0.1:0").unwrap());
    for (host, status) in [
        ("localhost", StatusCode::OK),
        ("127.0.0.1:8080", StatusCode::OK),
        ("[::1]", StatusCode::OK),
        ("evil.example", StatusCode::MISDIRECTED_REQUEST),
        ("localhost.evil.example:80", StatusCode::MISDIRECTED_REQUEST),
    ] {
        for path in ["/", "/snapshot.json", "/events"] {
            let mut asked = request(http::Method::GET, path);
            asked.headers_mut().insert("host", host.parse().unwrap());
            assert_eq!(send(server.address(), asked.clone()).await.status(), status, "{host}");
            assert_eq!(send(open.address(), asked).await.status(), StatusCode::OK, "{host}");
        }
    }
}

#[tokio::test]
async fn a_page_from_elsewhere_gets_no_stream() {
    let server = served(&console_of(routes()));
    for (site, status) in [
        ("cross-site", StatusCode::FORBIDDEN),
        ("same-origin", StatusCode::OK),
        ("none", StatusCode::OK),
    ] {
        let mut asked = request(http::Method::GET, "/events");
        asked.headers_mut().insert("sec-fetch-site", site.parse().unwrap());
        assert_eq!(send(server.address(), asked).await.status(), status, "{site}");
    }
}

#[test]
fn silent_clients_keep_no_other_client_out() {
    let server = served(&console_of(routes()));
    let mut stream = ask(server.address(), "/events");
    assert!(until_some(&mut stream).starts_with(b"HTTP/1.1 200 OK"));
    let silent: Vec<_> = (0..256).map(|_| TcpStream::connect(server.address()).unwrap()).collect();
    // Connections are accepted in order: all are before these.
    for _ in 0..3 {
        assert!(until_some(&mut ask(server.address(), "/metrics")).starts_with(b"HTTP/1.1 200 OK"));
    }
    assert!(!until_some(&mut stream).is_empty(), "a stream is under way, and goes on");
    drop(silent);
}

#[test]
fn clients_that_go_away_in_the_middle_leave_room() {
    let server = served(&console_of(routes()));
    // Many times the greatest number at a time.
    for _ in 0..5 {
        let streams: Vec<_> = (0..64).map(|_| a_stream(server.address())).collect();
        drop(streams);
    }
}

/// Returns a stream: at once, or when those that have left are noticed.
fn a_stream(address: SocketAddr) -> TcpStream {
    let begun = Instant::now();
    loop {
        let mut stream = ask(address, "/events");
        if until_some(&mut stream).starts_with(b"HTTP/1.1 200 OK") {
            return stream;
        }
        assert!(begun.elapsed() < LONG, "streams of clients that are gone stay");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
#[ignore = "`cargo xtask ci`: it only waits, for half a minute"]
fn a_client_that_reads_a_byte_a_second_is_dropped() {
    let server = served(&console_of(long_winded()));
    let mut stream = ask(server.address(), "/events");
    for _ in 0..25 {
        stream.read_exact(&mut [0]).unwrap();
        thread::sleep(Duration::from_secs(1));
    }
    // If it were still served, frames would come forever.
    until_it_ends(&mut stream);
}

#[test]
#[ignore = "`cargo xtask ci`: it only waits, for half a minute"]
fn a_connection_without_a_request_is_closed() {
    let server = served(&console_of(routes()));
    let mut silent = TcpStream::connect(server.address()).unwrap();
    let mut half = TcpStream::connect(server.address()).unwrap();
    half.write_all(b"GET /text HTTP/1.1\r\nHost: local").unwrap();
    let mut served_once = ask(server.address(), "/text");
    for stream in [&mut silent, &mut half, &mut served_once] {
        stream.set_read_timeout(Some(LONG)).unwrap();
        until_it_ends(stream);
    }
}

#[cfg(unix)] // elsewhere there is no limit to raise
#[test]
fn a_thousand_connections_are_too_many_and_do_no_harm() {
    let limit = libc::rlimit { rlim_cur: 4_096, rlim_max: 4_096 };
    // SAFETY: the struct is there.
    unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) };
    let server = served(&console_of(routes()));
    let mut all: Vec<_> =
        (0..1_000).map(|_| TcpStream::connect(server.address()).unwrap()).collect();
    // Those beyond the bound are closed, as soon as the server comes to them.
    let waits = |error: &std::io::Error| {
        matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
    };
    let begun = Instant::now();
    while all.len() > 256 {
        assert!(begun.elapsed() < LONG, "{} are open", all.len());
        all.retain_mut(|stream| {
            stream.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
            stream.read(&mut [0]).is_err_and(|error| waits(&error))
        });
    }
    drop(all);
    let begun = Instant::now();
    loop {
        let mut stream = ask(server.address(), "/text");
        if until_some(&mut stream).starts_with(b"HTTP/1.1 200 OK") {
            break;
        }
        assert!(begun.elapsed() < LONG, "it does not answer any more");
        thread::sleep(Duration::from_millis(50));
    }
}

/// Returns what comes first; nothing, if it was closed.
fn until_some(stream: &mut TcpStream) -> Vec<u8> {
    let mut some = vec![0; 4_096];
    let read = stream.read(&mut some).unwrap_or(0);
    some.truncate(read);
    some
}

#[test]
fn an_answer_under_way_is_finished_when_the_server_stops_and_streams_end() {
    let routes = long_winded();
    let server = served(&console_of(routes));
    let address = server.address();
    let mut scrape = ask(address, "/metrics");
    let mut stream = ask(address, "/events");
    let mut first = vec![0; 1_000];
    scrape.read_exact(&mut first).unwrap();
    stream.read_exact(&mut [0; 1_000]).unwrap();
    let stopping = thread::spawn(move || server.stop());
    let reading = thread::spawn(move || until_it_ends(&mut stream));
    let rest = until_it_ends(&mut scrape);
    first.extend(rest);
    let answer = String::from_utf8(first).unwrap();
    let (head, scraped) = answer.split_once("\r\n\r\n").unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    assert_eq!(scraped.len(), length.parse::<usize>().unwrap());
    assert!(scraped.len() > 2_000_000 && scraped.ends_with('\n'));
    let streamed = reading.join().unwrap();
    assert!(streamed.ends_with(b"\r\n0\r\n\r\n"), "a stream ends as a whole");
    stopping.join().unwrap();
    assert!(TcpStream::connect(address).is_err(), "the address is free again");
}

#[tokio::test]
async fn a_server_that_is_dropped_frees_its_address_and_another_may_follow() {
    let console = console_of(routes());
    let server = served(&console);
    let address = server.address();
    drop(server);
    let again = console.serve(&address.to_string()).unwrap();
    let shown = text(get(again.address(), "/text").await).await;
    assert!(shown.starts_with("shop, "), "{shown}");
}
