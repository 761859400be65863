//! A secret that the host adds to requests and that no guest sees.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use http::{HeaderName, HeaderValue};
use tokio::io::AsyncReadExt;

use crate::{
    CallerCredentials, CallerKey, MissingCredential, destination::RequestTarget, headers, host::UrlHost,
    rule::UrlScheme,
};

/// Bytes of the shortest secret. A shorter one would match ordinary text in responses and mangle it.
const SHORTEST: usize = 8;

/// Bytes of the longest.
const LONGEST: usize = 4 << 10;

/// Caller whose credentials requests use.
#[derive(Clone)]
pub(crate) struct CredentialOwner {
    pub key: CallerKey,
    pub credentials: Arc<dyn CallerCredentials>,
}

/// Reason for which a secret cannot be added.
pub(crate) enum SecretFault {
    /// The caller has none.
    Missing(MissingCredential),
    /// Reason for the log, to be read after the source's name.
    Unusable(String),
}

/// A header that the host adds to HTTPS requests for exactly one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderSecret {
    /// In lower case.
    pub host: String,
    /// Port; the policy's default is 443.
    pub port: u16,
    /// The header's name, in lower case. A guest that sets it itself is refused.
    pub header: String,
    /// Format of the value: contains `{}` once, where the secret goes.
    pub format: String,
    /// Source of the value.
    pub source: SecretSource,
}

/// Source of a secret.
#[derive(Clone, PartialEq, Eq)]
pub enum SecretSource {
    /// The value itself, taken from the host's environment; beside it the variable's name, for messages.
    Value(String, String),
    /// Read for each request, so that it can be rotated; surrounding white space is trimmed.
    File(PathBuf),
    /// The caller's own credential, read for each request. Never used for another caller.
    Caller,
}

impl std::fmt::Debug for SecretSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Value(name, _) => write!(f, "${name}"),
            Self::File(path) => path.fmt(f),
            Self::Caller => f.write_str("the caller's credential"),
        }
    }
}

impl HeaderSecret {
    /// Validates the secret; a file is not read.
    ///
    /// # Errors
    ///
    /// The mistake, without the value, to be read after the key's name.
    pub fn check(&self) -> Result<(), String> {
        match UrlHost::parse(&self.host) {
            Ok(host) if host.to_string() == self.host => {}
            Ok(host) => return Err(format!("`host` must be written {:?}", host.to_string())),
            Err(why) => return Err(format!("`host` {:?} {why}", self.host)),
        }
        if self.port == 0 {
            return Err("`port` must be from 1 to 65535".into());
        }
        let name: HeaderName =
            self.header.parse().map_err(|_| format!("`header` {:?} is not a header name", self.header))?;
        if name.as_str() != self.header {
            return Err(format!("`header` must be in lower case: {:?}", name.as_str()));
        }
        if headers::is_reserved(&name) || name == http::header::ACCEPT_ENCODING {
            return Err(format!("`header` {:?} is the host's own", self.header));
        }
        if self.format.matches("{}").count() != 1 {
            return Err("`format` must hold {} once, where the secret goes".into());
        }
        if HeaderValue::try_from(self.format.replace("{}", "")).is_err() {
            return Err("`format` holds characters that a header cannot carry".into());
        }
        match &self.source {
            SecretSource::File(_) | SecretSource::Caller => Ok(()),
            SecretSource::Value(name, value) => {
                self.header_value(value).map(|_| ()).map_err(|why| format!("the value of ${name} {why}"))
            }
        }
    }

    /// Tests whether the secret is sent to this target.
    pub(crate) fn is_for(&self, to: &RequestTarget) -> bool {
        to.scheme == UrlScheme::Https && to.port == self.port && to.host.to_string() == self.host
    }

    /// Builds the header's value.
    fn header_value(&self, value: &str) -> Result<HeaderValue, String> {
        if value.len() < SHORTEST || value.len() > LONGEST {
            return Err(format!("must have from {SHORTEST} to {LONGEST} bytes"));
        }
        let mut header = HeaderValue::try_from(self.format.replacen("{}", value, 1))
            .map_err(|_| "holds characters that a header cannot carry".to_owned())?;
        header.set_sensitive(true);
        Ok(header)
    }

    /// Number of bytes of the header's value before the secret.
    pub(crate) fn public(&self) -> usize {
        self.format.find("{}").unwrap_or_default()
    }

    /// Reads the secret and builds the header's value.
    pub(crate) async fn load(
        &self,
        owner: Option<&CredentialOwner>,
    ) -> Result<(String, HeaderValue), SecretFault> {
        let value = match &self.source {
            SecretSource::Value(_, value) => value.clone(),
            SecretSource::File(path) => read(path).await.map_err(SecretFault::Unusable)?,
            SecretSource::Caller => {
                let owner = owner.ok_or(SecretFault::Missing(MissingCredential::Anonymous))?;
                let read = owner.credentials.credential(owner.key).await;
                let value = read.map_err(|error| SecretFault::Unusable(error.to_string()))?;
                value.ok_or(SecretFault::Missing(MissingCredential::None))?
            }
        };
        let header = self.header_value(&value).map_err(SecretFault::Unusable)?;
        Ok((value, header))
    }
}

async fn read(path: &Path) -> Result<String, String> {
    let describe = |error: std::io::Error| error.to_string();
    // Reading a pipe would block a thread until something is written to it.
    if !tokio::fs::metadata(path).await.map_err(describe)?.is_file() {
        return Err("is not a regular file".into());
    }
    let file = tokio::fs::File::open(path).await.map_err(describe)?;
    let mut text = String::new();
    file.take(2 * LONGEST as u64).read_to_string(&mut text).await.map_err(describe)?;
    Ok(text.trim().to_owned())
}
