//! Asking a member.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::Pin;
use std::time::Duration;

use http::header::HOST;
use http::{Request, Response, StatusCode};
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::members::Miss;
use super::reading::Reading;
use crate::body::Body;
use crate::text::cut;

/// The time that a member has for its whole answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// The greatest length of an answer.
const LONGEST: usize = 4 << 20;

/// Asks the console at an address, mounted at a path, for its numbers.
///
/// The `Host` is the address: a console answers to that, whatever names it has.
pub(super) async fn reading(address: SocketAddr, path: &str) -> Result<Reading, Miss> {
    let answer = timeout(PATIENCE, get(address, path)).await.unwrap_or_else(|_| {
        Err(Miss::Silent(format!("no whole answer within {} s", PATIENCE.as_secs())))
    })?;
    Reading::parse(&answer).map_err(|flaw| Miss::Refused(flaw.to_string()))
}

async fn get(address: SocketAddr, path: &str) -> Result<Vec<u8>, Miss> {
    let silent = |error: &dyn std::error::Error| Miss::Silent(in_full(error));
    let stream = TcpStream::connect(address).await.map_err(|error| silent(&error))?;
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| silent(&error))?;
    let _connection = Ends(tokio::spawn(connection).abort_handle());
    let request = Request::get(format!("{path}member.json")).header(HOST, address.to_string());
    let request = request.body(Body::whole("")).map_err(|error| silent(&error))?;
    let response = sender.send_request(request).await.map_err(|error| silent(&error))?;
    let status = response.status();
    if status != StatusCode::OK {
        let text = body(response, 1_000).await.unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let line = text.lines().next().unwrap_or_default();
        return Err(Miss::Refused(cut(format!("{status}. {line}").trim())));
    }
    body(response, LONGEST).await
}

/// Reads a body up to a length.
async fn body(response: Response<Incoming>, longest: usize) -> Result<Vec<u8>, Miss> {
    let (mut body, mut all) = (response.into_body(), Vec::new());
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        let frame = frame.map_err(|error| Miss::Silent(in_full(&error)))?;
        let Some(bytes) = frame.data_ref() else { continue };
        if all.len() + bytes.len() > longest {
            let why = format!("its answer is longer than {} MiB", LONGEST >> 20);
            return Err(Miss::Refused(why));
        }
        all.extend_from_slice(bytes);
    }
    Ok(all)
}

/// Returns an error with those that caused it.
fn in_full(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    cut(&text)
}

/// Ends a connection when the answer is there, or is no longer waited for.
struct Ends(AbortHandle);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.abort();
    }
}
