//! Errors of registries.

use oci_client::errors::{OciDistributionError, OciErrorCode};

use crate::{layout::LayoutError, signature::SignatureError};

/// Why an artifact could not be pulled or pushed.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// The registry has no such repository, tag or digest.
    #[error("{0} is not in the registry")]
    Missing(String),
    /// The registry asks for other credentials.
    #[error(
        "the registry {0} refused the credentials; `docker login {0}` stores them, or set DOCKER_CONFIG to a folder that has them"
    )]
    Unauthorized(String),
    /// Stored credentials cannot be read.
    #[error("the credentials for {host} cannot be read: {why}")]
    Credentials {
        /// Host of the registry.
        host: String,
        /// Why not.
        why: String,
    },
    /// Bytes do not have the digest that they must have.
    #[error("{what} has the digest {found}, not {expected}: the registry or the network changed it")]
    Digest {
        /// Which bytes.
        what: &'static str,
        /// Digest that they must have.
        expected: String,
        /// Digest that they have.
        found: String,
    },
    /// Something is larger than it may be.
    #[error("{what} is larger than {most} bytes")]
    Size {
        /// What is.
        what: &'static str,
        /// Maximum size.
        most: u64,
    },
    /// It is not packed as a plugin.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// No signature is valid.
    #[error(transparent)]
    Signature(#[from] SignatureError),
    /// The registry took too long.
    #[error("the registry did not answer in {0} seconds")]
    Timeout(u64),
    /// Another failure of the registry, or of the network.
    #[error("the registry {host} failed: {why}")]
    Failed {
        /// Host of the registry.
        host: String,
        /// What the client reports.
        why: String,
    },
}

impl RegistryError {
    /// Explains an error of the client.
    pub(crate) fn from_client(host: &str, what: &str, error: &OciDistributionError) -> Self {
        let failed = |why: String| Self::Failed { host: host.to_owned(), why };
        match error {
            OciDistributionError::ImageManifestNotFoundError(_) => Self::Missing(what.to_owned()),
            OciDistributionError::UnauthorizedError { .. }
            | OciDistributionError::AuthenticationFailure(_) => Self::Unauthorized(host.to_owned()),
            OciDistributionError::RegistryError { envelope, .. } => {
                let has =
                    |codes: &[OciErrorCode]| envelope.errors.iter().any(|error| codes.contains(&error.code));
                if has(&[
                    OciErrorCode::ManifestUnknown,
                    OciErrorCode::NameUnknown,
                    OciErrorCode::BlobUnknown,
                    OciErrorCode::NotFound,
                ]) {
                    Self::Missing(what.to_owned())
                } else if has(&[OciErrorCode::Unauthorized, OciErrorCode::Denied]) {
                    Self::Unauthorized(host.to_owned())
                } else {
                    failed(envelope.to_string())
                }
            }
            OciDistributionError::ServerError { code: 401 | 403, .. } => Self::Unauthorized(host.to_owned()),
            OciDistributionError::ServerError { code: 404, .. } => Self::Missing(what.to_owned()),
            OciDistributionError::RequestError(error) => failed(with_causes(error)),
            error => failed(error.to_string()),
        }
    }
}

/// Renders an error with its causes: the outermost of a failed request does not say what failed.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}
