//! Health: for the program that restarts the process, and for the balancer before it.

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use tokio_util::sync::CancellationToken;

/// Returns the routes `/healthz`, which succeeds while the process serves, and `/readyz`, which
/// fails from the signal to stop on.
///
/// Both ask nothing of other services: if a shared one fails, restarting all that need it makes it
/// worse.
pub(crate) fn routes(stop: CancellationToken) -> Router {
    let ready = async |State(stop): State<CancellationToken>| {
        if stop.is_cancelled() {
            (StatusCode::SERVICE_UNAVAILABLE, "draining\n")
        } else {
            (StatusCode::OK, "ready\n")
        }
    };
    Router::new()
        .route("/healthz", get(async || "alive\n"))
        .route("/readyz", get(ready))
        .with_state(stop)
}
