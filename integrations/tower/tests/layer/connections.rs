//! Real connections: what becomes of a request whose client goes away.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::routing::get;
use bytes::Bytes;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use windrow_tower::{MetricsLayer, RoomLayer, Rooms, Routes};

use crate::limited::Client;
use crate::{Counts, matched, routes};

/// Waits until the route's numbers are these: the server notices a client's end when it next looks.
async fn until(routes: &'static Routes, route: &str, expected: Counts) {
    let begun = Instant::now();
    while crate::get(routes, route) != expected {
        let counts = crate::get(routes, route);
        assert!(begun.elapsed() < Duration::from_secs(30), "{counts:?}, not {expected:?}");
        sleep(Duration::from_millis(5)).await;
    }
}

struct Channel(mpsc::Receiver<Bytes>);

impl http_body::Body for Channel {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

fn falls_over() -> &'static str {
    panic!("the handler fell over")
}

/// Starts a server with the layer; `/stream` sends the given frames, until the sender is dropped.
async fn serve(routes: &'static Routes, frames: mpsc::Receiver<Bytes>) -> TcpStream {
    let frames = Arc::new(Mutex::new(Some(frames)));
    let stream = move || {
        let frames = frames.lock().expect("no panic").take().expect("one request");
        async move { Body::new(Channel(frames)) }
    };
    let never = || async {
        std::future::pending::<()>().await;
        "never"
    };
    let app = Router::new()
        .route("/stream", get(stream))
        .route("/never", get(never))
        .route("/panic", get(|| async { falls_over() }))
        .layer(MetricsLayer::new(routes, matched));
    TcpStream::connect(listen(app).await).await.expect("a connection")
}

/// Returns a server, and where it is.
async fn listen(app: Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

/// Sends a request; and the task that keeps the connection open.
async fn ask(
    connection: TcpStream,
    path: &'static str,
) -> (JoinHandle<hyper::Result<Response<Incoming>>>, JoinHandle<()>) {
    let handshake = http1::handshake(TokioIo::new(connection)).await.expect("HTTP");
    let (mut sender, connection) = handshake;
    let open = tokio::spawn(async move { drop(connection.await) });
    let request = Request::builder().uri(path).header("host", "test").body(Empty::<Bytes>::new());
    let request = request.expect("a request");
    (tokio::spawn(async move { sender.send_request(request).await }), open)
}

const STREAMING: Counts = Counts { pass: 1, answered: 1, exception: 0, cancelled: 0, in_flight: 1 };

#[tokio::test]
async fn a_stream_ends_with_its_last_frame() {
    let routes = routes();
    let (sender, frames) = mpsc::channel(1);
    let (response, _open) = ask(serve(routes, frames).await, "/stream").await;
    let mut body = response.await.expect("no panic").expect("a response").into_body();
    for _ in 0..3 {
        sender.send(Bytes::from_static(b"frame")).await.expect("a reader");
        assert!(body.frame().await.expect("a frame").is_ok());
        assert_eq!(crate::get(routes, "/stream"), STREAMING);
    }
    drop(sender);
    assert!(body.frame().await.is_none());
    until(routes, "/stream", Counts::successes(1)).await;
}

#[tokio::test]
async fn a_client_that_goes_away_mid_stream_ends_the_flight() {
    let routes = routes();
    let (sender, frames) = mpsc::channel(1);
    let (response, open) = ask(serve(routes, frames).await, "/stream").await;
    let mut body = response.await.expect("no panic").expect("a response").into_body();
    sender.send(Bytes::from_static(b"frame")).await.expect("a reader");
    assert!(body.frame().await.expect("a frame").is_ok());
    assert_eq!(crate::get(routes, "/stream"), STREAMING);
    open.abort(); // closes the connection
    until(routes, "/stream", Counts::successes(1)).await;
    assert!(sender.is_closed(), "the body is gone");
}

#[tokio::test]
async fn a_client_that_goes_away_before_the_response_cancels() {
    let routes = routes();
    let (_sender, frames) = mpsc::channel(1);
    let (_response, open) = ask(serve(routes, frames).await, "/never").await;
    until(routes, "/never", Counts { answered: 0, ..STREAMING }).await;
    open.abort();
    until(routes, "/never", Counts { pass: 1, cancelled: 1, ..Counts::default() }).await;
}

#[tokio::test]
async fn a_handler_that_panics_is_an_exception() {
    let routes = routes();
    let (_sender, frames) = mpsc::channel(1);
    let (response, _open) = ask(serve(routes, frames).await, "/panic").await;
    assert!(response.await.expect("no panic here").is_err());
    until(routes, "/panic", Counts { pass: 1, exception: 1, ..Counts::default() }).await;
}

#[tokio::test]
async fn a_client_that_goes_away_leaves_its_room() {
    static ROOMS: Rooms<Client> = Rooms::new(1, |_| 2);
    let never_ends = || async {
        let (sender, frames) = mpsc::channel(1);
        std::mem::forget(sender);
        Body::new(Channel(frames))
    };
    let everybody = RoomLayer::new(&ROOMS, |_| Some(Client { client: "everybody" }));
    let address = listen(Router::new().route("/", get(never_ends)).layer(everybody)).await;
    let ask = || async {
        let connection = TcpStream::connect(address).await.expect("a connection");
        let (response, open) = ask(connection, "/").await;
        (response.await.expect("no panic").expect("a response"), open)
    };
    let (first, open) = ask().await;
    let (second, _open) = ask().await;
    let (third, _closed) = ask().await;
    assert_eq!([&first, &second, &third].map(|it| it.status().as_u16()), [200, 200, 503]);
    open.abort(); // closes the connection
    let begun = Instant::now();
    while ask().await.0.status() == 503 {
        assert!(begun.elapsed() < Duration::from_secs(30), "its place is not free");
        sleep(Duration::from_millis(5)).await;
    }
}
