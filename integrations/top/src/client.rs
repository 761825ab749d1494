//! The connection to a console.

use std::cell::Cell;
use std::io::{self, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::address::Address;
use crate::error::Error;
use crate::events;
use crate::frame::Frame;
use crate::http::{self, Body};

/// The time in which the head of the answer must come, and then each frame.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// The time in which a connection must be made, to each address of the host.
const CONNECTING: Duration = Duration::from_secs(5);

/// The greatest number of addresses of a host that are tried.
const MOST_ADDRESSES: usize = 8;

/// The frames of a console.
pub(crate) struct Frames {
    reader: BufReader<Body<BufReader<Patient>>>,
    until: Rc<Cell<Instant>>,
    /// The process of the last frame, and its number.
    last: Option<(String, u64)>,
}

impl Frames {
    /// Connects, and asks for the stream.
    pub(crate) fn open(address: &Address) -> Result<Frames, Error> {
        let stream = connect(address)?;
        let (authority, path) = (address.authority(), &address.path);
        let until = Rc::new(Cell::new(Instant::now() + PATIENCE));
        let mut patient = Patient { stream, until: Rc::clone(&until) };
        let asked = format!(
            "GET {path}/events HTTP/1.1\r\nHost: {authority}\r\nAccept: text/event-stream\r\n\
             User-Agent: windrow-top\r\nConnection: close\r\n\r\n"
        );
        let sent = patient.stream.set_write_timeout(Some(PATIENCE));
        sent.and_then(|()| patient.stream.write_all(asked.as_bytes()))
            .map_err(|error| Error::Lost { error })?;
        let body = http::answer(BufReader::new(patient))?;
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

fn connect(address: &Address) -> Result<TcpStream, Error> {
    let failed = |error| Error::Connect { address: address.authority(), error };
    let found = (address.host.as_str(), address.port).to_socket_addrs().map_err(failed)?;
    let mut last = io::Error::other("the host has no address");
    for found in found.take(MOST_ADDRESSES) {
        match TcpStream::connect_timeout(&found, CONNECTING) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(failed(last))
}

/// A connection that is read until a time: a server that sends a byte now and then is silent, too.
struct Patient {
    stream: TcpStream,
    until: Rc<Cell<Instant>>,
}

impl Read for Patient {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.until.get().saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        self.stream.read(buffer).map_err(|error| match error.kind() {
            // Systems differ in the kind of this.
            io::ErrorKind::WouldBlock => io::ErrorKind::TimedOut.into(),
            _ => error,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_server_that_says_nothing_or_too_little_is_silent() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        for (sent, patience) in [(&b""[..], Duration::from_millis(10)), (b"a", Duration::ZERO)] {
            let stream = TcpStream::connect(address).unwrap();
            let (mut server, _) = listener.accept().unwrap();
            server.write_all(sent).unwrap();
            let until = Rc::new(Cell::new(Instant::now() + patience));
            let error = events::next(&mut BufReader::new(Patient { stream, until })).unwrap_err();
            assert!(matches!(error, Error::Silent { seconds: 20 }), "{error:?}");
        }
    }
}
