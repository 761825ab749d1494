//! The parts of HTTP that a scraper, a gateway and a collector need.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

/// The time after which an exporter is believed to do nothing.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A request, or an answer.
pub(crate) struct Message {
    /// The first line.
    pub(crate) line: String,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Message {
    /// Returns the value of a header, whose name is given in small letters.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let header = self.headers.iter().find(|(header, _)| header == name);
        header.map(|(_, value)| value.as_str())
    }

    fn read(stream: &TcpStream) -> io::Result<Message> {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let mut headers = Vec::new();
        loop {
            let mut header = String::new();
            reader.read_line(&mut header)?;
            let Some((name, value)) = header.trim_end().split_once(':') else { break };
            headers.push((name.to_lowercase(), value.trim().to_owned()));
        }
        let mut message = Message { line, headers, body: Vec::new() };
        match message.header("content-length").map(str::parse) {
            Some(Ok(length)) => {
                message.body.resize(length, 0);
                reader.read_exact(&mut message.body)?;
            }
            _ if message.header("transfer-encoding") == Some("chunked") => loop {
                let mut length = String::new();
                reader.read_line(&mut length)?;
                let length = usize::from_str_radix(length.trim(), 16).map_err(io::Error::other)?;
                let mut chunk = vec![0; length + 2];
                reader.read_exact(&mut chunk)?;
                if length == 0 {
                    break;
                }
                message.body.extend_from_slice(&chunk[..length]);
            },
            _ => {}
        }
        Ok(message)
    }
}

/// Scrapes `/metrics`, with these values of `Accept` and `Accept-Encoding`. Tries until something
/// listens there.
pub(crate) fn get(from: SocketAddr, accept: &str, encoding: &str) -> io::Result<Message> {
    let begun = std::time::Instant::now();
    let mut stream = loop {
        match TcpStream::connect(from) {
            Ok(stream) => break stream,
            Err(error) if begun.elapsed() > PATIENCE => return Err(error),
            Err(_) => thread::sleep(Duration::from_millis(10)),
        }
    };
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(stream, "GET /metrics HTTP/1.1\r\nhost: {from}\r\naccept: {accept}\r\n")?;
    write!(stream, "accept-encoding: {encoding}\r\nconnection: close\r\n\r\n")?;
    Message::read(&stream)
}

/// Takes requests, and answers the first with these statuses, and all others with 200.
pub(crate) fn listen(statuses: &'static [u16]) -> (SocketAddr, Receiver<Message>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let (sender, receiver) = mpsc::channel();
    let mut statuses = statuses.iter();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let Ok(message) = Message::read(&stream) else { continue };
            let status = statuses.next().unwrap_or(&200);
            let head = format!("HTTP/1.1 {status} status\r\ncontent-length: 0\r\n");
            // A client that has gone, and a probe that is over, are none of the listener's.
            let _ = write!(stream, "{head}connection: close\r\n\r\n");
            let _ = sender.send(message);
        }
    });
    (address, receiver)
}
