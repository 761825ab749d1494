//! The server, from its first connection to an orderly end.

use std::io::{ErrorKind, Result};
use std::net::TcpListener as Bound;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutWriter;

/// The pause after an error of the system, such as too many open files, which also bounds the lines
/// in the log.
const PAUSE: Duration = Duration::from_secs(1);

/// Errors of one connection, whose client is gone already. They say nothing of the next one.
const GONE: [ErrorKind; 3] =
    [ErrorKind::ConnectionAborted, ErrorKind::ConnectionRefused, ErrorKind::ConnectionReset];

/// The greatest size of the header of a request, in bytes: that of a connection's buffer.
const LONGEST_HEADER: usize = 16 << 10;

/// The limits of connections.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// The number of connections at once. Further ones wait in the system's queue.
    pub(crate) connections: usize,
    /// The longest time until the header of the next request.
    pub(crate) header: Duration,
    /// The longest time for which a client takes no part of its answer.
    pub(crate) write: Duration,
}

/// A server at work.
pub(crate) struct Server {
    /// Told the time that requests in flight have.
    close: oneshot::Sender<Duration>,
    task: JoinHandle<usize>,
}

impl Server {
    /// Serves. A connection ends that does not send the header of its next request in time, or does
    /// not take its answer.
    pub(crate) fn start(listener: Bound, router: Router, limits: Limits) -> Result<Server> {
        let listener = TcpListener::from_std(listener)?;
        let (close, closed) = oneshot::channel();
        let task = tokio::spawn(serve(listener, router, limits, closed));
        Ok(Server { close, task })
    }

    /// Refuses new connections, answers the requests in flight, and ends. Returns the number of
    /// connections that were still open after `limit` and were cut: those of clients that have sent
    /// half a request, or do not read the answer.
    pub(crate) async fn end(self, limit: Duration) -> Result<usize> {
        let _ = self.close.send(limit);
        Ok(self.task.await?)
    }
}

async fn serve(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    mut closed: oneshot::Receiver<Duration>,
) -> usize {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.header).max_buf_size(LONGEST_HEADER);
    let places = Arc::new(Semaphore::new(limits.connections));
    let service = TowerToHyperService::new(router);
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    let limit = loop {
        tokio::select! {
            (place, stream) = accept(&listener, &places) => {
                // A client that asks, and does not read the answer, would hold a place for ever.
                let mut stream = TimeoutWriter::new(stream);
                stream.set_timeout(Some(limits.write));
                let stream = TokioIo::new(Box::pin(stream));
                let connection = http.serve_connection(stream, service.clone());
                let connection = graceful.watch(connection);
                connections.spawn(async move {
                    let _place = place;
                    connection.await
                });
            }
            Some(_) = connections.join_next() => {}
            limit = &mut closed => break limit.unwrap_or_default(),
        }
    };
    drop(listener);
    let ended = timeout(limit, async {
        graceful.shutdown().await;
        while connections.join_next().await.is_some() {}
    });
    if ended.await.is_ok() {
        return 0;
    }
    while connections.try_join_next().is_some() {}
    let open = connections.len();
    connections.shutdown().await; // afterwards no request is running, and the counts stand still
    open
}

/// Returns the next connection, when there is a place for it.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> (OwnedSemaphorePermit, TcpStream) {
    let place = Arc::clone(places).acquire_owned().await.expect("the semaphore is not closed");
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let _ = stream.set_nodelay(true);
                return (place, stream);
            }
            Err(error) if GONE.contains(&error.kind()) => {}
            Err(error) => {
                tracing::warn!(%error, "no connection can be accepted for now");
                sleep(PAUSE).await;
            }
        }
    }
}
