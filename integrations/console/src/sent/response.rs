//! Responses: answers with the headers that they need.

use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
    HeaderName, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{Response, StatusCode};

use super::body::Body;
use super::queue::Answer;

pub(crate) const TEXT: &str = "text/plain; charset=utf-8";
pub(crate) const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// The page: one file, which loads nothing from elsewhere.
const PAGE: &str = include_str!("page.html");

/// The rights of the page: to run its own script, use its own style, and send requests to its own
/// server. The two hashes are those of the texts between `<script>` and `</script>`, and between
/// `<style>` and `</style>`; `tests/console/page.rs` computes them.
const POLICY: &str = "default-src 'none'; \
    script-src 'sha256-4YRlYWxLpFGeV70bu9+tNxaL6+LlpB4l8g9PVS2co84='; \
    style-src 'sha256-e+1aJIQAB9LNQbveLb6w2RyoS+bVh7bZjbj3/uwVFi8='; \
    connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A header, beside those of all responses.
pub(crate) type Header = (HeaderName, &'static str);

/// Returns the response for an answer; `None` if that failed.
pub(crate) fn made(
    answer: Option<Answer>,
    kind: &'static str,
    varies: Option<&'static str>,
) -> Response<Body> {
    let (status, text) = match answer {
        Some(Answer::Made(bytes, coding)) => {
            let headers = [varies.map(|on| (VARY, on)), coding.map(|of| (CONTENT_ENCODING, of))];
            let headers: Vec<Header> = headers.into_iter().flatten().collect();
            return whole(StatusCode::OK, kind, bytes, &headers);
        }
        Some(Answer::NoSeries) => (StatusCode::NOT_FOUND, "There is no series of that name.\n"),
        None => (StatusCode::INTERNAL_SERVER_ERROR, "The numbers cannot be read.\n"),
    };
    whole(status, TEXT, text, varies.map(|on| (VARY, on)).as_slice())
}

/// Returns the page.
pub(crate) fn page() -> Response<Body> {
    let headers =
        [(CONTENT_SECURITY_POLICY, POLICY), (REFERRER_POLICY, "no-referrer"), (VARY, "accept")];
    whole(StatusCode::OK, "text/html; charset=utf-8", PAGE, &headers)
}

/// Returns the response of a stream.
pub(crate) fn events(body: Body) -> Response<Body> {
    // Otherwise nginx keeps frames back until they fill its buffer.
    response(StatusCode::OK, EVENTS, body, &[(HeaderName::from_static("x-accel-buffering"), "no")])
}

/// Returns an answer in words.
pub(crate) fn plain(status: StatusCode, text: &'static str) -> Response<Body> {
    whole(status, TEXT, text, &[])
}

/// Returns a response of known length.
pub(crate) fn whole(
    status: StatusCode,
    kind: &'static str,
    text: impl Into<Bytes>,
    headers: &[Header],
) -> Response<Body> {
    let text = text.into();
    let length = text.len().into();
    let mut response = response(status, kind, Body::whole(text), headers);
    response.headers_mut().insert(CONTENT_LENGTH, length);
    response
}

/// Returns a response with the headers that all have: none is cached, and none is taken for another
/// type of content.
fn response(status: StatusCode, kind: &str, body: Body, headers: &[Header]) -> Response<Body> {
    let all = Response::builder()
        .status(status)
        .header(CONTENT_TYPE, kind)
        .header(CACHE_CONTROL, "no-store")
        .header(X_CONTENT_TYPE_OPTIONS, "nosniff")
        // So that no page of another site reads it by way of a tag.
        .header("cross-origin-resource-policy", "same-origin");
    let all = headers.iter().fold(all, |all, (name, value)| all.header(name, *value));
    all.body(body).expect("the headers are valid")
}
