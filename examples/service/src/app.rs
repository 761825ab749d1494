//! The whole application: the shop with its layer, and beside it what shows the numbers.

use std::io::{Error, Result};
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::MatchedPath;
use axum::http::Request;
use axum::http::header::ACCEPT;
use axum::middleware::from_fn_with_state;
use http_body_util::BodyExt;
use tokio_util::sync::CancellationToken;
use tower_http::trace::TraceLayer;
use windrow_console::ConsoleService;
use windrow_tower::MetricsLayer;

use crate::counts::ROUTES;
use crate::settings::Settings;
use crate::shop::Shop;
use crate::{body, book, health, log, shared, streams};

/// The shop's requests are counted. Those for the numbers and for the health are not.
pub(crate) fn router(
    shop: &Arc<Shop>,
    console: &ConsoleService,
    signal: CancellationToken,
    settings: &Settings,
) -> Result<Router> {
    let counting = MetricsLayer::new(&ROUTES, |parts| {
        parts.extensions.get::<MatchedPath>().map(MatchedPath::as_str)
    });
    // Responses are logged at level `debug`. A failure has no line of its own: it is counted, and a
    // line for each would fill the log during an incident.
    let spans = TraceLayer::new_for_http().make_span_with(log::span).on_request(()).on_failure(());
    // The last layer is the outermost.
    let limited = shared::limited(shop.routes(), settings)
        .map_err(|error| Error::other(format!("limit_redis: {error}")))?;
    let counted = limited
        .layer(from_fn_with_state(settings.body_timeout, body::read))
        .layer(from_fn_with_state(Arc::clone(&shop.book), book::keep))
        .layer(counting)
        .layer(spans);
    let scrape = Router::new().route_service("/metrics", console.clone());
    let page = Router::new().nest_service("/console", console.clone());
    let page = streams::limited(page, settings.max_connections).map_err(Error::other)?;
    Ok(counted.merge(scrape).merge(health::routes(signal)).merge(page))
}

/// Returns the answer to a scrape, in the format whose end shows that it is whole.
pub(crate) async fn last_scrape(console: &ConsoleService) -> Result<Bytes> {
    let request = Request::get("/metrics").header(ACCEPT, "application/openmetrics-text");
    let request = request.body(Body::empty()).map_err(Error::other)?;
    let body = console.respond(&request).await.into_body().collect().await;
    Ok(body.map_err(Error::other)?.to_bytes())
}
