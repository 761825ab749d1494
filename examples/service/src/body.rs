//! The bodies of requests, which have a time and a size.

use std::error::Error;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::time::timeout;

/// The greatest size of a body, in bytes.
const LONGEST: usize = 64 << 10;

/// Reads the body before the handler is called, so that a client that sends a byte a second holds
/// no handler. A body that takes longer than a time is answered with 408, one that is too long with
/// 413.
pub(crate) async fn read(State(time): State<Duration>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    match timeout(time, Limited::new(body, LONGEST).collect()).await {
        Ok(Ok(body)) => next.run(Request::from_parts(head, Body::from(body.to_bytes()))).await,
        Ok(Err(error)) => refusal(&*error).into_response(),
        Err(_) => (StatusCode::REQUEST_TIMEOUT, "the hay came too slowly\n").into_response(),
    }
}

fn refusal(error: &(dyn Error + Send + Sync + 'static)) -> (StatusCode, &'static str) {
    if error.is::<LengthLimitError>() {
        (StatusCode::PAYLOAD_TOO_LARGE, "so much hay does not fit the barn\n")
    } else {
        (StatusCode::BAD_REQUEST, "the hay is broken\n")
    }
}
