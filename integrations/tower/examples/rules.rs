//! An axum service whose limits, rooms and windows are settings: it polls a file each second, and
//! has an endpoint for new settings. Invalid ones change nothing, and are answered 422 with the
//! error.
//!
//! `cargo run -p windrow-tower --features json --example rules [FILE]`, and then
//!
//! ```text
//! curl -i localhost:3000/carts/7                          two a second of each client, by address
//! curl -i localhost:3000/carts/7 -H 'x-account: paid-7'   ten a second of an account
//! curl localhost:3001/windows                             GET /carts/{id} has 20 buckets
//! curl -i -X PUT localhost:3001/rules -d @settings.json   200: the numbers of changed keys
//! curl -i -X PUT localhost:3001/rules -d '{}'             422, and the error
//! ```

use std::env;
use std::error::Error;
use std::fmt::Write;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{ConnectInfo, DefaultBodyLimit, MatchedPath, Path};
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
    /// The client. An address of 32 or 128 bits is two numbers, so it is not written out for each
    /// request.
    struct Client { account: str, address_high: u64, address_low: u64 }

    struct Place { route: str }
}

/// The limits of clients: two a second until there are rules.
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

fn client(parts: &Parts) -> Option<Client<'_>> {
    // A real service would verify the account: otherwise a client makes up another for each
    // request.
    let account = parts.headers.get("x-account").and_then(|account| account.to_str().ok());
    if let Some(account) = account {
        return Some(Client { account, address_high: 0, address_low: 0 });
    }
    // A socket of both families maps addresses of IPv4 into IPv6, all of them into one network.
    let address = parts.extensions.get::<ConnectInfo<SocketAddr>>()?.ip().to_canonical();
    let bits = match address {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits() >> 64 << 64, // a client has a network of these
    };
    Some(Client { account: "", address_high: (bits >> 64) as u64, address_low: bits as u64 })
}

fn route(parts: &Parts) -> Option<&str> {
    parts.extensions.get::<MatchedPath>().map(MatchedPath::as_str)
}

/// Returns the service. Requests wait where their rule allows it, for two seconds at most.
fn service() -> Router {
    let limit = LimitLayer::new(&CLIENTS, client)
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
    let service = service().into_make_service_with_connect_info::<SocketAddr>();
    axum::serve(TcpListener::bind("127.0.0.1:3000").await?, service).await
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

    fn from(address: &str) -> Parts {
        let mut request = Request::new(());
        let address: IpAddr = address.parse().expect("an address");
        request.extensions_mut().insert(ConnectInfo(SocketAddr::from((address, 50_000))));
        request.into_parts().0
    }

    /// On a socket of both families, addresses of IPv4 come as ones of IPv6 that map them.
    #[test]
    fn each_address_of_ipv4_is_a_client_and_each_network_of_ipv6() {
        let clients = ["192.0.2.1", "192.0.2.2", "2001:db8:0:1::1", "2001:db8:0:2::1"].map(from);
        for (index, one) in clients.iter().enumerate() {
            assert!(clients[..index].iter().all(|other| client(one) != client(other)), "{one:?}");
        }
        assert_eq!(client(&from("::ffff:192.0.2.1")), client(&clients[0]));
        assert_eq!(client(&from("::ffff:192.0.2.2")), client(&clients[1]));
        assert_eq!(client(&from("2001:db8:0:1:2:3:4:5")), client(&clients[2]));
    }
}
