//! Streams of the page leave places for all others.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use tokio::time::{sleep, timeout};

use crate::get;
use crate::process::{LONG, Process};

/// Asks for a stream, and returns it with its status.
fn stream(service: &Process) -> (TcpStream, String) {
    let mut stream = TcpStream::connect(service.address()).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream.write_all(b"GET /console/events HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).expect("it is answered");
    (stream, String::from_utf8_lossy(&first[9..]).into_owned())
}

#[tokio::test]
async fn probes_and_scrapes_are_answered_while_streams_take_their_places() {
    // Connections that are refused a stream end at once, and not after the header's timeout.
    let limits = ["--max-connections", "4", "--header-timeout-seconds", "600"];
    let service = Process::start(&limits);
    let streams: Vec<_> = (0..4).map(|_| stream(&service)).collect();
    for path in ["/healthz", "/readyz", "/metrics", "/carts/1"] {
        let answer = timeout(LONG, get(&service, path)).await;
        assert_eq!(answer.expect("it has a place").0, StatusCode::OK, "{path}");
    }
    let statuses: Vec<_> = streams.iter().map(|(_, status)| status.as_str()).collect();
    assert_eq!(statuses, ["200", "200", "503", "503"]);
    drop(streams);
    let begun = Instant::now();
    while stream(&service).1 != "200" {
        assert!(begun.elapsed() < LONG, "the places of streams that have ended are not free");
        sleep(Duration::from_millis(5)).await;
    }
    service.signal("TERM");
    assert_eq!(service.end().code, Some(0));
}
