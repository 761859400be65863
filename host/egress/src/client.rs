//! The client of one plugin.

use std::{fmt, sync::Arc};

use rustls::pki_types::CertificateDer;
use tokio::runtime::Handle;

use crate::{
    CallEgress, CallerCredentials, CallerKey, EgressGrants, EgressLimits, EgressMode, HttpTape, SecretSource,
    caller_networks::CallerNetworks,
    connect::PluginNetwork,
    known::KnownSecrets,
    pool::ConnectionPool,
    resolve::{AddressDialer, InterfaceAddresses, KernelInterfaces, NameResolver, SystemResolver, TcpDialer},
    tls::TlsClient,
};

/// Egress of one plugin, with its connections. Cheap to create and to clone: nothing is read or opened before the first
/// request.
#[derive(Clone)]
pub struct EgressClient {
    network: Arc<PluginNetwork>,
    /// Networks of single callers, if some secret is a caller's own.
    callers: Option<Arc<CallerNetworks>>,
    limits: Arc<EgressLimits>,
}

impl EgressClient {
    /// Creates a client with the system's resolver and certificate authorities.
    pub fn new(grants: EgressGrants, limits: EgressLimits) -> Self {
        Self::setup(grants, limits).build()
    }

    /// Begins a client with replaced parts.
    pub fn setup(grants: EgressGrants, limits: EgressLimits) -> EgressClientBuilder {
        let authorities = Vec::new();
        EgressClientBuilder {
            grants,
            limits,
            resolver: None,
            dialer: None,
            interfaces: None,
            authorities,
            runtime: None,
            credentials: None,
        }
    }

    /// Creates the egress of one call, for no particular caller: requests that need a caller's credential fail.
    pub fn call(&self, mode: EgressMode) -> CallEgress {
        self.call_for(None, mode, None)
    }

    /// Creates the egress of one call of this caller; `None` for unauthenticated callers. A tape answers or keeps its requests.
    pub fn call_for(
        &self,
        caller: Option<CallerKey>,
        mode: EgressMode,
        tape: Option<Arc<dyn HttpTape>>,
    ) -> CallEgress {
        let network = match (&self.callers, caller) {
            (Some(callers), Some(caller)) => callers.network(&self.network, caller),
            _ => Arc::clone(&self.network),
        };
        CallEgress::new(network, self.limits.clone(), mode, tape)
    }
}

impl fmt::Debug for EgressClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("grants", &self.network.grants).finish_non_exhaustive()
    }
}

/// The parts of a client that can be replaced.
pub struct EgressClientBuilder {
    grants: EgressGrants,
    limits: EgressLimits,
    resolver: Option<Arc<dyn NameResolver>>,
    dialer: Option<Arc<dyn AddressDialer>>,
    interfaces: Option<Arc<dyn InterfaceAddresses>>,
    authorities: Vec<CertificateDer<'static>>,
    runtime: Option<Handle>,
    credentials: Option<Arc<dyn CallerCredentials>>,
}

impl EgressClientBuilder {
    /// Sets where credentials of callers are read, for secrets that are [`SecretSource::Caller`].
    #[must_use]
    pub fn credentials(mut self, credentials: Arc<dyn CallerCredentials>) -> Self {
        self.credentials = Some(credentials);
        self
    }

    /// Replaces the resolver.
    #[must_use]
    pub fn resolver(mut self, resolver: Arc<dyn NameResolver>) -> Self {
        self.resolver = Some(resolver);
        self
    }

    /// Replaces the dialer.
    #[must_use]
    pub fn dialer(mut self, dialer: Arc<dyn AddressDialer>) -> Self {
        self.dialer = Some(dialer);
        self
    }

    /// Replaces the list of this machine's addresses.
    #[must_use]
    pub fn interfaces(mut self, interfaces: Arc<dyn InterfaceAddresses>) -> Self {
        self.interfaces = Some(interfaces);
        self
    }

    /// Trusts this certificate (DER) in addition to the machine's authorities.
    #[must_use]
    pub fn authority(mut self, certificate: Vec<u8>) -> Self {
        self.authorities.push(certificate.into());
        self
    }

    /// Runs connections on this runtime, whichever one a request is polled on. Without it they run on the runtime of the
    /// request that opened them.
    #[must_use]
    pub fn runtime(mut self, runtime: Handle) -> Self {
        self.runtime = Some(runtime);
        self
    }

    /// Builds the client.
    pub fn build(self) -> EgressClient {
        let network = PluginNetwork {
            grants: Arc::new(self.grants),
            owner: None,
            resolver: self.resolver.unwrap_or_else(|| Arc::new(SystemResolver::default())),
            dialer: self.dialer.unwrap_or_else(|| Arc::new(TcpDialer)),
            interfaces: self.interfaces.unwrap_or_else(|| Arc::new(KernelInterfaces)),
            known: KnownSecrets::default(),
            tls: TlsClient::with(self.authorities),
            pool: Arc::new(ConnectionPool::default()),
            runtime: self.runtime,
        };
        let has_own = network.grants.secrets.iter().any(|secret| secret.source == SecretSource::Caller);
        let callers = self.credentials.filter(|_| has_own).map(|found| Arc::new(CallerNetworks::new(found)));
        EgressClient { network: Arc::new(network), callers, limits: Arc::new(self.limits) }
    }
}
