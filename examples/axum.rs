//! A service by axum: routes with rates and percentiles, a limit by API key, a circuit breaker
//! around a route, and `/metrics`.
//!
//! `cargo run -p windrow-tower --example axum`, and then:
//!
//! ```text
//! curl -H 'x-api-key: acme' localhost:3000/carts/7     # 20 a second for each key, bursts of 40
//! curl -H 'x-api-key: acme' -X POST localhost:3000/pay/fails # the tenth failure opens the breaker
//! curl localhost:3000/stats localhost:3000/metrics
//! ```

use std::{env::args, error::Error, fmt::Write, sync::Arc, time::Duration};

use axum::extract::{MatchedPath, Path, Request};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::{Router, routing::get, routing::post, serve};
use tokio::{net::TcpListener, time::sleep};
use windrow::breaker::Settings;
use windrow::export::{field, from_fn};
use windrow::{AtMost, Breaker, Pace, labels};
use windrow_prometheus::{Exposition, RegisterError};
use windrow_tower::{BreakerLayer, Endpoint, Http, LimitLayer, MetricsLayer, PaceLimits, Routes};

labels! { struct Client { key: str } }

/// The API keys of the clients: here stands a look into your store.
const KEYS: [&str; 2] = ["acme", "zenith"];

/// Requests by method and route: the last minute, by the second.
static ROUTES: Routes = Routes::new();

/// A request comes back each 50 ms, up to 40, for each of at most 10 000 API keys. `None` is the
/// pace that further keys share.
static CLIENTS: PaceLimits<Client> = PaceLimits::new(10_000, |key| match key {
    Some(_) => Pace::of(Duration::from_millis(50), AtMost(40)),
    None => Pace::of(Duration::from_millis(5), AtMost(400)),
});

/// Opens if half of at least ten payments in ten seconds fail, for five seconds.
static BANK: Breaker =
    Breaker::of(Settings::interval(Duration::from_secs(10), 10).minimum_calls(10));

async fn cart(Path(id): Path<u64>) -> String {
    sleep(Duration::from_millis(id % 100)).await;
    format!("cart {id}\n")
}

/// Answers 401 without one of the keys. A key that clients can choose limits none of them, so the
/// limit stands behind this.
async fn check_key(request: Request, next: Next) -> Result<Response, StatusCode> {
    let key = request.headers().get("x-api-key").ok_or(StatusCode::UNAUTHORIZED)?;
    if !KEYS.iter().any(|known| key == known) {
        return Err(StatusCode::UNAUTHORIZED);
    }
    Ok(next.run(request).await)
}

/// Pays by the bank: a request of your client stands here. A status of 500 or above is a failure to
/// the breaker, whose layer is around this.
async fn pay(Path(card): Path<String>) -> Result<&'static str, StatusCode> {
    sleep(Duration::from_millis(5)).await;
    if card == "fails" { Err(StatusCode::BAD_GATEWAY) } else { Ok("paid\n") }
}

/// The last minute, route by route.
async fn stats() -> String {
    let mut text = String::new();
    for series in ROUTES.family() {
        let route: Vec<_> = series.pairs().map(|(_, value)| value.to_string()).collect();
        let (route, window) = (route.join(" "), series.window());
        let rates = [Http::Request, Http::Exception, Http::Block].map(|event| window.rate(event));
        let [all, fail, refused] = rates;
        let p99 = Duration::from_nanos(window.quantile(Http::Rt, 0.99).unwrap_or_default());
        let _ =
            writeln!(text, "{route}: {all:.1}/s, {fail:.1} failed, {refused:.1} refused, {p99:?}");
    }
    text
}

fn metrics() -> Result<Exposition, RegisterError> {
    let mut metrics = Exposition::new();
    metrics.register("http", "Requests by route", field(ROUTES.family(), Endpoint::window))?;
    metrics.register("http_open", "In flight", field(ROUTES.family(), Endpoint::in_flight))?;
    metrics.register("bank", "Calls to the bank, and what its breaker did", &BANK)?;
    let state = from_fn(|| f64::from(BANK.state() as u8));
    metrics.register("bank_state", "0 closed, 1 half open, 2 open", state)?;
    Ok(metrics)
}

fn app() -> Result<Router, RegisterError> {
    let count = MetricsLayer::new(&ROUTES, |parts| {
        parts.extensions.get::<MatchedPath>().map(MatchedPath::as_str)
    });
    let limit = LimitLayer::new(&CLIENTS, |parts| {
        Some(Client { key: parts.headers.get("x-api-key")?.to_str().ok()? }) // it was checked
    });
    let breaker = BreakerLayer::new(|_| Some(&BANK));
    let metrics = Arc::new(metrics()?);
    let scrape = move |headers: HeaderMap| async move {
        let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
        let answer = metrics.respond(accept, None);
        ([(header::CONTENT_TYPE, answer.content_type)], answer.body)
    };
    let pay = post(pay).layer(breaker);
    let routes = Router::new().route("/carts/{id}", get(cart)).route("/pay/{card}", pay);
    // The last one is the outermost.
    let counted = routes.layer(limit).layer(middleware::from_fn(check_key)).layer(count);
    Ok(counted.route("/stats", get(stats)).route("/metrics", get(scrape)))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = args().nth(1).unwrap_or_else(|| "127.0.0.1:3000".to_owned());
    Ok(serve(TcpListener::bind(address).await?, app()?).await?)
}

#[cfg(test)]
#[path = "tests/axum.rs"]
mod tests;
