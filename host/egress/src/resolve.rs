//! Looking names up and opening connections: the two things that tests replace.

use std::{
    io,
    net::{IpAddr, SocketAddr, ToSocketAddrs},
    pin::Pin,
    sync::Arc,
};

use tokio::{net::TcpStream, sync::Semaphore};

/// What the traits below return.
pub type Pending<T> = Pin<Box<dyn Future<Output = io::Result<T>> + Send>>;

/// Finds the addresses of a name. It is asked once per connection, and only what it answered then is connected to.
pub trait Resolve: Send + Sync + 'static {
    /// All addresses, the best first.
    fn resolve(&self, name: &str) -> Pending<Vec<IpAddr>>;
}

/// Opens a connection to an address that has been checked.
pub trait Dial: Send + Sync + 'static {
    /// Exactly this address.
    fn dial(&self, to: SocketAddr) -> Pending<TcpStream>;
}

/// Lookups of one plugin at once. The system's resolver blocks a thread for as long as a slow name server likes, and
/// goes on when nobody waits for it any more, so a plugin could use up every blocking thread there is.
const LOOKUPS: usize = 4;

/// The system's resolver, with its hosts file and search list.
#[derive(Debug)]
pub(crate) struct System(Arc<Semaphore>);

impl Default for System {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(LOOKUPS)))
    }
}

impl Resolve for System {
    fn resolve(&self, name: &str) -> Pending<Vec<IpAddr>> {
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
pub(crate) struct Tcp;

impl Dial for Tcp {
    fn dial(&self, to: SocketAddr) -> Pending<TcpStream> {
        Box::pin(async move {
            let stream = TcpStream::connect(to).await?;
            // Requests are written whole; waiting for more only delays them.
            stream.set_nodelay(true)?;
            Ok(stream)
        })
    }
}
