//! By `GetAdaptersAddresses`.

use std::{io, net::IpAddr};

/// Lists the addresses.
pub(crate) fn addresses<C: FromIterator<IpAddr>>() -> io::Result<C> {
    Ok(if_addrs::get_if_addrs()?.iter().map(if_addrs::Interface::ip).collect())
}
