//! Answers over HTTP: the status decides, whatever happens to the text.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use windrow::Counter;
use windrow_otlp::{ExportError, Exporter, Temporality};

use crate::successes::NEVER;

/// The treatment of a connection after the answer.
#[derive(Clone, Copy, Debug)]
enum Then {
    Close,
    Stall,
}

/// Starts a server that gives each request the same answer, and returns its endpoint. It ends with
/// the process.
fn answering(head: &str, text: &str, then: Then) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let answer = format!("HTTP/1.1 {head}\r\n\r\n{text}");
    thread::spawn(move || {
        let mut stalled = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            read(&stream).unwrap();
            let _ = stream.write_all(answer.as_bytes()); // the client may have read enough
            match then {
                Then::Close => {}
                Then::Stall => stalled.push(stream),
            }
        }
    });
    endpoint
}

/// Reads a request.
fn read(stream: &TcpStream) -> io::Result<()> {
    let (mut reader, mut length, mut line) = (BufReader::new(stream), 0, String::new());
    while reader.read_line(&mut line)? > 2 {
        if let Some(given) = line.to_lowercase().strip_prefix("content-length:") {
            length = given.trim().parse().unwrap();
        }
        line.clear();
    }
    io::copy(&mut reader.take(length), &mut io::sink()).map(drop)
}

fn exporter(endpoint: &str) -> Exporter {
    let exporter = Exporter::to(endpoint).temporality(Temporality::Delta);
    let hits = Arc::new(Counter::new());
    hits.add(1);
    exporter.metric("hits", "", hits)
}

#[test]
fn the_status_decides_though_the_text_is_long_or_cut_off_or_does_not_come() {
    let long = "<p>\n".repeat(50_000);
    let [refused, unavailable] = [400, 503].map(|status| {
        let (message, retry_after) = (String::new(), Some(Duration::from_secs(7)));
        Err(match status {
            400 => ExportError::Refused { status, message },
            _ => ExportError::Unavailable { status, message, retry_after },
        })
    });
    let texts = [
        (200_000, long.as_str(), Then::Close),
        (9, "cut off", Then::Close),
        (9, "stalled", Then::Stall),
    ];
    let statuses = [
        ("200 OK", Ok(())),
        ("400 Bad Request", refused),
        ("503 Service Unavailable\r\nretry-after: 7", unavailable),
    ];
    for (status, expected) in &statuses {
        for (length, text, then) in texts {
            let head = format!("{status}\r\ncontent-length: {length}");
            let started = exporter(&answering(&head, text, then)).start(NEVER).unwrap();
            assert_eq!(&started.flush(), expected, "{head}, then {then:?}");
        }
    }
}

#[test]
fn a_text_that_does_not_come_is_no_timeout() {
    let endpoint = answering("200 OK\r\ncontent-length: 9", "stalled", Then::Stall);
    let exporter = exporter(&endpoint).timeout(Duration::from_millis(500));
    let started = exporter.start(NEVER).unwrap();
    // On a machine that is busy, the status may come too late once.
    assert!((0..20).any(|_| started.flush().is_ok()));
}

#[test]
fn each_status_of_success_is_one() {
    for head in ["200 OK\r\ncontent-length: 7", "202 Accepted\r\ncontent-length: 7"] {
        let started = exporter(&answering(head, "queued\n", Then::Close)).start(NEVER).unwrap();
        assert_eq!(started.flush(), Ok(()), "{head}");
    }
    let none = answering("204 No Content", "", Then::Close);
    assert_eq!(exporter(&none).start(NEVER).unwrap().flush(), Ok(()));
}
