//! One limit of the shop's requests for all processes of it, on Redis or Valkey.

use std::sync::OnceLock;
use std::time::Duration;

use axum::Router;
use axum::extract::MatchedPath;
use windrow::{AtMost, labels};
use windrow_redis::{SharedError, SharedGate};
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

/// Returns the routes with a limit, if the settings have one. An engine that cannot be reached at
/// the start is an error.
pub(crate) fn limited(routes: Router, settings: &Settings) -> Result<Router, SharedError> {
    let Some(url) = &settings.limit_redis else { return Ok(routes) };
    let gate = SharedGate::builder(AtMost(settings.limit_requests)).name("shop");
    GATE.get_or_init({
        let gate = gate.on_absence(settings.limit_absence).connect(url)?;
        || gate
    });
    let layer = LimitLayer::new(&LIMITS, |parts| {
        let route = parts.extensions.get::<MatchedPath>().map_or("unmatched", MatchedPath::as_str);
        Some(Limited { route })
    });
    Ok(routes.layer(layer.wait(PATIENCE, tokio::time::sleep)))
}
