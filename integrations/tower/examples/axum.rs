//! An axum service that prints its counts each second: those of the last minute, by route.
//!
//! `cargo run -p windrow-tower --example axum`, and then `curl localhost:3000/carts/7`.

use std::time::Duration;

use axum::extract::{MatchedPath, Path};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Router, serve};
use tokio::net::TcpListener;
use tokio::time::sleep;
use windrow_tower::{Http, MetricsLayer, Routes};

static ROUTES: Routes = Routes::new();

async fn cart(Path(id): Path<u64>) -> String {
    sleep(Duration::from_millis(id % 100)).await;
    format!("cart {id}\n")
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let layer = MetricsLayer::new(&ROUTES, |parts| {
        parts.extensions.get::<MatchedPath>().map(MatchedPath::as_str)
    });
    let app = Router::new()
        .route("/carts/{id}", get(cart))
        .route("/orders", post(|| async { StatusCode::SERVICE_UNAVAILABLE }))
        .fallback(|| async { StatusCode::NOT_FOUND })
        .layer(layer);
    tokio::spawn(async {
        loop {
            for series in ROUTES.family() {
                let route: Vec<_> = series.pairs().map(|(_, value)| value.to_string()).collect();
                let requests = series.window().stats(Http::Request).count;
                let failed = series.window().stats(Http::Exception).count;
                let most = series.window().quantile(Http::Rt, 0.99).unwrap_or(0) as f64 / 1e6;
                println!(
                    "{}: {requests} requests, {failed} failed, p99 {most:.1} ms",
                    route.join(" ")
                );
            }
            sleep(Duration::from_secs(1)).await;
        }
    });
    serve(TcpListener::bind("127.0.0.1:3000").await?, app).await
}
