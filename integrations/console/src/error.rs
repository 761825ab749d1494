//! The error of starting the console's own server.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::net::SocketAddr;

/// The error of [`ConsoleService::serve`](crate::ConsoleService::serve).
///
/// ```
/// use windrow_console::{Console, ServeError};
///
/// let console = Console::new("shop").build();
/// let error = console.serve("0.0.0.0:9090").unwrap_err();
/// assert!(matches!(error, ServeError::BeyondLoopback { .. }));
/// assert_eq!(
///     error.to_string(),
///     "0.0.0.0:9090 can be reached from other machines: use `serve_beyond_loopback` for that"
/// );
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum ServeError {
    /// The address is invalid: it is not `host:port`, or the host is not known.
    Address {
        /// The address as given.
        address: String,
        /// The error of looking it up.
        error: io::Error,
    },
    /// The address can be reached from other machines.
    BeyondLoopback {
        /// The resolved address.
        address: SocketAddr,
    },
    /// The address is taken, or cannot be listened on.
    Listen {
        /// The resolved address.
        address: SocketAddr,
        /// The system's error.
        error: io::Error,
    },
    /// The system could not start a thread, or provide means to wait for connections.
    Start {
        /// The system's error.
        error: io::Error,
    },
}

impl Display for ServeError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ServeError::Address { address, error } => {
                write!(f, "`{address}` is not an address to listen on: {error}")
            }
            ServeError::BeyondLoopback { address } => write!(
                f,
                "{address} can be reached from other machines: use `serve_beyond_loopback` for that"
            ),
            ServeError::Listen { address, error } => {
                write!(f, "cannot listen on {address}: {error}")
            }
            ServeError::Start { error } => write!(f, "cannot start the server: {error}"),
        }
    }
}

impl Error for ServeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            ServeError::Address { error, .. }
            | ServeError::Listen { error, .. }
            | ServeError::Start { error } => Some(error),
            ServeError::BeyondLoopback { .. } => None,
        }
    }
}
