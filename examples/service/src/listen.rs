//! The service's port.

use std::io::{Error, ErrorKind, Result};
use std::net::{SocketAddr, TcpListener};

/// Listens on an address. An error says which, and why not.
pub(crate) fn on(address: SocketAddr) -> Result<TcpListener> {
    let listener = TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    listener.map_err(|error| {
        let says = match error.kind() {
            ErrorKind::AddrInUse => {
                format!("another program listens on {address}; port 0 is a free one")
            }
            _ => format!("cannot listen on {address}: {error}"),
        };
        Error::new(error.kind(), format!("listen: {says}"))
    })
}
