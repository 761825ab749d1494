//! A client: HTTP/1.1 over one connection that is kept alive.

use std::io::{Error, Result};
use std::net::SocketAddr;

use axum::body::{Body, Bytes};
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// A connection to a service.
pub(crate) struct Client {
    service: SocketAddr,
    sender: SendRequest<Body>,
}

impl Client {
    pub(crate) async fn connect(service: SocketAddr) -> Result<Client> {
        let stream = TcpStream::connect(service).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(Error::other)?;
        tokio::spawn(connection); // ends when the sender is dropped
        Ok(Client { service, sender })
    }

    /// Sends a request, and waits for the whole answer.
    pub(crate) async fn send(
        &mut self,
        method: &str,
        path: &str,
        body: String,
    ) -> Result<(StatusCode, Bytes)> {
        let request = Request::builder().method(method).uri(path);
        let request = request.header("host", self.service.to_string()).body(Body::from(body));
        self.sender.ready().await.map_err(Error::other)?;
        let answer = self.sender.send_request(request.map_err(Error::other)?).await;
        let (head, body) = answer.map_err(Error::other)?.into_parts();
        let body = body.collect().await.map_err(Error::other)?;
        Ok((head.status, body.to_bytes()))
    }
}
