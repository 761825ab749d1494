//! The service's port.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};

/// Listens on an address.
pub(crate) fn on(address: SocketAddr) -> Result<TcpListener, String> {
    let listener = TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    listener.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => {
            format!("listen: another program listens on {address}; port 0 is a free one")
        }
        _ => format!("listen: cannot listen on {address}: {error}"),
    })
}
