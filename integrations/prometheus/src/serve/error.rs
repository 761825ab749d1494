//! The error of starting a server of scrapes.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::net::SocketAddr;

/// The error of [`serve`](crate::serve()).
///
/// ```
/// use windrow_prometheus::{Exposition, ServeError, serve};
///
/// let server = serve("127.0.0.1:0", Exposition::new())?;
/// let taken = server.address();
/// let error = serve(&taken.to_string(), Exposition::new()).unwrap_err();
/// assert!(matches!(error, ServeError::Listen { address, .. } if address == taken));
/// # Ok::<(), ServeError>(())
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
        }
    }
}
