//! The page: one file, which loads nothing from elsewhere.

use http::header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY, VARY};
use http::{Response, StatusCode};

use super::body::Body;
use super::response::whole;

/// The page.
const PAGE: &str = include_str!("page.html");

/// The rights of the page: to run its own script, use its own style, and send requests to its own
/// server. The two hashes are those of the texts between `<script>` and `</script>`, and between
/// `<style>` and `</style>`; `tests/console/page.rs` computes them.
const POLICY: &str = "default-src 'none'; \
    script-src 'sha256-4YRlYWxLpFGeV70bu9+tNxaL6+LlpB4l8g9PVS2co84='; \
    style-src 'sha256-e+1aJIQAB9LNQbveLb6w2RyoS+bVh7bZjbj3/uwVFi8='; \
    connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Returns the page.
pub(crate) fn response() -> Response<Body> {
    let headers =
        [(CONTENT_SECURITY_POLICY, POLICY), (REFERRER_POLICY, "no-referrer"), (VARY, "accept")];
    whole(StatusCode::OK, "text/html; charset=utf-8", PAGE, &headers)
}
