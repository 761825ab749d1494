//! A client: HTTP/1.1 over one connection that is kept alive.

use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::sleep;

use crate::service::PATH;

/// How long a refused client waits before it asks again.
const BACK_OFF: Duration = Duration::from_millis(3);

/// Sends one request after another until told to stop, and finishes the last one.
/// Returns how many answers it received.
pub(crate) async fn run(service: SocketAddr, stop: &AtomicBool) -> Result<u64> {
    let mut connection = BufReader::new(TcpStream::connect(service).await?);
    connection.get_ref().set_nodelay(true)?;
    let request = format!("GET {PATH} HTTP/1.1\r\nHost: {service}\r\nUser-Agent: windrow\r\n\r\n");
    let mut answers = 0;
    while !stop.load(Relaxed) {
        connection.write_all(request.as_bytes()).await?;
        let status = response(&mut connection).await?;
        answers += 1;
        match status {
            200 | 500 => {}
            429 => sleep(BACK_OFF).await,
            other => return Err(malformed(&format!("the status {other}"))),
        }
    }
    Ok(answers)
}

/// Reads one response to its end and returns its status.
async fn response(connection: &mut BufReader<TcpStream>) -> Result<u16> {
    let first = line(connection).await?;
    let status = first
        .strip_prefix("HTTP/1.1 ")
        .and_then(|rest| rest.get(..3))
        .and_then(|status| status.parse().ok())
        .ok_or_else(|| malformed(&first))?;
    let mut length = 0;
    loop {
        let header = line(connection).await?;
        let Some((name, value)) = header.split_once(':') else {
            if header.is_empty() {
                break;
            }
            return Err(malformed(&header));
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().map_err(|_| malformed(&header))?;
        }
    }
    let mut body = vec![0; length];
    connection.read_exact(&mut body).await?;
    Ok(status)
}

/// One line of the head of a response, without its end.
async fn line(connection: &mut BufReader<TcpStream>) -> Result<String> {
    let mut line = String::new();
    connection.read_line(&mut line).await?;
    match line.strip_suffix("\r\n") {
        Some(text) => Ok(text.to_owned()),
        None => Err(ErrorKind::UnexpectedEof.into()),
    }
}

fn malformed(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, format!("not an answer of this service: {what:?}"))
}
