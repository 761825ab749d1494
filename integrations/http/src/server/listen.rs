//! Listening at an address.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};

use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::Runtime;

use super::error::ServeError;

/// The number of clients that the system lets wait until they are accepted.
const BACKLOG: u32 = 1024;

/// The machines that may reach a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reach {
    /// This machine alone: an address that others can reach is refused.
    Loopback,
    /// Every machine that reaches the address.
    Any,
}

/// Returns the addresses that a text stands for.
pub(super) fn addresses(given: &str, reach: Reach) -> Result<Vec<SocketAddr>, ServeError> {
    let invalid = |error| ServeError::Address { address: given.to_owned(), error };
    let found: Vec<SocketAddr> = given.to_socket_addrs().map_err(invalid)?.collect();
    let mut beyond = found.iter().filter(|at| !at.ip().to_canonical().is_loopback());
    match beyond.next() {
        Some(address) if reach == Reach::Loopback => {
            Err(ServeError::BeyondLoopback { address: *address })
        }
        _ => Ok(found),
    }
}

/// Listens at the first of the addresses where that is possible.
pub(super) fn listen(
    runtime: &Runtime,
    given: &str,
    found: &[SocketAddr],
    send_buffer: Option<u32>,
) -> Result<TcpListener, ServeError> {
    let _context = runtime.enter();
    let nowhere = io::Error::other("it comes to no address");
    let mut failed = ServeError::Address { address: given.to_owned(), error: nowhere };
    for &address in found {
        match listen_at(address, send_buffer) {
            Ok(listener) => return Ok(listener),
            Err(error) => failed = ServeError::Listen { address, error },
        }
    }
    Err(failed)
}

fn listen_at(address: SocketAddr, send_buffer: Option<u32>) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // It lets a new server follow one that has just ended. On systems other than Unix, it would let
    // two programs listen at one address.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    if let Some(size) = send_buffer {
        socket.set_send_buffer_size(size)?; // connections inherit it
    }
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
