//! The log, on standard error.

use axum::extract::MatchedPath;
use axum::http::Request;
use tracing::{Level, Span};
use windrow::labels::Label;
use windrow_tower::{Method, UNMATCHED};

/// Begins to log.
pub(crate) fn begin(level: Level) {
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .with_target(false)
        // Otherwise a log that cannot be written is an error on standard error, and its panic ends
        // the connection: the reader of the log may be gone.
        .log_internal_errors(false)
        .init();
}

/// Returns the span of a request, with the method and the route of the request's series.
pub(crate) fn span<B>(request: &Request<B>) -> Span {
    let route = request.extensions().get::<MatchedPath>().map_or(UNMATCHED, MatchedPath::as_str);
    tracing::info_span!("request", method = %Method::from(request.method()).value(), route)
}
