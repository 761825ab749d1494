//! The console behind real HTTP: what each endpoint says, how streams go, and what its own server
//! bears.

mod answers;
mod endpoints;
mod heavy;
mod page;
mod past;
mod percentiles;
mod process;
mod server;
mod streams;
mod unusual;
mod week;
mod yesterday;

use std::net::SocketAddr;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use http::{Method, Request, Response};
use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use windrow::{Counter, Family, SlidingWindow, events, labels};
use windrow_console::{Body, Console, ConsoleService, Responding, Server};

events! { enum Http { Pass: Count, Exception: Count, Open: Signed, Rt: Value, Peak: Maximum } }

labels! { struct Route { route: str, status: u16 } }

type Routes = Family<Route<'static>, SlidingWindow<Http>>;

/// Routes of a test's own, of a minute in sixty buckets.
fn routes() -> &'static Routes {
    routes_up_to(1_000)
}

/// Routes of which there may be up to `limit`.
fn routes_up_to(limit: usize) -> &'static Routes {
    let minute = || {
        let builder = SlidingWindow::builder().interval(Duration::from_secs(60)).buckets(60);
        builder.build().unwrap()
    };
    Box::leak(Box::new(Routes::with_constructor(minute).with_max_series(limit)))
}

fn counter() -> &'static Counter {
    Box::leak(Box::default())
}

/// Returns a console of one family, under the name `requests`.
fn console_of(routes: &'static Routes) -> ConsoleService {
    let mut console = Console::new("shop");
    console.show("requests", "Requests by route", routes).unwrap();
    console.build()
}

fn served(console: &ConsoleService) -> Server {
    console.serve("127.0.0.1:0").unwrap()
}

/// Sends a request on a connection of its own.
async fn send(address: SocketAddr, request: Request<Empty<Bytes>>) -> Response<Incoming> {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let response = sender.send_request(request).await.unwrap();
    // The connection goes on as long as the body is read.
    response
}

/// Returns the response to a request for which nothing has to be read.
fn at_once(responding: Responding) -> Response<Body> {
    let mut responding = pin!(responding);
    match responding.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(response) => response,
        Poll::Pending => panic!("it is not there at once"),
    }
}

fn request(method: Method, path: &str) -> Request<Empty<Bytes>> {
    let request = Request::builder().method(method).uri(path).header("host", "localhost");
    request.body(Empty::new()).unwrap()
}

async fn get(address: SocketAddr, path: &str) -> Response<Incoming> {
    send(address, request(Method::GET, path)).await
}

async fn text(response: Response<Incoming>) -> String {
    let body = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(body.to_vec()).unwrap()
}

async fn json(address: SocketAddr, path: &str) -> Value {
    let response = get(address, path).await;
    assert_eq!(response.status(), 200);
    serde_json::from_str(&text(response).await).unwrap()
}

/// Returns the series of the first metric in `/snapshot.json`, by its key.
fn series<'s>(snapshot: &'s Value, key: &str) -> &'s Value {
    let all = snapshot["metrics"][0]["series"].as_array().unwrap();
    all.iter().find(|series| series["key"] == key).unwrap()
}

/// Returns a key as a query has it.
fn encoded(key: &str) -> String {
    let byte = |byte: &u8| {
        if byte.is_ascii_alphanumeric() {
            char::from(*byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    key.as_bytes().iter().map(byte).collect()
}
