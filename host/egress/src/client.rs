//! The client of one plugin.

use std::{fmt, sync::Arc};

use rustls::pki_types::CertificateDer;
use tokio::runtime::Handle;

use crate::{
    CallEgress, Grants, Limits, Mode,
    connect::Network,
    known::KnownSecrets,
    pool::Pool,
    resolve::{Dial, Interfaces, Kernel, Resolve, System, Tcp},
    tls::Tls,
};

/// What one plugin may send, and its connections. Cheap to make and to clone: nothing is read or opened before the first
/// request.
#[derive(Clone)]
pub struct Client {
    pub(crate) network: Arc<Network>,
    limits: Arc<Limits>,
}

impl Client {
    /// A client with the system's resolver and authorities.
    pub fn new(grants: Grants, limits: Limits) -> Self {
        Self::setup(grants, limits).build()
    }

    /// A client some of whose parts are replaced.
    pub fn setup(grants: Grants, limits: Limits) -> Setup {
        let authorities = Vec::new();
        Setup { grants, limits, resolver: None, dialer: None, interfaces: None, authorities, runtime: None }
    }

    /// What one call of the plugin may send.
    pub fn call(&self, mode: Mode) -> CallEgress {
        CallEgress::new(self.network.clone(), self.limits.clone(), mode)
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("grants", &self.network.grants).finish_non_exhaustive()
    }
}

/// The parts of a client that can be replaced.
pub struct Setup {
    grants: Grants,
    limits: Limits,
    resolver: Option<Arc<dyn Resolve>>,
    dialer: Option<Arc<dyn Dial>>,
    interfaces: Option<Arc<dyn Interfaces>>,
    authorities: Vec<CertificateDer<'static>>,
    runtime: Option<Handle>,
}

impl Setup {
    /// Finds addresses in this way.
    #[must_use]
    pub fn resolver(mut self, resolver: Arc<dyn Resolve>) -> Self {
        self.resolver = Some(resolver);
        self
    }

    /// Connects in this way.
    #[must_use]
    pub fn dialer(mut self, dialer: Arc<dyn Dial>) -> Self {
        self.dialer = Some(dialer);
        self
    }

    /// Takes these for this machine's own addresses.
    #[must_use]
    pub fn interfaces(mut self, interfaces: Arc<dyn Interfaces>) -> Self {
        self.interfaces = Some(interfaces);
        self
    }

    /// Trusts this authority, besides the machine's: its certificate, in DER.
    #[must_use]
    pub fn authority(mut self, certificate: Vec<u8>) -> Self {
        self.authorities.push(certificate.into());
        self
    }

    /// Keeps connections on this runtime, whichever one a request is polled on. Without it they live on the runtime
    /// of the request that needed them first.
    #[must_use]
    pub fn runtime(mut self, runtime: Handle) -> Self {
        self.runtime = Some(runtime);
        self
    }

    /// The client.
    pub fn build(self) -> Client {
        let network = Network {
            grants: self.grants,
            resolver: self.resolver.unwrap_or_else(|| Arc::new(System::default())),
            dialer: self.dialer.unwrap_or_else(|| Arc::new(Tcp)),
            interfaces: self.interfaces.unwrap_or_else(|| Arc::new(Kernel)),
            known: KnownSecrets::default(),
            tls: Tls::with(self.authorities),
            pool: Arc::new(Pool::default()),
            runtime: self.runtime,
        };
        Client { network: Arc::new(network), limits: Arc::new(self.limits) }
    }
}
