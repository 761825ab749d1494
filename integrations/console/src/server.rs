//! A server of the console's own, on a thread of its own.

use std::convert::Infallible;
use std::fmt::{self, Debug, Formatter};
use std::future::poll_fn;
use std::net::{SocketAddr, ToSocketAddrs};
use std::pin::pin;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use http::{Request, StatusCode};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

use crate::error::ServeError;
use crate::host::names_this_machine;
use crate::service::{ConsoleService, Responding, plain};
use steady::Steady;

mod steady;

/// The greatest number of connections at a time. Further ones are closed as they come.
const MOST_CONNECTIONS: usize = 256;

/// The time in which a client must send a request, and so the time for which a connection may be
/// idle.
const IDLE: Duration = Duration::from_secs(10);

/// The time that answers under way have when the server is stopped.
const GRACE: Duration = Duration::from_secs(2);

/// The size of the buffers for a client that does not read: by hyper, and by the kernel.
const BUFFER: usize = 64 * 1024;
const SEND_BUFFER: u32 = 256 * 1024;

/// # A server of its own
impl ConsoleService {
    /// Serves the console on a thread of its own, at an address of this machine that other machines
    /// cannot reach, such as `127.0.0.1:9090`, or `localhost:0` for any free port.
    ///
    /// It answers only to a `Host` that names this machine (`localhost`, or a loopback address), so
    /// that no page from elsewhere can reach it under a name of its own.
    ///
    /// There are at most 256 connections and 64 streams at once. A connection is closed if it has
    /// sent no request for 10 s, or takes nothing of an answer for 10 s. The data that waits to be
    /// sent to one client is at most 64 KiB and one frame, which streams share, and the system's
    /// buffer of the connection, for which 256 KiB are requested.
    ///
    /// # Errors
    ///
    /// Returns [`ServeError`] if the address is invalid, can be reached from other machines, or is
    /// taken; or if no thread can be started.
    ///
    /// ```
    /// let server = windrow_console::Console::new("shop").build().serve("127.0.0.1:0")?;
    /// println!("http://{}/", server.address());
    /// server.stop();
    /// # Ok::<(), windrow_console::ServeError>(())
    /// ```
    pub fn serve(&self, address: &str) -> Result<Server, ServeError> {
        serve(self.for_server(), address) // the streams of this copy end with it
    }

    /// Serves the console as [`serve`](Self::serve) does, but at any address, and for any `Host`.
    ///
    /// Every client that reaches it sees all labels, rates and times. It has no password, and no
    /// encryption.
    ///
    /// # Errors
    ///
    /// Returns [`ServeError`] if the address is invalid or taken; or if no thread can be started.
    ///
    /// ```no_run
    /// let console = windrow_console::Console::new("shop").build();
    /// let server = console.serve_beyond_loopback("0.0.0.0:9090")?;
    /// # Ok::<(), windrow_console::ServeError>(())
    /// ```
    pub fn serve_beyond_loopback(&self, address: &str) -> Result<Server, ServeError> {
        serve_beyond_loopback(self.for_server(), address)
    }
}

/// A site, which a server answers with.
pub(crate) trait Site: Clone + Send + Sync + 'static {
    fn respond<B>(&self, request: &Request<B>) -> Responding;

    /// Ends the streams, if there are any.
    fn close(&self);
}

impl Site for ConsoleService {
    fn respond<B>(&self, request: &Request<B>) -> Responding {
        ConsoleService::respond(self, request)
    }

    fn close(&self) {
        ConsoleService::close(self);
    }
}

/// Serves a site at an address of this machine that other machines cannot reach.
pub(crate) fn serve(site: impl Site, address: &str) -> Result<Server, ServeError> {
    let found = addresses(address)?;
    if let Some(address) = found.iter().find(|at| !at.ip().to_canonical().is_loopback()) {
        return Err(ServeError::BeyondLoopback { address: *address });
    }
    start(site, address, &found, true)
}

/// Serves a site at any address.
pub(crate) fn serve_beyond_loopback(site: impl Site, address: &str) -> Result<Server, ServeError> {
    start(site, address, &addresses(address)?, false)
}

fn start(
    site: impl Site,
    given: &str,
    found: &[SocketAddr],
    for_this_machine: bool,
) -> Result<Server, ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| ServeError::Start { error })?;
    let listener = listen(&runtime, given, found)?;
    let address = listener.local_addr().map_err(|error| ServeError::Start { error })?;

    let (stop, stopped) = watch::channel(());
    let serve = move || {
        runtime.block_on(run(listener, site, for_this_machine, stopped));
        // A name that is being looked up is not waited for.
        runtime.shutdown_background();
    };
    let thread = thread::Builder::new().name("windrow-http".to_owned()).spawn(serve);
    let thread = thread.map_err(|error| ServeError::Start { error })?;
    Ok(Server { address, stop: Some(stop), thread: Some(thread) })
}

/// A server of a console, from [`ConsoleService::serve`]. It ends when this is dropped.
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
    /// let server = windrow_console::Console::new("shop").build().serve("127.0.0.1:0")?;
    /// assert!(server.address().ip().is_loopback());
    /// assert_ne!(server.address().port(), 0);
    /// # Ok::<(), windrow_console::ServeError>(())
    /// ```
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops the server: no new connection is accepted, streams end, and answers under way have two
    /// seconds to finish. When this returns, the thread has ended. Dropping the server does the
    /// same.
    ///
    /// ```
    /// let console = windrow_console::Console::new("shop").build();
    /// let server = console.serve("127.0.0.1:0")?;
    /// let address = server.address().to_string();
    /// server.stop();
    /// console.serve(&address)?; // it is free again
    /// # Ok::<(), windrow_console::ServeError>(())
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

fn addresses(given: &str) -> Result<Vec<SocketAddr>, ServeError> {
    let found = given.to_socket_addrs().map(Iterator::collect);
    found.map_err(|error| ServeError::Address { address: given.to_owned(), error })
}

/// Listens at the first of the addresses where that is possible.
fn listen(runtime: &Runtime, given: &str, found: &[SocketAddr]) -> Result<TcpListener, ServeError> {
    let _context = runtime.enter();
    let nowhere = std::io::Error::other("it comes to no address");
    let mut failed = ServeError::Address { address: given.to_owned(), error: nowhere };
    for address in found {
        match listen_at(*address) {
            Ok(listener) => return Ok(listener),
            Err(error) => failed = ServeError::Listen { address: *address, error },
        }
    }
    Err(failed)
}

fn listen_at(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // On systems other than Unix, this would let two programs listen at one address.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(SEND_BUFFER)?; // connections inherit it
    socket.bind(address)?;
    socket.listen(1024)
}

/// Serves until the other end of `stopped` is dropped.
async fn run(
    listener: TcpListener,
    site: impl Site,
    for_this_machine: bool,
    mut stopped: watch::Receiver<()>,
) {
    let slots = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let accept = {
        let (slots, site, stopped) = (Arc::clone(&slots), site.clone(), stopped.clone());
        tokio::spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else {
                    sleep(Duration::from_millis(50)).await; // too many open files, say
                    continue;
                };
                let Ok(slot) = Arc::clone(&slots).try_acquire_owned() else { continue };
                let (site, stopped) = (site.clone(), stopped.clone());
                tokio::spawn(async move {
                    connection(stream, &site, for_this_machine, stopped).await;
                    drop(slot);
                });
            }
        })
    };
    let _ = stopped.changed().await;
    accept.abort();
    site.close();
    let all = u32::try_from(MOST_CONNECTIONS).unwrap_or(u32::MAX);
    // Connections that are left then end with the runtime.
    let _ = timeout(GRACE, slots.acquire_many(all)).await;
}

/// Serves one client until it leaves, or must leave.
async fn connection(
    stream: TcpStream,
    site: &impl Site,
    for_this_machine: bool,
    mut stopped: watch::Receiver<()>,
) {
    let _ = stream.set_nodelay(true); // small frames, each at once
    let service = service_fn(|request: Request<hyper::body::Incoming>| {
        let responding = if for_this_machine && !names_this_machine(request.headers()) {
            let answer = "This console answers only to localhost.\n";
            Responding::at_once(plain(StatusCode::MISDIRECTED_REQUEST, answer))
        } else {
            site.respond(&request)
        };
        async { Ok::<_, Infallible>(responding.await) }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(IDLE).max_buf_size(BUFFER);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(Steady::new(stream)), service));
    let mut stopped = pin!(stopped.changed());
    let mut is_stopping = false;
    // Errors of a client are not reported.
    let _ = poll_fn(|cx| {
        if !is_stopping && stopped.as_mut().poll(cx).is_ready() {
            is_stopping = true;
            connection.as_mut().graceful_shutdown();
        }
        connection.as_mut().poll(cx)
    })
    .await;
}
