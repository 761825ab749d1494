//! The service's port.

use std::io::ErrorKind;
use std::net::TcpListener;

/// Listens on loopback, on a free port unless one is given.
pub(crate) fn on(port: Option<u16>) -> Result<TcpListener, String> {
    let listener = TcpListener::bind(("127.0.0.1", port.unwrap_or(0))).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    listener.map_err(|error| match port {
        Some(port) if error.kind() == ErrorKind::AddrInUse => {
            format!("--port {port}: another program listens on 127.0.0.1:{port}; leave --port out for a free one")
        }
        Some(port) => format!("--port {port}: cannot listen on 127.0.0.1:{port}: {error}"),
        None => format!("cannot listen on a free port of 127.0.0.1: {error}"),
    })
}
