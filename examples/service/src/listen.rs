//! The service's port.

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};

/// An address on which the service cannot listen.
#[derive(Debug)]
#[non_exhaustive]
pub(crate) enum ListenError {
    /// Another program listens there.
    Taken { address: SocketAddr },
    /// The system does not allow it, or has no such address.
    Refused { address: SocketAddr, error: io::Error },
}

impl fmt::Display for ListenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ListenError::Taken { address } => {
                write!(f, "listen: another program listens on {address}; port 0 is a free one")
            }
            ListenError::Refused { address, error } => {
                write!(f, "listen: cannot listen on {address}: {error}")
            }
        }
    }
}

impl Error for ListenError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            ListenError::Taken { .. } => None,
            ListenError::Refused { error, .. } => Some(error),
        }
    }
}

/// Listens on an address.
pub(crate) fn on(address: SocketAddr) -> Result<TcpListener, ListenError> {
    let listener = TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    listener.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => ListenError::Taken { address },
        _ => ListenError::Refused { address, error },
    })
}
