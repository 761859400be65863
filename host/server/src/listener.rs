//! Opens the listening sockets.

use std::{io, net::SocketAddr};

use tokio::net::{TcpListener, TcpSocket};

/// Connections that the kernel completes before they are accepted; it takes fewer where `net.core.somaxconn` is lower. At
/// the default of 128 a burst overflows the queue: the kernel drops handshakes, and those clients wait for a server that
/// does not know of them.
const BACKLOG: u32 = 4096;

/// Listens on an address. Must be called on a runtime.
///
/// # Errors
///
/// If the address cannot be used.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // As any server: an address whose last connections still time out can be used again.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
