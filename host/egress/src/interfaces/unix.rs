//! By `getifaddrs`.

use std::{io, net::IpAddr};

use nix::{ifaddrs::getifaddrs, sys::socket::SockaddrStorage};

/// Lists the addresses.
pub(crate) fn addresses<C: FromIterator<IpAddr>>() -> io::Result<C> {
    Ok(getifaddrs()?.filter_map(|interface| address(&interface.address?)).collect())
}

fn address(socket: &SockaddrStorage) -> Option<IpAddr> {
    let v4 = || socket.as_sockaddr_in().map(|v4| v4.ip().into());
    v4().or_else(|| socket.as_sockaddr_in6().map(|v6| v6.ip().into()))
}
