//! TLS to the server, with the authorities that plugins' requests use.

use std::sync::Arc;

use rustls::{
    ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime},
};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::database_url::TlsMode;

/// Reads the authorities that this machine trusts.
///
/// # Errors
///
/// If there is none.
pub(crate) fn machine_authorities() -> Result<RootCertStore, String> {
    loggia_egress::read_authorities().map_err(|_| "no certificate authority could be read".to_owned())
}

/// Builds the TLS side of connections.
///
/// # Errors
///
/// If certificates are to be verified, and no authority is known.
pub(crate) fn build_tls(
    mode: TlsMode,
    authorities: impl FnOnce() -> Result<RootCertStore, String>,
) -> Result<MakeRustlsConnect, String> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let config = match mode {
        TlsMode::VerifyFull => builder.with_root_certificates(authorities()?).with_no_client_auth(),
        TlsMode::Disable | TlsMode::Require => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
            .with_no_client_auth(),
    };
    Ok(MakeRustlsConnect::new(config))
}

/// Accepts the certificate of any server, for `sslmode=require`: the connection is encrypted, and whoever can answer in the
/// server's place can read it.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
