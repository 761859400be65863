//! Certificate authorities of this machine.

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore};

use super::http_error::HttpError;

/// A configuration that trusts the authorities of this machine, or Mozilla's if it has none. Reads files.
pub(super) fn client_config() -> Result<ClientConfig, HttpError> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        // An operator who names authorities wants those and no others.
        if ["SSL_CERT_FILE", "SSL_CERT_DIR"].iter().any(|name| std::env::var_os(name).is_some()) {
            return Err(HttpError::Setup(
                "no certificate authority can be read from SSL_CERT_FILE or SSL_CERT_DIR".to_owned(),
            ));
        }
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| HttpError::Setup(error.to_string()))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
