//! A secret that the host adds to requests and that no guest sees.

use std::path::PathBuf;

/// A header that the host adds to HTTPS requests for exactly one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// In lower case.
    pub host: String,
    /// Which port; the policy's default is 443.
    pub port: u16,
    /// The header's name, in lower case. A guest that sets it itself is refused.
    pub header: String,
    /// Holds `{}` once, where the secret goes.
    pub format: String,
    /// Where it comes from.
    pub source: Source,
}

/// Where a secret comes from.
#[derive(Clone, PartialEq, Eq)]
pub enum Source {
    /// The value itself, taken from the host's environment; beside it the variable's name, for messages.
    Value(String, String),
    /// Read anew for each request, so that it can be rotated; white space around it does not count.
    File(PathBuf),
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Value(name, _) => write!(f, "${name}"),
            Self::File(path) => path.fmt(f),
        }
    }
}
