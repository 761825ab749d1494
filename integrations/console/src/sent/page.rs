//! The page: one file, which loads nothing from elsewhere.

use http::header::{CONTENT_SECURITY_POLICY, HeaderValue, REFERRER_POLICY, VARY};
use http::{Response, StatusCode};

use super::body::Body;
use super::response::whole;

/// The page.
const PAGE: &str = include_str!("page.html");

/// The rights of the page: to run its own script, use its own style, and send requests to its own
/// server. The two hashes are those of the texts between `<script>` and `</script>`, and between
/// `<style>` and `</style>`; `tests/console/page.rs` computes them.
const POLICY: &str = "default-src 'none'; \
    script-src 'sha256-kEFRhKOB6pHAOWX6hYgimSjB7L4P1uZo2Em/qpxLD9k='; \
    style-src 'sha256-IXFH+p98zlyrDnXUqj5samNyy3W5/m49s5Pr4tC5ELY='; \
    connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Returns the page.
pub(crate) fn response() -> Response<Body> {
    let mut response = whole(StatusCode::OK, "text/html; charset=utf-8", PAGE);
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(VARY, HeaderValue::from_static("accept"));
    response
}
