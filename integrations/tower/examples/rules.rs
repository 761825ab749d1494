//! An axum service whose limits, rooms and windows are settings: it polls a file each second, and
//! has an endpoint for new settings. Invalid ones change nothing, and are answered 422 with the
//! error.
//!
//! `cargo run -p windrow-tower --features json --example rules [FILE]`, and then
//!
//! ```text
//! curl -i localhost:3000/carts/7                          two a second: the third is a 429
//! curl -i localhost:3000/carts/7 -H 'x-account: paid-7'   ten a second
//! curl localhost:3001/windows                             GET /carts/{id} has 20 buckets
//! curl -i -X PUT localhost:3001/rules -d @settings.json   200: the numbers of changed keys
//! curl -i -X PUT localhost:3001/rules -d '{}'             422, and the error
//! ```

use std::env;
use std::error::Error;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, MatchedPath, Path};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::routing::{get, put};
use serde::Deserialize;
use tokio::net::TcpListener;
use tokio::time::sleep;
use windrow::{Gate, labels};
use windrow_tower::{
    Http, LimitLayer, LimitRules, Limits, MetricsLayer, RoomLayer, RoomRules, Rooms, Routes,
    RulesFile, WindowRules,
};

labels! {
    struct Client { account: str }
    struct Place { route: str }
}

/// The limits of accounts: two a second until there are rules.
static CLIENTS: Limits<Client> =
    Limits::new(10_000, |_| Gate::builder(2).buckets(10).build().expect("a second in ten buckets"));

/// The requests at once of each route.
static ROOMS: Rooms<Place> = Rooms::new(1_000, |_| 100);

/// The counts of each route.
static ROUTES: Routes = Routes::new();

/// The settings: a set of rules for each static.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    clients: LimitRules,
    rooms: RoomRules,
    windows: WindowRules,
}

/// Puts settings into force: all of them, or none if there is an error.
fn replace(text: &[u8]) -> Result<String, Box<dyn Error>> {
    static ONE: Mutex<()> = Mutex::new(()); // the file and the endpoint take turns
    let Settings { clients, rooms, windows } = serde_json::from_slice(text)?;
    CLIENTS.check(&clients).map_err(|error| format!("clients.{error}"))?;
    ROOMS.check(&rooms).map_err(|error| format!("rooms.{error}"))?;
    ROUTES.check(&windows).map_err(|error| format!("windows.{error}"))?;
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let clients = CLIENTS.replace(clients)?;
    let (rooms, windows) = (ROOMS.replace(rooms)?, ROUTES.replace(windows)?);
    Ok(format!("clients: {clients}\nrooms: {rooms}\nwindows: {windows}\n"))
}

fn client(parts: &Parts) -> Client<'_> {
    // A real service takes an account that was authenticated.
    let account = parts.headers.get("x-account").and_then(|account| account.to_str().ok());
    Client { account: account.unwrap_or("anonymous") }
}

fn route(parts: &Parts) -> Option<&str> {
    parts.extensions.get::<MatchedPath>().map(MatchedPath::as_str)
}

/// Returns the service. Requests wait where their rule allows it, for two seconds at most.
fn service() -> Router {
    let limit = LimitLayer::new(&CLIENTS, |parts| Some(client(parts)))
        .weight(|parts| CLIENTS.weight(parts.uri.path()))
        .wait(Duration::from_secs(2), sleep);
    let room = RoomLayer::new(&ROOMS, |parts| Some(Place { route: route(parts)? }));
    Router::new()
        .route("/carts/{id}", get(|Path(id): Path<u64>| async move { format!("cart {id}\n") }))
        .route("/report", get(|| async { "a long report\n" }))
        .layer(room)
        .layer(limit)
        .layer(MetricsLayer::new(&ROUTES, route))
}

/// Returns the endpoint for settings, on a port of its own: it can lift every limit.
fn control() -> Router {
    let limit = DefaultBodyLimit::max(LimitRules::MAX_BYTES);
    let windows = get(|| async { windows() });
    Router::new().route("/rules", put(reload)).route("/windows", windows).layer(limit)
}

async fn reload(text: Bytes) -> (StatusCode, String) {
    match replace(&text) {
        Ok(changes) => (StatusCode::OK, changes),
        Err(error) => (StatusCode::UNPROCESSABLE_ENTITY, format!("{error}\n")),
    }
}

/// Returns a line for each window.
fn windows() -> String {
    let mut text = String::new();
    for series in ROUTES.family() {
        let Some(labels) = series.labels() else { continue };
        let (window, method, route) = (series.window(), labels.method, labels.route);
        let (interval, buckets) = (window.interval(), window.buckets());
        let requests = window.sum(Http::Request);
        let _ = writeln!(text, "{method:?} {route}: {requests} in {interval:?}, {buckets} buckets");
    }
    text
}

/// Puts the file's settings into force, if they have changed.
fn poll(file: &mut RulesFile) -> Result<Option<String>, Box<dyn Error>> {
    let Some(text) = file.read_if_changed()? else { return Ok(None) };
    replace(&text).map(Some)
}

/// Polls the file each second.
async fn watch(mut file: RulesFile) {
    loop {
        match poll(&mut file) {
            Ok(None) => {}
            Ok(Some(changes)) => print!("{}:\n{changes}", file.path().display()),
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

    async fn shown() -> String {
        send(control(), Request::get("/windows").body(Body::empty()).expect("a request")).await.1
    }

    fn settings(limit: u64, places: u64, buckets: usize) -> String {
        format!(
            r#"{{ "clients": {{ "default": {{ "limit": {limit}, "interval_ms": 3600000 }} }},
                "rooms": {{ "default": {{ "places": {places} }} }},
                "windows": {{ "default": {{ "interval_ms": 7200000, "buckets": {buckets} }} }} }}"#
        )
    }

    #[tokio::test]
    async fn settings_are_swapped_whole_and_wrong_ones_are_answered_422() {
        assert_eq!(ask("alice").await, 200);
        assert_eq!(shown().await, "Get /carts/{id}: 1 in 60s, 60 buckets\n");
        let changes =
            "clients: changed keys: 1\nrooms: changed keys: 1\nwindows: changed keys: 1\n";
        assert_eq!(write(&settings(2, 5, 2)).await, (200, changes.into()));
        assert_eq!((ask("alice").await, ask("alice").await), (200, 429));
        for (text, why) in [
            (
                settings(0, 5, 2),
                "default: the limit is 0; it must be at least 1 at line 1 column 66",
            ),
            (settings(9, 9, 7), "default: 7 buckets do not divide the interval of 7200s"),
            (settings(9, 9, 2).replace("places", "place"), "unknown field `place`"),
            (settings(9, 9, 2).replace("windows", "window"), "unknown field `window`"),
            (
                settings(9, 9, 2).replace(
                    "\"places\": 9 }",
                    r#""places": 9 }, "rules": [ { "match": { "path": "/" } } ]"#,
                ),
                "rooms.rules[0]: keys have no label \"path\"; they have [\"route\"]",
            ),
            ("{".into(), "EOF while parsing an object at line 1 column 1"),
        ] {
            let (status, refused) = write(&text).await;
            assert!(status == 422 && refused.contains(why), "{refused}");
        }
        assert_eq!(ask("alice").await, 429, "the old rules stay");
        assert!(shown().await.ends_with(" in 7200s, 2 buckets\n"), "and the old windows");
        assert_eq!(write(&" ".repeat(LimitRules::MAX_BYTES + 1)).await.0, 413);
        assert_eq!(write(&settings(3, 0, 2)).await.0, 200);
        assert_eq!((ask("alice").await, ask("bob").await), (503, 503), "there is no place");
        assert!(replace(include_bytes!("rules.json")).is_ok(), "the file beside");
    }
}
