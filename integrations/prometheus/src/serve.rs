//! A server of scrapes, on a thread of its own.

use std::convert::Infallible;
use std::fmt::{self, Debug, Formatter};
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

use crate::respond::Scraped;

pub use error::ServeError;

mod answer;
mod error;

/// The greatest number of connections at a time. Further ones are closed as they come.
const MOST_CONNECTIONS: usize = 64;

/// The time that a connection has, from its begin until its client has the whole answer.
const TIME: Duration = Duration::from_secs(30);

/// The time that open connections have when the server is stopped.
const GRACE: Duration = Duration::from_secs(2);

/// The size of the longest head of a request, and of the buffer for an answer.
const BUFFER: usize = 16 * 1024;

/// Serves metrics at `/metrics` of an address such as `0.0.0.0:9090`, or `localhost:0` for any
/// free port, on a thread of its own.
///
/// It answers GET and HEAD over HTTP/1.1 as [`Exposition::respond`](crate::Exposition::respond)
/// does, and any other path or method by 404 or 405. Every client that reaches the address can read
/// all metrics: it has no password, and no encryption.
///
/// There are at most 64 connections at once, each for one request with a head of at most 16 KiB.
/// A connection is closed when its client has not taken the whole answer 30 s after its begin. A
/// scrape is encoded on the server's thread, one after the other; if a source panics, its
/// answer is 500.
///
/// # Errors
///
/// Returns [`ServeError`] if the address is invalid or taken, or if no thread can be started.
///
/// ```
/// use windrow_prometheus::{Exposition, serve};
///
/// static HITS: windrow::Counter = windrow::Counter::new();
///
/// let mut metrics = Exposition::new();
/// metrics.register("hits", "Hits", &HITS)?;
/// let server = serve("127.0.0.1:0", metrics)?;
/// println!("http://{}/metrics", server.address());
/// server.stop();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn serve(address: &str, metrics: impl Scraped) -> Result<Server, ServeError> {
    serve_for(TIME, address, Arc::new(metrics))
}

/// Serves with another time for a connection.
fn serve_for(
    time: Duration,
    address: &str,
    metrics: Arc<dyn Scraped>,
) -> Result<Server, ServeError> {
    let start = |error| ServeError::Start { error };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(start)?;
    let listener = listen(&runtime, address)?;
    let address = listener.local_addr().map_err(start)?;
    let (stop, stopped) = watch::channel(());
    let run = move || runtime.block_on(run(listener, metrics, time, stopped));
    let thread = thread::Builder::new().name("windrow-scrape".to_owned()).spawn(run);
    Ok(Server { address, stop: Some(stop), thread: Some(thread.map_err(start)?) })
}

/// A server of scrapes: from [`serve`]. It ends when this is dropped.
#[must_use = "it ends when it is dropped"]
pub struct Server {
    address: SocketAddr,
    /// The sender whose drop stops the server.
    stop: Option<watch::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Returns the address at which the server listens.
    ///
    /// ```
    /// # use windrow_prometheus::Exposition;
    /// let server = windrow_prometheus::serve("127.0.0.1:0", Exposition::new())?;
    /// assert_ne!(server.address().port(), 0);
    /// # Ok::<(), windrow_prometheus::ServeError>(())
    /// ```
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops the server: no new connection is accepted, and open ones have two seconds to finish.
    /// When this returns, the thread has ended: so it waits for a source that is just being read.
    /// Dropping the server does the same.
    ///
    /// ```
    /// # use windrow_prometheus::Exposition;
    /// let server = windrow_prometheus::serve("127.0.0.1:0", Exposition::new())?;
    /// let address = server.address().to_string();
    /// server.stop();
    /// windrow_prometheus::serve(&address, Exposition::new())?; // it is free again
    /// # Ok::<(), windrow_prometheus::ServeError>(())
    /// ```
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // The thread does not panic; if it did, there is nothing left to stop.
            let _ = thread.join();
        }
    }
}

/// Shows the address.
impl Debug for Server {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Listens at the first of the addresses where that is possible.
fn listen(runtime: &Runtime, given: &str) -> Result<TcpListener, ServeError> {
    let invalid = |error| ServeError::Address { address: given.to_owned(), error };
    let found = given.to_socket_addrs().map_err(invalid)?;
    let mut failed = invalid(std::io::Error::other("it comes to no address"));
    for address in found {
        // It lets a new server follow one that has just ended, not one that is there.
        match runtime.block_on(TcpListener::bind(address)) {
            Ok(listener) => return Ok(listener),
            Err(error) => failed = ServeError::Listen { address, error },
        }
    }
    Err(failed)
}

/// Serves until the other end of `stopped` is dropped.
async fn run(
    listener: TcpListener,
    metrics: Arc<dyn Scraped>,
    time: Duration,
    mut stopped: watch::Receiver<()>,
) {
    let slots = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let accept = {
        let slots = Arc::clone(&slots);
        tokio::spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else {
                    sleep(Duration::from_millis(50)).await; // too many open files, say
                    continue;
                };
                let Ok(slot) = Arc::clone(&slots).try_acquire_owned() else { continue };
                let metrics = Arc::clone(&metrics);
                tokio::spawn(async move {
                    // The connection of a client that takes too long ends with its future.
                    let _ = timeout(time, connection(stream, &*metrics)).await;
                    drop(slot);
                });
            }
        })
    };
    let _ = stopped.changed().await;
    accept.abort();
    let all = u32::try_from(MOST_CONNECTIONS).unwrap_or(u32::MAX);
    // Connections that are left then end with the runtime.
    let _ = timeout(GRACE, slots.acquire_many(all)).await;
}

/// Answers one request of a client.
async fn connection(stream: TcpStream, metrics: &dyn Scraped) {
    let service = service_fn(|request: Request<Incoming>| {
        let answer = answer::to(&request, metrics);
        async { Ok::<_, Infallible>(answer) }
    });
    let mut builder = http1::Builder::new();
    builder.keep_alive(false).header_read_timeout(None).max_buf_size(BUFFER);
    // Errors of a client are not reported.
    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn a_connection_ends_when_its_time_has_passed() {
        let soon = Duration::from_millis(50);
        let server = serve_for(soon, "127.0.0.1:0", Arc::new(crate::Exposition::new())).unwrap();
        for sent in ["", "GET /metrics HTTP/1.1\r\nHost:"] {
            let mut stream = std::net::TcpStream::connect(server.address()).unwrap();
            stream.set_read_timeout(Some(TIME)).unwrap();
            stream.write_all(sent.as_bytes()).unwrap();
            // Without an end, this read fails by its own time.
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            assert_eq!(answer, "");
        }
    }
}
