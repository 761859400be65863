//! TLS, verified by the name in the request, whatever address it resolves to.

use std::{io, sync::Arc};

use rustls::{
    CertificateError, ClientConfig, RootCertStore,
    pki_types::{CertificateDer, ServerName},
};
use tokio::{net::TcpStream, sync::OnceCell};
use tokio_rustls::{TlsConnector, client::TlsStream};

use crate::{SendError, destination::RequestTarget, error::TlsFault, host::UrlHost};

/// Certificate authorities that this machine trusts. Reading them takes tens of milliseconds, so it happens at the first https
/// request of the process.
static AUTHORITIES: OnceCell<Arc<RootCertStore>> = OnceCell::const_new();

/// The TLS side of one plugin's client. Session tickets are its own: a shared store would let an upstream see that two
/// plugins run on one machine.
#[derive(Default)]
pub(crate) struct TlsClient {
    extra: Vec<CertificateDer<'static>>,
    connector: OnceCell<TlsConnector>,
}

impl TlsClient {
    /// Creates a client that trusts these authorities in addition to the machine's.
    pub(crate) fn with(extra: Vec<CertificateDer<'static>>) -> Self {
        Self { extra, connector: OnceCell::new() }
    }

    /// Creates a client that trusts the same authorities, without the session tickets.
    pub(crate) fn fresh(&self) -> Self {
        Self::with(self.extra.clone())
    }

    /// Runs the handshake over an open connection.
    pub(crate) async fn handshake(
        &self,
        to: &RequestTarget,
        stream: TcpStream,
    ) -> Result<TlsStream<TcpStream>, SendError> {
        let fault = |why| SendError::Tls { to: to.to_string(), why };
        let connector = self.connector.get_or_try_init(|| self.connector()).await.map_err(fault)?;
        let name = match &to.host {
            UrlHost::Name(name) => ServerName::try_from(name.clone()).map_err(|_| fault(TlsFault::Name))?,
            UrlHost::Address(address) => ServerName::from(*address),
        };
        connector.connect(name, stream).await.map_err(|error| fault(classify(&error)))
    }

    async fn connector(&self) -> Result<TlsConnector, TlsFault> {
        let shared = AUTHORITIES.get_or_try_init(authorities).await?;
        let mut roots = shared.clone();
        if !self.extra.is_empty() {
            let mut more = RootCertStore::clone(&roots);
            more.add_parsable_certificates(self.extra.iter().cloned());
            roots = Arc::new(more);
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|_| TlsFault::Handshake)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config).into())
    }
}

async fn authorities() -> Result<Arc<RootCertStore>, TlsFault> {
    tokio::task::spawn_blocking(read_authorities).await.map_err(|_| TlsFault::Roots)?.map(Arc::new)
}

/// Reads the certificate authorities that this machine trusts, or Mozilla's if it has none.
///
/// # Errors
///
/// If the environment names authorities, and none of them can be read.
pub fn read_authorities() -> Result<RootCertStore, TlsFault> {
    let found = rustls_native_certs::load_native_certs();
    for error in &found.errors {
        tracing::warn!(%error, "a certificate authority could not be read");
    }
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if !roots.is_empty() {
        return Ok(roots);
    }
    // An operator who names authorities wants those and no others.
    if ["SSL_CERT_FILE", "SSL_CERT_DIR"].iter().any(|name| std::env::var_os(name).is_some()) {
        tracing::error!(
            "SSL_CERT_FILE or SSL_CERT_DIR is set, but no certificate authority could be read from it"
        );
        return Err(TlsFault::Roots);
    }
    tracing::info!("this machine has no list of certificate authorities; Mozilla's is used");
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    Ok(roots)
}

fn classify(error: &io::Error) -> TlsFault {
    use CertificateError as C;
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match inner {
        Some(rustls::Error::InvalidCertificate(certificate)) => match certificate {
            C::NotValidForName | C::NotValidForNameContext { .. } => TlsFault::Name,
            C::Expired | C::ExpiredContext { .. } | C::NotValidYet | C::NotValidYetContext { .. } => {
                TlsFault::Time
            }
            C::UnknownIssuer => TlsFault::Issuer,
            _ => TlsFault::Certificate,
        },
        _ => TlsFault::Handshake,
    }
}
