//! The error of starting a server.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::net::SocketAddr;

/// The error of starting a server.
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
    /// The address can be reached from other machines, and the server is for this machine alone.
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
                "{address} can be reached from other machines, and the server is for this one alone"
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
