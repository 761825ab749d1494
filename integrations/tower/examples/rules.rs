//! An axum service whose limits are settings: it polls a file each second, and has an endpoint for
//! new rules. Invalid rules change nothing, and are answered 422 with the error.
//!
//! `cargo run -p windrow-tower --features json --example rules [FILE]`, and then
//!
//! ```text
//! curl -i localhost:3000/carts/7                          two a second: the third is a 429
//! curl -i localhost:3000/carts/7 -H 'x-account: paid-7'   ten a second
//! curl -i -X PUT localhost:3001/rules -d '{"default":{"limit":1}}'   200: then one a second
//! curl -i -X PUT localhost:3001/rules -d '{"default":{"limit":0}}'   422, and the error
//! ```

use std::env;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::routing::{get, put};
use tokio::net::TcpListener;
use tokio::time::sleep;
use windrow::{Gate, labels};
use windrow_tower::{LimitLayer, Limits, Rules, RulesFile};

labels! { struct Client { account: str } }

/// The limits of accounts: two a second until there are rules.
static CLIENTS: Limits<Client> =
    Limits::new(10_000, |_| Gate::builder(2).buckets(10).build().expect("a second in ten buckets"));

fn client(parts: &Parts) -> Client<'_> {
    // A real service takes an account that was authenticated.
    let account = parts.headers.get("x-account").and_then(|account| account.to_str().ok());
    Client { account: account.unwrap_or("anonymous") }
}

/// Returns the service. Requests wait where their rule allows it, for two seconds at most.
fn service() -> Router {
    let limit = LimitLayer::new(&CLIENTS, |parts| Some(client(parts)))
        .weight(|parts| CLIENTS.weight(parts.uri.path()))
        .wait(Duration::from_secs(2), sleep);
    Router::new()
        .route("/carts/{id}", get(|Path(id): Path<u64>| async move { format!("cart {id}\n") }))
        .route("/report", get(|| async { "a long report\n" }))
        .layer(limit)
}

/// Returns the endpoint for rules, on a port of its own: it can lift every limit.
fn control() -> Router {
    let limit = DefaultBodyLimit::max(Rules::MAX_BYTES);
    Router::new().route("/rules", put(replace)).layer(limit)
}

async fn replace(text: Bytes) -> (StatusCode, String) {
    match CLIENTS.reload(&text) {
        Ok(changes) => (StatusCode::OK, format!("{changes}\n")),
        Err(error) => (StatusCode::UNPROCESSABLE_ENTITY, format!("{error}\n")),
    }
}

/// Polls the file each second.
async fn watch(mut file: RulesFile) {
    loop {
        match CLIENTS.reload_if_changed(&mut file) {
            Ok(None) => {}
            Ok(Some(changes)) => println!("{}: {changes}", file.path().display()),
            Err(error) => eprintln!("the old rules stay in force: {error}"),
        }
        sleep(Duration::from_secs(1)).await;
    }
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/rules.json");
    let path = env::args_os().nth(1).unwrap_or_else(|| beside.into());
    tokio::spawn(watch(RulesFile::new(path)));
    let control_listener = TcpListener::bind("127.0.0.1:3001").await?;
    tokio::spawn(async move { axum::serve(control_listener, control()).await });
    axum::serve(TcpListener::bind("127.0.0.1:3000").await?, service()).await
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::Request;
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    use super::*;

    async fn send(app: Router, request: Request<Body>) -> (u16, String) {
        let response = app.oneshot(request).await.expect("a response");
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        (status, String::from_utf8(body.to_vec()).expect("a text"))
    }

    async fn write(text: &str) -> (u16, String) {
        let request = Request::put("/rules").body(Body::from(text.to_owned()));
        send(control(), request.expect("a request")).await
    }

    async fn ask(account: &str) -> u16 {
        let request = Request::get("/carts/7").header("x-account", account).body(Body::empty());
        send(service(), request.expect("a request")).await.0
    }

    #[tokio::test]
    async fn rules_are_swapped_and_wrong_ones_are_answered_422() {
        let an_hour = |limit| format!(r#"{{"default":{{"limit":{limit},"interval_ms":3600000}}}}"#);
        assert_eq!(ask("alice").await, 200);
        assert_eq!(write(&an_hour(2)).await, (200, "keys with another rate: 1\n".into()));
        assert_eq!((ask("alice").await, ask("alice").await), (200, 429));
        let (status, why) = write(&an_hour(0)).await;
        assert_eq!(status, 422);
        assert_eq!(why, "default: the limit is 0; it must be at least 1\n");
        let (status, why) = write("{").await;
        assert_eq!((status, &*why), (422, "line 1, column 1: EOF while parsing an object\n"));
        assert_eq!(ask("alice").await, 429, "the old rules stay");
        assert_eq!(write(&" ".repeat(Rules::MAX_BYTES + 1)).await.0, 413);
        assert_eq!(write(&an_hour(3)).await.0, 200);
        assert_eq!((ask("alice").await, ask("alice").await), (200, 429));
        let text = include_bytes!("rules.json");
        assert!(CLIENTS.reload(text).is_ok(), "the file beside");
    }
}
