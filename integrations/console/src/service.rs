//! What is answered to which request.

use std::convert::Infallible;
use std::fmt::{self, Debug, Formatter};
use std::future::{Ready, ready};
use std::sync::Arc;
use std::task::{Context, Poll};

use http::header::{
    ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, Method, Request, Response, StatusCode};

use crate::body::Body;
use crate::console::Shown;
use crate::hub::Hub;
use crate::{page, snapshot, text};

/// A console that is built: it answers requests, and costs nothing before there is one.
///
/// It is a tower service of `http` requests, so axum mounts it with `nest_service`, at whatever path. For hyper and all else there
/// is [`respond`](Self::respond). Cheap to clone; clones are the same console.
///
/// ```
/// use windrow_console::Console;
///
/// let console = Console::new("shop").build();
/// let app = axum::Router::<()>::new().nest_service("/console", console.clone());
///
/// // When the service is to end: streams would go on as long as their clients stay.
/// console.close();
/// ```
#[derive(Clone)]
pub struct ConsoleService {
    pub(crate) shown: Arc<Shown>,
    pub(crate) hub: Arc<Hub>,
}

impl ConsoleService {
    pub(crate) fn new(shown: Arc<Shown>) -> ConsoleService {
        let hub = Arc::new(Hub::new(Arc::clone(&shown)));
        ConsoleService { shown, hub }
    }

    /// Answers a request. Its path is one below the place where the console is mounted: `/`, `/events`.
    ///
    /// It does not wait. It reads what it shows on this thread: some microseconds a series. Of the request's body it takes nothing.
    ///
    /// ```
    /// use http::{Request, StatusCode};
    /// use windrow_console::Console;
    ///
    /// let console = Console::new("shop").build();
    /// let request = Request::get("/text").body(())?;
    /// assert_eq!(console.respond(&request).status(), StatusCode::OK);
    /// let request = Request::get("/nothing").body(())?;
    /// assert_eq!(console.respond(&request).status(), StatusCode::NOT_FOUND);
    /// # Ok::<(), http::Error>(())
    /// ```
    pub fn respond<B>(&self, request: &Request<B>) -> Response<Body> {
        let mut response = self.answer(request);
        if request.method() == Method::HEAD {
            *response.body_mut() = Body::whole("");
        }
        response
    }

    /// Ends all streams, those of this console's clones too. Requests for streams are refused from then on; others are
    /// answered as before.
    ///
    /// For a graceful shutdown, which would wait for the streams. The console's [own server](Self::serve) has streams of its own.
    ///
    /// ```
    /// windrow_console::Console::new("shop").build().close();
    /// ```
    pub fn close(&self) {
        self.hub.close();
    }

    fn answer<B>(&self, request: &Request<B>) -> Response<Body> {
        let path = request.uri().path().trim_start_matches('/');
        if !matches!(path, "" | "events" | "snapshot.json" | "metrics" | "text") {
            let there = "There are /, /events, /snapshot.json, /metrics and /text.\n";
            return plain(StatusCode::NOT_FOUND, there);
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "Only GET and HEAD.\n");
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        match path {
            "" if wants_html(request.headers()) => page::response(),
            // A page from elsewhere cannot read a stream, but it could hold all there may be.
            "events" if is_from_elsewhere(request.headers()) => {
                plain(StatusCode::FORBIDDEN, "Streams are for the console's own page.\n")
            }
            "events" => self.events(request.method() == Method::HEAD),
            "snapshot.json" => self.snapshot(request.uri().query().unwrap_or_default()),
            "metrics" => match self.shown.metrics_text() {
                Ok(text) => whole(StatusCode::OK, METRICS, text),
                Err(fmt::Error) => {
                    plain(StatusCode::INTERNAL_SERVER_ERROR, "A metric cannot be written.\n")
                }
            },
            _ => {
                let mut response = plain(StatusCode::OK, text::text(&self.shown));
                // The same path gives the page to others.
                response.headers_mut().insert(VARY, HeaderValue::from_static("accept"));
                response
            }
        }
    }

    fn events(&self, only_head: bool) -> Response<Body> {
        if only_head {
            return head(StatusCode::OK, EVENTS, Body::whole(""));
        }
        match self.hub.listen() {
            Some(listener) => head(StatusCode::OK, EVENTS, Body::events(listener)),
            None => plain(StatusCode::SERVICE_UNAVAILABLE, "There are too many streams.\n"),
        }
    }

    fn snapshot(&self, query: &str) -> Response<Body> {
        let Some(key) = query.split('&').find_map(|pair| pair.strip_prefix("series=")) else {
            return whole(StatusCode::OK, JSON, snapshot::all(&self.shown));
        };
        match snapshot::one(&self.shown, &decoded(key)) {
            Some(one) => whole(StatusCode::OK, JSON, one),
            None => plain(StatusCode::NOT_FOUND, "There is no series of that name.\n"),
        }
    }
}

impl<B> tower_service::Service<Request<B>> for ConsoleService {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        ready(Ok(self.respond(&request)))
    }
}

/// Shows what is shown.
impl Debug for ConsoleService {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.shown.fmt(f)
    }
}

const TEXT: &str = "text/plain; charset=utf-8";
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Whether the client asks for HTML by name. `curl` takes anything, and gets the text.
fn wants_html(headers: &HeaderMap) -> bool {
    let accepts = headers.get_all(ACCEPT).iter();
    accepts.filter_map(|accept| accept.to_str().ok()).any(|accept| accept.contains("text/html"))
}

/// Whether a browser says that a page of another site asks.
fn is_from_elsewhere(headers: &HeaderMap) -> bool {
    headers.get("sec-fetch-site").is_some_and(|site| site == "cross-site")
}

pub(crate) fn plain(status: StatusCode, text: impl Into<String>) -> Response<Body> {
    whole(status, TEXT, text.into())
}

/// An answer whose length is known.
pub(crate) fn whole(status: StatusCode, kind: &'static str, text: String) -> Response<Body> {
    let length = HeaderValue::from(text.len());
    let mut response = head(status, kind, Body::whole(text));
    response.headers_mut().insert(CONTENT_LENGTH, length);
    response
}

/// What all answers have in common: none is kept, and none is taken for another kind of content than it is.
fn head(status: StatusCode, kind: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // So that no page from elsewhere reads it by way of a tag.
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    response
}

/// A value of a query: `%41` is `A`, `+` a space. What is no escape stays as it is.
fn decoded(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let [byte, after @ ..] = rest {
        let escaped = (*byte == b'%').then(|| hex(after)).flatten();
        bytes.push(escaped.unwrap_or(if *byte == b'+' { b' ' } else { *byte }));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The byte that two digits say.
fn hex(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let (high, low) = (digit(*digits.first()?)?, digit(*digits.get(1)?)?);
    u8::try_from(high * 16 + low).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_decoded() {
        assert_eq!(decoded("a%7b%22%C3%A9%22%7D+%2B"), "a{\"é\"} +");
        assert_eq!(decoded("100%"), "100%");
        assert_eq!(decoded("%zz%4"), "%zz%4");
        assert_eq!(decoded("%é"), "%é");
    }

    #[test]
    fn only_a_client_that_names_html_gets_the_page() {
        let wants = |accept: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_static(accept));
            wants_html(&headers)
        };
        assert!(wants("text/html,application/xhtml+xml,*/*;q=0.8"));
        assert!(!wants("*/*"));
        assert!(!wants_html(&HeaderMap::new()));
    }
}
