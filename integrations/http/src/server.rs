//! A server on a thread of its own.
//!
//! The number of its connections is bounded. The time in which a client sends a request, and in
//! which the client takes a part of the answer, is bounded, too. **Silent clients keep no other
//! client out**: when all places are taken, a new client gets the place of the connection that came
//! first among those that wait for the head of a request, however slowly its client sends that. A
//! connection whose answer is under way keeps its place.

use std::net::SocketAddr;
use std::thread::{self, JoinHandle};

use tokio::sync::watch;

pub use error::ServeError;
pub use listen::Reach;
pub use site::{Limits, Site};

mod answering;
mod connections;
mod error;
mod listen;
mod patient;
mod site;

/// Serves a site at an address such as `127.0.0.1:9090`, or `localhost:0` for any free port, on a
/// thread of its own.
///
/// # Errors
///
/// Returns [`ServeError`] if the address is invalid, taken, or beyond `reach`, or if no thread can
/// be started.
///
/// ```
/// use std::{future::{Ready, ready}, time::Duration};
/// use http_body_util::Full;
/// use hyper::{Request, Response, body::{Bytes, Incoming}};
/// use windrow_http::server::{Limits, Reach, Site, serve};
///
/// #[derive(Clone)]
/// struct Hello;
///
/// impl Site for Hello {
///     type Body = Full<Bytes>;
///     type Answer = Ready<Response<Full<Bytes>>>;
///
///     fn respond(&self, _: &Request<Incoming>) -> Self::Answer {
///         ready(Response::new(Full::from("hello")))
///     }
/// }
///
/// let ten = Duration::from_secs(10);
/// let limits = Limits {
///     connections: 64, head: ten, whole: Some(ten), buffer: 16 * 1024, send_buffer: None,
/// };
/// let server = serve(Hello, "127.0.0.1:0", Reach::Loopback, limits)?;
/// println!("http://{}/", server.address());
/// server.stop();
/// # Ok::<(), windrow_http::server::ServeError>(())
/// ```
pub fn serve(
    site: impl Site,
    address: &str,
    reach: Reach,
    limits: Limits,
) -> Result<Server, ServeError> {
    let start = |error| ServeError::Start { error };
    let found = listen::addresses(address, reach)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(start)?;
    let listener = listen::listen(&runtime, address, &found, limits.send_buffer)?;
    let address = listener.local_addr().map_err(start)?;
    let (stop, stopped) = watch::channel(());
    let run = move || {
        runtime.block_on(connections::run(&listener, site, limits, stopped));
        runtime.shutdown_background(); // connections that are left end
    };
    let thread = thread::Builder::new().name("windrow-http".to_owned()).spawn(run);
    Ok(Server { address, stop: Some(stop), thread: Some(thread.map_err(start)?) })
}

/// A server, which ends when it is dropped.
#[derive(Debug)]
#[must_use = "it ends when it is dropped"]
pub struct Server {
    address: SocketAddr,
    /// The sender whose drop stops the server.
    stop: Option<watch::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Returns the address at which the server listens: with the port that it has found, where any
    /// was asked for.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops the server: no new connection is accepted, streams end, and answers under way have two
    /// seconds to finish. When this returns, the thread has ended: so it waits for a source that is
    /// just being read. Dropping the server does the same.
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
