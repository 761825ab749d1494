//! Clients that say nothing, or too little, keep no other client out; answers under way keep their
//! places.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::{Either, Full};
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::{Request, Response};
use windrow_http::server::{Limits, Reach, Server, Site, serve};

/// Longer than any of these tests takes: what ends within it does not end by this time.
const LONG: Duration = Duration::from_secs(3600);

const PLACES: usize = 8;

/// Answers `/` with a text, and any other path with an answer that does not end.
#[derive(Clone)]
struct Texts;

/// A body with one frame, and no end.
struct Endless(bool);

impl Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Endless>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Pending;
        }
        Poll::Ready(Some(Ok(Frame::data(Bytes::from("begun")))))
    }
}

impl Site for Texts {
    type Body = Either<Full<Bytes>, Endless>;
    type Answer = Ready<Response<Self::Body>>;

    fn respond(&self, request: &Request<Incoming>) -> Self::Answer {
        ready(Response::new(match request.uri().path() {
            "/" => Either::Left(Full::from("a text")),
            _ => Either::Right(Endless(false)),
        }))
    }
}

fn server(whole: Option<Duration>) -> Server {
    let limits =
        Limits { connections: PLACES, head: LONG, whole, buffer: 16 * 1024, send_buffer: None };
    serve(Texts, "127.0.0.1:0", Reach::Loopback, limits).unwrap()
}

/// Connects, and sends the beginning of a request.
fn begun(address: SocketAddr, sent: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap(); // so that a failure ends
    stream.write_all(sent.as_bytes()).unwrap();
    stream
}

/// Returns what comes of an answer until `end` is there, or the connection ends.
fn answer(stream: &mut TcpStream, end: &str) -> String {
    let (mut all, mut buffer) = (Vec::new(), [0; 1024]);
    while !String::from_utf8_lossy(&all).contains(end) {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(read) => all.extend_from_slice(&buffer[..read]),
        }
    }
    String::from_utf8_lossy(&all).into_owned()
}

fn is_answered(address: SocketAddr) -> bool {
    let mut stream = begun(address, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    answer(&mut stream, "a text").contains("a text")
}

#[test]
fn clients_that_send_nothing_or_a_part_of_a_head_keep_nobody_out() {
    for whole in [None, Some(LONG)] {
        for sent in ["", "GET / HT", "GET / HTTP/1.1\r\nHost: a\r\nX: "] {
            let server = server(whole);
            let silent: Vec<TcpStream> =
                (0..3 * PLACES).map(|_| begun(server.address(), sent)).collect();
            for _ in 0..2 * PLACES {
                assert!(is_answered(server.address()), "behind {sent:?}");
            }
            drop(silent);
        }
    }
}

#[test]
fn connections_that_wait_for_their_next_request_keep_nobody_out() {
    let server = server(None);
    let mut kept: Vec<TcpStream> = (0..PLACES)
        .map(|_| {
            let mut stream = begun(server.address(), "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
            assert!(answer(&mut stream, "a text").contains("a text"));
            stream
        })
        .collect();
    assert!(is_answered(server.address()));
    // The one that came first has made room.
    assert_eq!(kept[0].read(&mut [0; 1]).ok(), Some(0));
    kept[PLACES - 1].write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    assert!(answer(&mut kept[PLACES - 1], "a text").contains("a text"));
}

#[test]
fn a_request_is_answered_that_came_just_before_a_flood() {
    for whole in [None, Some(LONG)] {
        let server = server(whole);
        for _ in 0..20 {
            let mut asks = begun(server.address(), "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
            let flood: Vec<TcpStream> =
                (0..10 * PLACES).map(|_| begun(server.address(), "")).collect();
            assert!(answer(&mut asks, "a text").contains("a text"));
            drop(flood);
        }
    }
}

#[test]
fn an_answer_under_way_keeps_its_place() {
    let server = server(None);
    let mut streams: Vec<TcpStream> = (0..PLACES)
        .map(|_| {
            let mut stream = begun(server.address(), "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
            assert!(answer(&mut stream, "begun").contains("begun"));
            stream
        })
        .collect();
    assert!(!is_answered(server.address()), "there is no place, and none is taken away");
    for stream in &mut streams {
        stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        assert!(stream.read(&mut [0; 1]).is_err(), "it goes on");
    }
    drop(streams.pop());
    while !is_answered(server.address()) {} // as soon as the server has noticed
}

#[test]
fn the_time_of_a_connection_and_that_of_a_head_end() {
    let soon = Duration::from_millis(50);
    for (head, whole) in [(LONG, Some(soon)), (soon, None)] {
        let limits =
            Limits { connections: PLACES, head, whole, buffer: 16 * 1024, send_buffer: None };
        let server = serve(Texts, "127.0.0.1:0", Reach::Loopback, limits).unwrap();
        for sent in ["", "GET / HTTP/1.1\r\nHost:"] {
            let mut stream = begun(server.address(), sent);
            // Without an end, this read fails by its own time.
            assert!(stream.read_to_string(&mut String::new()).is_ok());
        }
    }
}

#[test]
fn a_server_that_is_stopped_ends_what_goes_on() {
    let server = server(None);
    let address = server.address();
    let mut stream = begun(address, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(answer(&mut stream, "begun").contains("begun"));
    server.stop();
    assert!(!is_still_open(&mut stream));
    assert!(TcpStream::connect(address).is_err(), "nothing listens there");
}

fn is_still_open(stream: &mut TcpStream) -> bool {
    matches!(stream.read(&mut [0; 64]), Ok(1..)) && is_still_open(stream)
}
