//! A server of the console's own, on a thread of its own.

use std::time::Duration;

use http::Request;
use hyper::body::Incoming;
use windrow_http::server::{self, Limits, Reach, Site};

use crate::sent::body::Body;
use crate::service::{ConsoleService, Hosts, Responding};

pub use windrow_http::server::{ServeError, Server};

/// The limits of a server, whose answers may be streams. The buffers are those for a client that
/// does not read: by hyper, and by the kernel.
const LIMITS: Limits = Limits {
    connections: 256,
    head: Duration::from_secs(10),
    whole: None,
    buffer: 64 * 1024,
    send_buffer: Some(256 * 1024),
};

/// # A server of its own
impl ConsoleService {
    /// Serves the console on a thread of its own, at an address of this machine that other machines
    /// cannot reach, such as `127.0.0.1:9090`, or `localhost:0` for any free port.
    ///
    /// It answers only to a `Host` that names this machine (`localhost`, or a loopback address), so
    /// that no page from elsewhere can reach it under a name of its own.
    ///
    /// There are at most 256 connections and 64 streams at once. A connection is closed if it has
    /// sent no request for 10 s, or takes nothing of an answer for 10 s. When all 256 are taken, a
    /// new client gets the place of the one that came first among those without a request. The data
    /// that waits to be sent to one client is at most 64 KiB and one frame, which streams share,
    /// and the system's buffer of the connection, for which 256 KiB are requested.
    ///
    /// # Errors
    ///
    /// Returns [`ServeError`] if the address is invalid, can be reached from other machines (for
    /// that, use [`serve_beyond_loopback`](Self::serve_beyond_loopback)), or is taken; or if no
    /// thread can be started.
    ///
    /// ```
    /// use windrow_console::{Console, ServeError};
    ///
    /// let console = Console::new("shop").build();
    /// let server = console.serve("127.0.0.1:0")?;
    /// println!("http://{}/", server.address());
    /// server.stop();
    ///
    /// let error = console.serve("0.0.0.0:9090").unwrap_err();
    /// assert!(matches!(error, ServeError::BeyondLoopback { .. }));
    /// # Ok::<(), ServeError>(())
    /// ```
    pub fn serve(&self, address: &str) -> Result<Server, ServeError> {
        // The streams of this copy end with it.
        server::serve(self.for_server(Hosts::ThisMachine), address, Reach::Loopback, LIMITS)
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
        server::serve(self.for_server(Hosts::Any), address, Reach::Any, LIMITS)
    }
}

impl Site for ConsoleService {
    type Body = Body;
    type Answer = Responding;

    fn respond(&self, request: &Request<Incoming>) -> Responding {
        ConsoleService::respond(self, request)
    }

    fn close(&self) {
        ConsoleService::close(self);
    }
}
