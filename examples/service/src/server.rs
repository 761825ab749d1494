//! The server, from its first connection to an orderly end.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutWriter;
use tokio_util::sync::CancellationToken;

use crate::settings::Settings;

/// The pause after an error of the system, such as too many open files, which also bounds the lines
/// in the log.
const PAUSE: Duration = Duration::from_secs(1);

/// Errors of one connection, whose client is gone already. They say nothing of the next one.
const GONE: [ErrorKind; 3] =
    [ErrorKind::ConnectionAborted, ErrorKind::ConnectionRefused, ErrorKind::ConnectionReset];

/// The greatest size of the header of a request, in bytes: that of a connection's buffer.
const LONGEST_HEADER: usize = 16 << 10;

/// Serves until `closed`, answers the requests in flight, and ends. A connection ends before that
/// if it does not send the header of its next request in time, or does not take its answer.
///
/// Returns the number of connections that were still open after the limit of the drain and were
/// cut: those of clients that have sent half a request, or do not read the answer.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    settings: Settings,
    closed: CancellationToken,
) -> usize {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(settings.header_timeout)
        .max_buf_size(LONGEST_HEADER);
    let places = Arc::new(Semaphore::new(settings.max_connections));
    let service = TowerToHyperService::new(router);
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            (place, stream) = accept(&listener, &places) => {
                // A client that asks, and does not read the answer, would hold a place for ever.
                let mut stream = TimeoutWriter::new(stream);
                stream.set_timeout(Some(settings.write_timeout));
                let stream = TokioIo::new(Box::pin(stream));
                let connection = http.serve_connection(stream, service.clone());
                let connection = graceful.watch(connection);
                connections.spawn(async move {
                    let _place = place;
                    connection.await
                });
            }
            Some(_) = connections.join_next() => {}
            () = closed.cancelled() => break,
        }
    }
    drop(listener);
    let ended = timeout(settings.drain_limit, async {
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
