//! Why the console's own server cannot be started.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::net::SocketAddr;

/// Why [`ConsoleService::serve`](crate::ConsoleService::serve) fails.
///
/// ```
/// use windrow_console::{Console, ServeError};
///
/// let console = Console::new("shop").build();
/// let error = console.serve("0.0.0.0:9090").unwrap_err();
/// assert!(matches!(error, ServeError::BeyondLoopback { .. }));
/// assert_eq!(
///     error.to_string(),
///     "0.0.0.0:9090 can be reached from other machines: `serve_beyond_loopback` serves there"
/// );
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum ServeError {
    /// The address is none: it is not `host:port`, or the host is not known.
    Address {
        /// As given.
        address: String,
        /// What looking it up said.
        error: io::Error,
    },
    /// The address can be reached from other machines.
    BeyondLoopback {
        /// What the address comes to.
        address: SocketAddr,
    },
    /// The address is taken, or cannot be listened on.
    Listen {
        /// What the address comes to.
        address: SocketAddr,
        /// What the system said.
        error: io::Error,
    },
    /// The system gave no thread, or no means to wait for connections.
    Start {
        /// What the system said.
        error: io::Error,
    },
}

impl Display for ServeError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ServeError::Address { address, error } => {
                write!(f, "`{address}` is no address to listen on: {error}")
            }
            ServeError::BeyondLoopback { address } => write!(
                f,
                "{address} can be reached from other machines: `serve_beyond_loopback` serves there"
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
