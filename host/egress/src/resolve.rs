//! Resolving names, dialing and listing this machine's addresses: the parts that tests replace.

use std::{
    io,
    net::{IpAddr, SocketAddr, ToSocketAddrs},
    pin::Pin,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tokio::{net::TcpStream, sync::Semaphore};

use crate::interfaces;

/// Future that the traits below return.
pub type IoFuture<T> = Pin<Box<dyn Future<Output = io::Result<T>> + Send>>;

/// Resolves names. Called once per connection; only the addresses of that call are connected to.
pub trait NameResolver: Send + Sync + 'static {
    /// Returns all addresses of a name, the best first.
    fn resolve(&self, name: &str) -> IoFuture<Vec<IpAddr>>;
}

/// Opens a connection to an address that has been checked.
pub trait AddressDialer: Send + Sync + 'static {
    /// Connects to exactly this address.
    fn dial(&self, to: SocketAddr) -> IoFuture<TcpStream>;
}

/// Lists the addresses of this machine's interfaces.
pub trait InterfaceAddresses: Send + Sync + 'static {
    /// Returns all of them, or none if they cannot be listed. Called once per connection.
    fn addresses(&self) -> Option<Arc<[IpAddr]>>;
}

/// Concurrent lookups of one plugin. The system's resolver blocks a thread for as long as a slow name server takes, even after
/// the request was dropped, so a plugin could use up all blocking threads.
const LOOKUPS: usize = 4;

/// The system's resolver, with its hosts file and search list.
#[derive(Debug)]
pub(crate) struct SystemResolver(Arc<Semaphore>);

impl Default for SystemResolver {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(LOOKUPS)))
    }
}

impl NameResolver for SystemResolver {
    fn resolve(&self, name: &str) -> IoFuture<Vec<IpAddr>> {
        let (free, name) = (self.0.clone(), name.to_owned());
        Box::pin(async move {
            let permit = free.acquire_owned().await.map_err(io::Error::other)?;
            let lookup = move || {
                let found = (name.as_str(), 0).to_socket_addrs()?.map(|found| found.ip()).collect();
                drop(permit);
                Ok(found)
            };
            tokio::task::spawn_blocking(lookup).await.map_err(io::Error::other)?
        })
    }
}

/// Plain TCP.
#[derive(Debug)]
pub(crate) struct TcpDialer;

impl AddressDialer for TcpDialer {
    fn dial(&self, to: SocketAddr) -> IoFuture<TcpStream> {
        Box::pin(async move {
            let stream = TcpStream::connect(to).await?;
            // Requests are written whole; Nagle's algorithm only delays them.
            stream.set_nodelay(true)?;
            Ok(stream)
        })
    }
}

/// TTL of the list of this machine's addresses.
const FRESH: Duration = Duration::from_secs(5);

/// The kernel's list of interfaces, cached for the whole process.
#[derive(Debug)]
pub(crate) struct KernelInterfaces;

impl InterfaceAddresses for KernelInterfaces {
    fn addresses(&self) -> Option<Arc<[IpAddr]>> {
        type Listing = Option<(Instant, Option<Arc<[IpAddr]>>)>;
        static LISTED: Mutex<Listing> = Mutex::new(None);
        let mut listed = LISTED.lock();
        if let Some((since, addresses)) = &*listed
            && since.elapsed() < FRESH
        {
            return addresses.clone();
        }
        let addresses = match interfaces::addresses() {
            Ok(addresses) => Some(addresses),
            Err(error) => {
                tracing::warn!(
                    %error,
                    "the addresses of this machine's interfaces cannot be listed, so requests to host names are refused: \
                     on Linux, allow the address family AF_NETLINK"
                );
                // Keep the last list.
                listed.take().and_then(|(_, addresses)| addresses)
            }
        };
        *listed = Some((Instant::now(), addresses.clone()));
        addresses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_knows_this_machines_addresses() {
        let own = KernelInterfaces.addresses().unwrap();
        assert!(own.contains(&IpAddr::from([127, 0, 0, 1])), "{own:?}");
        assert!(Arc::ptr_eq(&own, &KernelInterfaces.addresses().unwrap()), "it is not asked again at once");
    }
}
