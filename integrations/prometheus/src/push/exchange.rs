//! A request to the gateway, and its answer.

use std::error::Error;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::error::PushError;

/// The most that is read of the text of a refusal, in bytes.
const LONGEST_TEXT: usize = 4096;

/// A request, and where it goes.
pub(super) struct Exchange {
    host: String,
    port: u16,
    request: Request<Full<Bytes>>,
}

impl Exchange {
    pub(super) fn new(
        url: &str,
        path: &str,
        method: Method,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Exchange, PushError> {
        let wrong = |rule| PushError::Url { url: url.to_owned(), rule };
        let uri: Uri = url.parse().map_err(|_| wrong("it is not a URL"))?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => return Err(wrong("there is no TLS here, only http")),
            _ => return Err(wrong("it begins with `http://`")),
        }
        let authority = uri.authority().ok_or_else(|| wrong("it has no host"))?;
        if authority.as_str().contains('@') {
            return Err(wrong("it has no user: give a header instead"));
        }
        if uri.query().is_some() {
            return Err(wrong("it has no query"));
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(wrong("it has no host"));
        }
        let full = format!("{}{path}", uri.path().trim_end_matches('/'));
        let mut request = Request::new(Full::new(Bytes::from(body)));
        *request.method_mut() = method;
        *request.uri_mut() = full.parse().map_err(|_| wrong("it is not a URL"))?;
        *request.headers_mut() = headers;
        let named = HeaderValue::from_str(authority.as_str());
        request.headers_mut().insert(HOST, named.map_err(|_| wrong("it is not a URL"))?);
        Ok(Exchange { host: host.to_owned(), port: authority.port_u16().unwrap_or(80), request })
    }

    /// Sends the request, and reads the answer.
    async fn run(self) -> Result<(), PushError> {
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await;
        let stream = stream.map_err(|error| lost(&error))?;
        let handshake = http1::handshake(TokioIo::new(stream)).await;
        let (mut requests, connection) = handshake.map_err(|error| lost(&error))?;
        // The runtime ends with this exchange, and the connection with it.
        tokio::spawn(async move {
            let _ = connection.await; // the request has its error
        });
        let answer = requests.send_request(self.request).await.map_err(|error| lost(&error))?;
        if answer.status().is_success() { Ok(()) } else { Err(refused(answer).await) }
    }
}

/// Sends a request on this thread.
pub(super) fn send(exchange: Exchange, limit: Duration) -> Result<(), PushError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| PushError::Start { error })?;
    let sent = runtime.block_on(async { timeout(limit, exchange.run()).await });
    runtime.shutdown_background(); // a look-up of a name that hangs holds nothing up
    sent.unwrap_or(Err(PushError::Timeout { timeout: limit }))
}

async fn refused(answer: Response<Incoming>) -> PushError {
    let status = answer.status().as_u16();
    let (mut text, mut body) = (Vec::new(), answer.into_body());
    while text.len() < LONGEST_TEXT
        && let Some(Ok(frame)) = body.frame().await
    {
        text.extend_from_slice(frame.data_ref().map_or(&[], |data| &data[..]));
    }
    text.truncate(LONGEST_TEXT);
    let message = String::from_utf8_lossy(&text).trim().to_owned();
    PushError::Refused { status, message }
}

/// Returns the error of a connection, with the texts of all that caused it.
fn lost(error: &(dyn Error + 'static)) -> PushError {
    let mut texts = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !texts.contains(&text) {
            texts = format!("{texts}: {text}");
        }
        cause = error.source();
    }
    PushError::Connection { error: texts }
}
