//! One limit of the shop's requests for all processes of it, on Redis or Valkey.

use std::sync::OnceLock;
use std::time::Duration;

use axum::Router;
use axum::extract::MatchedPath;
use windrow::{AtMost, labels};
use windrow_redis::{Engine, SharedError, SharedGate};
use windrow_tower::{LimitLayer, SharedLimits};

use crate::settings::Settings;

labels! { struct Limited { route: str } }

/// The number of routes, and room for some more.
const ROUTES: usize = 50;

/// The longest wait for an answer of the engine.
const PATIENCE: Duration = Duration::from_millis(10);

/// The limit, which is set before the first request.
static GATE: OnceLock<SharedGate> = OnceLock::new();

/// Each route has counts of its own, and all have one limit together.
static LIMITS: SharedLimits<Limited> =
    SharedLimits::new(ROUTES, |_| GATE.get().expect("it is set with the layer").clone());

/// Returns the routes with a limit, if the settings have one. While the engine cannot be reached,
/// also at the start, the policy decides, and the log tells why.
pub(crate) fn limited(routes: Router, settings: &Settings) -> Result<Router, SharedError> {
    let Some(url) = &settings.limit_redis else { return Ok(routes) };
    let engine = Engine::connect_lazy(url)?;
    let gate = SharedGate::builder(AtMost(settings.limit_requests)).name("shop");
    let gate = gate.on_absence(settings.limit_absence).build(&engine)?;
    GATE.get_or_init(|| gate.clone());
    tokio::spawn(watch(gate));
    let layer = LimitLayer::new(&LIMITS, |parts| {
        let route = parts.extensions.get::<MatchedPath>().map_or("unmatched", MatchedPath::as_str);
        Some(Limited { route })
    });
    Ok(routes.layer(layer.wait(PATIENCE, tokio::time::sleep)))
}

/// Logs that the policy begins to decide, and why, and that the limit holds again.
async fn watch(gate: SharedGate) {
    let mut was_told = false;
    loop {
        tokio::time::sleep(Duration::from_secs(1)).await;
        match gate.fault() {
            Some(fault) if !was_told => tracing::warn!("limit_redis: {fault}"),
            None if was_told => tracing::info!("limit_redis: the limit holds again"),
            _ => continue,
        }
        was_told = !was_told;
    }
}
