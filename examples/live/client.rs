//! A client: HTTP/1.1 over one connection that is kept alive.

use std::io::{Error, Result};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt;
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::sleep;

use crate::service::PATH;

/// How long a refused client waits before it asks again.
const BACK_OFF: Duration = Duration::from_millis(3);

/// Sends one request after another until told to stop, and finishes the last one.
/// Returns how many answers it received.
pub(crate) async fn run(service: SocketAddr, stop: &AtomicBool) -> Result<u64> {
    let stream = TcpStream::connect(service).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await.map_err(Error::other)?;
    let connection = tokio::spawn(connection);
    let mut answers = 0;
    while !stop.load(Relaxed) {
        let request = Request::get(PATH).header("host", service.to_string()).body(Body::empty());
        let request = request.map_err(Error::other)?;
        sender.ready().await.map_err(Error::other)?;
        let answer = sender.send_request(request).await.map_err(Error::other)?;
        let status = answer.status();
        answer.into_body().collect().await.map_err(Error::other)?;
        answers += 1;
        match status {
            StatusCode::OK | StatusCode::INTERNAL_SERVER_ERROR => {}
            StatusCode::TOO_MANY_REQUESTS => sleep(BACK_OFF).await,
            other => return Err(Error::other(format!("not an answer of this service: {other}"))),
        }
    }
    drop(sender); // closes the connection
    connection.await?.map_err(Error::other)?;
    Ok(answers)
}
