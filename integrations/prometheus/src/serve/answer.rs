//! The answer to a request.

use std::panic::{AssertUnwindSafe, catch_unwind};

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap,
    HeaderName, HeaderValue, VARY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Method, Request, Response, StatusCode};

use crate::respond::{Asked, Scraped};

/// Returns the answer to a request. Its body is not read.
pub(super) fn to<B>(request: &Request<B>, metrics: &dyn Scraped) -> Response<Full<Bytes>> {
    if request.uri().path() != "/metrics" {
        return plain(StatusCode::NOT_FOUND, "There is /metrics.\n");
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "Only GET and HEAD.\n");
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return response;
    }
    let accept = joined(request.headers(), &ACCEPT);
    let accept_encoding = joined(request.headers(), &ACCEPT_ENCODING);
    // A source may panic: then this request has no numbers, and the next one may.
    let asked = Asked { accept: Some(&accept), accept_encoding: Some(&accept_encoding) };
    let Ok(answer) = catch_unwind(AssertUnwindSafe(|| metrics.scrape(asked))) else {
        return plain(StatusCode::INTERNAL_SERVER_ERROR, "The metrics cannot be read.\n");
    };
    let mut response = whole(StatusCode::OK, answer.content_type, answer.body.into());
    let headers = response.headers_mut();
    headers.insert(VARY, HeaderValue::from_static("accept, accept-encoding"));
    if let Some(coding) = answer.content_encoding {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
    }
    response
}

/// Returns the values of a header, as one list.
fn joined(headers: &HeaderMap, name: &HeaderName) -> String {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.collect::<Vec<_>>().join(",")
}

fn plain(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    whole(status, "text/plain; charset=utf-8", Bytes::from_static(text.as_bytes()))
}

/// Returns a response that is not cached, and not taken for another type of content.
fn whole(status: StatusCode, kind: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
