//! Connections: resolve once, check every address, connect to what was checked, TLS by name.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, runtime::Handle, time::Instant};
use tokio_util::task::AbortOnDropHandle;

use crate::{
    EgressGrants, RequestRefusal, SendError, UrlScheme,
    destination::RequestTarget,
    error::ExchangePhase,
    headers,
    host::UrlHost,
    known::KnownSecrets,
    policy,
    pool::{ConnectionPool, RequestSender},
    resolve::{AddressDialer, InterfaceAddresses, NameResolver},
    secret::CredentialOwner,
    tls::TlsClient,
};

/// Time limit of resolving, connecting and TLS together.
const CONNECT: Duration = Duration::from_secs(5);

/// Addresses of one name that are tried, at most.
const TRIES: usize = 8;

/// Connects for one plugin, or for one caller of it: what a connection may remember of a caller stays with that caller.
pub(crate) struct PluginNetwork {
    pub grants: Arc<EgressGrants>,
    /// Caller whose credentials are added; none for plugins that use only the operator's secrets.
    pub owner: Option<CredentialOwner>,
    pub resolver: Arc<dyn NameResolver>,
    pub dialer: Arc<dyn AddressDialer>,
    pub interfaces: Arc<dyn InterfaceAddresses>,
    /// Secrets of the grants that were read so far.
    pub known: KnownSecrets,
    pub tls: TlsClient,
    pub pool: Arc<ConnectionPool>,
    /// Runtime of the connections. A call that overruns moves to another runtime, beside looping guests; its connections stay
    /// on this one, where they are served at once.
    pub runtime: Option<Handle>,
}

impl PluginNetwork {
    /// Creates the network of one caller: the same rules and parts, with its own connections, tickets and secrets.
    pub(crate) fn for_owner(&self, owner: CredentialOwner) -> Self {
        Self {
            grants: Arc::clone(&self.grants),
            owner: Some(owner),
            resolver: Arc::clone(&self.resolver),
            dialer: Arc::clone(&self.dialer),
            interfaces: Arc::clone(&self.interfaces),
            known: KnownSecrets::default(),
            tls: self.tls.fresh(),
            pool: Arc::default(),
            runtime: self.runtime.clone(),
        }
    }

    /// Returns the runtime of the connections.
    pub(crate) fn runtime(&self) -> Handle {
        self.runtime.clone().unwrap_or_else(Handle::current)
    }

    /// Opens a connection, ready for a request.
    pub(crate) async fn connect(
        self: &Arc<Self>,
        to: &RequestTarget,
        limit: Option<Duration>,
    ) -> Result<RequestSender, SendError> {
        let end = Instant::now() + limit.map_or(CONNECT, |limit| limit.min(CONNECT));
        let (network, target) = (self.clone(), to.clone());
        let making = async move { network.open(&target, end).await };
        // The deadline applies inside too, where the remaining time is divided among the addresses.
        let made = tokio::time::timeout_at(end, AbortOnDropHandle::new(self.runtime().spawn(making))).await;
        match made {
            Ok(Ok(made)) => made,
            Ok(Err(_)) => Err(SendError::Connect(to.to_string())),
            Err(_) => Err(SendError::Timeout(ExchangePhase::Connect)),
        }
    }

    async fn open(&self, to: &RequestTarget, end: Instant) -> Result<RequestSender, SendError> {
        let addresses = self.allowed_addresses(to).await?;
        let stream = self.dial(to, &addresses, end).await?;
        match to.scheme {
            UrlScheme::Http => self.handshake(to, stream).await,
            UrlScheme::Https => self.handshake(to, self.tls.handshake(to, stream).await?).await,
        }
    }

    /// Resolves a host and returns the addresses that may be connected to.
    async fn allowed_addresses(&self, to: &RequestTarget) -> Result<Vec<IpAddr>, SendError> {
        let found = match &to.host {
            UrlHost::Address(address) => vec![*address],
            UrlHost::Name(name) => {
                let found = self.resolver.resolve(name).await;
                found.map_err(|_| SendError::Dns(name.clone()))?
            }
        };
        let own = self.interfaces.addresses();
        let mut refused = None;
        let mut allowed = Vec::new();
        for address in found {
            match policy::check_address(&self.grants, own.as_deref(), to, address) {
                Ok(()) => allowed.push(address),
                Err(class) => refused = refused.or(Some(class)),
            }
        }
        match refused {
            _ if !allowed.is_empty() => Ok(allowed),
            None => Err(SendError::Dns(to.host.to_string())),
            Some(class) => {
                // Logged for the operator only: the plugin's own log may be shown to its caller.
                tracing::info!(host = %to.host, %class, "no address of the host is granted");
                let (name, scheme, port) = (to.host.to_string(), to.scheme, to.port);
                Err(RequestRefusal::Leads { name, class, scheme, port }.into())
            }
        }
    }

    /// Connects to the first address that answers; each gets an equal share of the remaining time.
    async fn dial(
        &self,
        to: &RequestTarget,
        addresses: &[IpAddr],
        end: Instant,
    ) -> Result<TcpStream, SendError> {
        let addresses = &addresses[..addresses.len().min(TRIES)];
        for (n, address) in addresses.iter().enumerate() {
            let left = u32::try_from(addresses.len() - n).unwrap_or(1);
            let share = end.saturating_duration_since(Instant::now()) / left;
            let dialing = self.dialer.dial(SocketAddr::new(*address, to.port));
            if let Ok(Ok(stream)) = tokio::time::timeout(share, dialing).await {
                return Ok(stream);
            }
        }
        Err(SendError::Connect(to.to_string()))
    }

    async fn handshake<S>(&self, to: &RequestTarget, stream: S) -> Result<RequestSender, SendError>
    where
        S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin + 'static,
    {
        let closed = |_| SendError::Connect(to.to_string());
        let (mut sender, connection) = http1::Builder::new()
            .max_headers(headers::COUNT)
            .max_header_size(headers::HEAD)
            .max_buf_size(2 * headers::HEAD)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(closed)?;
        self.runtime().spawn(async move {
            if let Err(error) = connection.await {
                // hyper's texts contain nothing of the request.
                tracing::debug!(%error, "a plugin's connection ended");
            }
        });
        sender.ready().await.map_err(closed)?;
        Ok(sender)
    }
}
