//! Responses: answers with the headers that they need.

use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{Response, StatusCode};

use super::answer::Answer;
use super::body::Body;

pub(crate) const TEXT: &str = "text/plain; charset=utf-8";
pub(crate) const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// Returns the response for an answer; `None` if that failed.
pub(crate) fn made(
    answer: Option<Answer>,
    kind: &'static str,
    varies: Option<&'static str>,
) -> Response<Body> {
    let mut response = match answer {
        Some(Answer::Made(bytes)) => whole(StatusCode::OK, kind, bytes),
        Some(Answer::Scrape(bytes, coding)) => {
            let mut response = whole(StatusCode::OK, kind, bytes);
            if let Some(coding) = coding {
                response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
            }
            response
        }
        Some(Answer::NoSeries) => {
            plain(StatusCode::NOT_FOUND, "There is no series of that name.\n")
        }
        None => plain(StatusCode::INTERNAL_SERVER_ERROR, "The numbers cannot be read.\n"),
    };
    if let Some(headers) = varies {
        response.headers_mut().insert(VARY, HeaderValue::from_static(headers));
    }
    response
}

/// Returns the response of a stream.
pub(crate) fn events(body: Body) -> Response<Body> {
    let mut response = head(StatusCode::OK, EVENTS, body);
    // Otherwise nginx keeps frames back until they fill its buffer.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Returns an answer in words.
pub(crate) fn plain(status: StatusCode, text: &'static str) -> Response<Body> {
    whole(status, TEXT, text)
}

/// Returns a response of known length.
pub(crate) fn whole(
    status: StatusCode,
    kind: &'static str,
    text: impl Into<Bytes>,
) -> Response<Body> {
    let text = text.into();
    let length = HeaderValue::from(text.len());
    let mut response = head(status, kind, Body::whole(text));
    response.headers_mut().insert(CONTENT_LENGTH, length);
    response
}

/// Returns the common head of all responses: none is cached, and none is taken for another type of
/// content.
fn head(status: StatusCode, kind: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // So that no page of another site reads it by way of a tag.
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    response
}
