//! The connection to a console.

use std::cell::Cell;
use std::io::{self, BufReader, Read};
use std::rc::Rc;
use std::time::Instant;

use http_body_util::BodyExt;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, USER_AGENT};
use hyper::{Method, Response, StatusCode};
use tokio::time::{timeout, timeout_at};
use windrow_http::client::{self, Cause, Client, Lost, Runtime};

use crate::address::Address;
use crate::error::Error;
use crate::events::{self, PATIENCE};
use crate::frame::Frame;
use crate::legible::Legible;

/// The greatest number of bytes, and of characters, that are read of a refusal.
const LONGEST_REFUSAL: usize = 1_000;
const LONGEST_SAID: usize = 200;

/// The frames of a console.
pub(crate) struct Frames {
    reader: BufReader<Body>,
    until: Rc<Cell<Instant>>,
    /// The process of the last frame, and its number.
    last: Option<(String, u64)>,
}

impl Frames {
    /// Connects, and asks for the stream.
    pub(crate) fn open(address: &Address) -> Result<Frames, Error> {
        let runtime = Runtime::new().map_err(|error| Error::Lost { error })?;
        let answer = runtime.block_on(async {
            let answer = timeout(PATIENCE, ask(address)).await;
            let answer = answer.unwrap_or(Err(Error::Silent { seconds: PATIENCE.as_secs() }))?;
            stream(answer).await
        })?;
        let until = Rc::new(Cell::new(Instant::now() + PATIENCE));
        let body = Body { runtime, answer, read: Bytes::new(), until: Rc::clone(&until) };
        Ok(Frames { reader: BufReader::new(body), until, last: None })
    }

    /// Waits for the next frame. The first one contains everything, and each other one follows the
    /// frame before, or contains everything again.
    pub(crate) fn next(&mut self) -> Result<Frame, Error> {
        self.until.set(Instant::now() + PATIENCE);
        let frame = Frame::read(&events::next(&mut self.reader)?)?;
        let follows = self.last.as_ref().is_some_and(|(epoch, number)| {
            *epoch == frame.epoch && number.checked_add(1) == Some(frame.number)
        });
        if frame.whole.is_none() && !follows {
            return Err(Error::NotAConsole { why: "a frame is missing" });
        }
        self.last = Some((frame.epoch.clone(), frame.number));
        Ok(frame)
    }
}

/// Asks for the stream.
async fn ask(address: &Address) -> Result<Response<Incoming>, Error> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    headers.insert(USER_AGENT, HeaderValue::from_static("windrow-top"));
    let answer = Client::http1().send(Method::GET, &address.events, headers, "").await;
    answer.map_err(|error| match error.cause {
        Cause::Connect => {
            Error::Connect { address: address.shown.clone(), error: io::Error::other(error) }
        }
        _ => lost(error),
    })
}

/// Returns the error of a connection that was made.
fn lost(error: Lost) -> Error {
    match error.cause {
        Cause::NotHttp => {
            Error::NotAConsole { why: "it does not speak HTTP/1, or its head is too long" }
        }
        Cause::Closed => Error::Closed,
        _ => Error::Lost { error: io::Error::other(error) },
    }
}

/// Returns the body of an answer, if that is a stream of events.
async fn stream(answer: Response<Incoming>) -> Result<Incoming, Error> {
    let (head, body) = answer.into_parts();
    if head.status != StatusCode::OK {
        // The status says enough if the text does not come.
        let says = timeout(PATIENCE, client::beginning(body, LONGEST_REFUSAL)).await;
        let says = says.unwrap_or_default();
        let says = String::from_utf8_lossy(&says);
        let first = says.trim().lines().next().unwrap_or_default();
        let says = Legible::of(first, LONGEST_SAID).into();
        return Err(Error::Refused { status: head.status.as_u16(), says });
    }
    let kind = head.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if !kind.is_some_and(|kind| kind.starts_with("text/event-stream")) {
        return Err(Error::NotAConsole { why: "the answer is no stream of events" });
    }
    Ok(body)
}

/// A body that is read until a time: a server that sends a byte now and then is silent, too.
struct Body {
    runtime: Runtime,
    answer: Incoming,
    /// The part that has come and was not read.
    read: Bytes,
    until: Rc<Cell<Instant>>,
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.read.is_empty() {
            // One part waits at most, so the time is looked at after each part, however fast they
            // come: the next one comes only while this waits.
            let until = self.until.get().into();
            let next = async { timeout_at(until, self.answer.frame()).await };
            let next = self.runtime.block_on(next);
            match next.map_err(|_| io::ErrorKind::TimedOut)? {
                None => return Ok(0),
                Some(frame) => {
                    // This crate's error, which `events` takes out again.
                    let frame = frame.map_err(|error| io::Error::other(lost(Lost::of(&error))))?;
                    self.read = frame.into_data().unwrap_or_default();
                }
            }
        }
        let length = self.read.len().min(buffer.len());
        buffer[..length].copy_from_slice(&self.read.split_to(length));
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;
    use std::thread;
    use std::time::Duration;

    use super::*;

    const EVENTS: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";

    /// Opens the frames of a server that sends a text, and then ends or waits.
    fn open(text: &'static str, ends: bool) -> Result<Frames, Error> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Address::parse(&listener.local_addr().unwrap().to_string()).unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(text.as_bytes()); // a client may have left
            if !ends {
                thread::park();
            }
        });
        Frames::open(&address)
    }

    #[test]
    fn a_server_that_says_nothing_or_too_little_is_silent() {
        let soon = Duration::from_millis(10);
        for text in ["", "event: all"] {
            let sent: &'static str = Box::leak(format!("{EVENTS}{text}").into_boxed_str());
            let mut frames = open(sent, false).unwrap();
            frames.until.set(Instant::now() + soon);
            let error = events::next(&mut frames.reader).unwrap_err();
            assert!(matches!(error, Error::Silent { seconds: 20 }), "{error:?}");
        }
    }

    #[test]
    fn a_server_that_sends_comments_without_end_is_silent() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Address::parse(&listener.local_addr().unwrap().to_string()).unwrap();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1024]);
            stream.write_all(EVENTS.as_bytes()).unwrap();
            while stream.write_all(&b": a comment\n\n".repeat(4096)).is_ok() {}
        });
        let mut frames = Frames::open(&address).unwrap();
        frames.until.set(Instant::now() + Duration::from_millis(50));
        let error = events::next(&mut frames.reader).unwrap_err();
        assert!(matches!(error, Error::Silent { .. }), "{error:?}");
        drop(frames);
        server.join().unwrap();
    }

    #[test]
    fn a_refusal_says_why_and_obeys_nothing() {
        let error = open("HTTP/1.1 503 Busy\r\n\r\nToo \x1b[2Jmany.\nMore.", true).err().unwrap();
        let says = "the server refuses with status 503: Too \\u{1b}[2Jmany.";
        assert_eq!((error.to_string().as_str(), error.status()), (says, 3));
    }

    #[test]
    fn an_answer_that_is_no_stream_of_a_console_is_refused() {
        for text in ["SSH-2.0-x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"] {
            let error = open(text, true).err().unwrap();
            assert!(matches!(error, Error::NotAConsole { .. }), "{text}: {error:?}");
        }
        let error = open("HTTP/1.1 200 OK\r\nContent-", true).err().unwrap();
        assert!(matches!(error, Error::Closed), "{error:?}");
        let mut cut =
            open("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nevent:", true);
        let error = cut.as_mut().unwrap().next().unwrap_err();
        assert!(matches!(error, Error::Closed), "{error:?}");
    }
}
