//! The whole application: the shop with its layer, and beside it what shows the numbers.

use std::sync::Arc;

use axum::Router;
use axum::extract::{MatchedPath, State};
use axum::http::header::CONTENT_TYPE;
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::get;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use tower_http::compression::CompressionLayer;
use windrow_tower::MetricsLayer;

use crate::book;
use crate::counts::ROUTES;
use crate::shop::Shop;

/// What Prometheus calls the format of [`text()`].
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The shop's requests are counted. Those for the numbers are not.
pub(crate) fn router(shop: &Arc<Shop>, registry: &Arc<Registry>) -> Router {
    let counting = MetricsLayer::new(&ROUTES, |parts| {
        parts.extensions.get::<MatchedPath>().map(MatchedPath::as_str)
    });
    let counted =
        shop.routes().layer(from_fn_with_state(Arc::clone(shop), book::keep)).layer(counting);
    let numbers = Router::new()
        .route("/metrics", get(metrics))
        .layer(CompressionLayer::new())
        .with_state(Arc::clone(registry));
    counted.merge(numbers)
}

async fn metrics(State(registry): State<Arc<Registry>>) -> impl IntoResponse {
    ([(CONTENT_TYPE, OPEN_METRICS)], text(&registry))
}

/// What a scrape is answered with.
pub(crate) fn text(registry: &Registry) -> String {
    let mut text = String::new();
    encode(&mut text, registry).expect("a string takes all");
    text
}
