//! Where an artifact is: `oci://HOST/REPOSITORY[:TAG][@sha256:DIGEST]`.

use std::{fmt, str::FromStr};

use oci_client::Reference;

use crate::digest::is_digest;

const SCHEME: &str = "oci://";
const MAX_LENGTH: usize = 1024;

/// Why a text is no reference.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// It does not begin with the scheme.
    #[error("expected oci://HOST/REPOSITORY:TAG@sha256:DIGEST")]
    Scheme,
    /// It names no registry. None is assumed.
    #[error("expected the registry's host after oci://, as in oci://ghcr.io/acme/notes")]
    Host,
    /// Its digest is not SHA-256.
    #[error("expected sha256: and 64 hexadecimal digits after @")]
    Digest,
    /// It breaks the grammar of references otherwise.
    #[error("{0}")]
    Grammar(String),
}

/// An artifact in a registry: by tag, by digest, or by a tag that must have a digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactReference {
    host: String,
    repository: String,
    tag: Option<String>,
    digest: Option<String>,
}

impl ArtifactReference {
    /// Host of the registry, with its port.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Host and repository: what trust rules name.
    pub fn path(&self) -> String {
        format!("{}/{}", self.host, self.repository)
    }

    /// Last segment of the repository.
    pub fn name(&self) -> &str {
        self.repository.rsplit('/').next().unwrap_or(&self.repository)
    }

    /// The tag, if one is named.
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// Digest of the manifest, if it is named.
    pub fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }

    /// The same artifact with this digest.
    #[must_use]
    pub fn pinned(&self, digest: &str) -> Self {
        Self { digest: Some(digest.to_owned()), ..self.clone() }
    }

    /// What the tag names now; `None` without a tag.
    pub fn unpinned(&self) -> Option<Self> {
        self.tag.is_some().then(|| Self { digest: None, ..self.clone() })
    }

    /// Another tag of the repository.
    pub(crate) fn tagged(&self, tag: String) -> Self {
        Self { tag: Some(tag), digest: None, ..self.clone() }
    }

    /// Whether the registry is on this machine: it may be reached without TLS.
    pub(crate) fn is_local(&self) -> bool {
        let host = match self.host.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => self.host.split(':').next().unwrap_or_default(),
        };
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    /// As the client takes it. By digest if there is one: a tag can move.
    pub(crate) fn to_client(&self) -> Reference {
        let (host, repository) = (self.host.clone(), self.repository.clone());
        match (&self.digest, &self.tag) {
            (Some(digest), _) => Reference::with_digest(host, repository, digest.clone()),
            (None, Some(tag)) => Reference::with_tag(host, repository, tag.clone()),
            (None, None) => Reference::with_tag(host, repository, "latest".to_owned()),
        }
    }
}

impl FromStr for ArtifactReference {
    type Err = ReferenceError;

    fn from_str(text: &str) -> Result<Self, ReferenceError> {
        let rest = text.strip_prefix(SCHEME).ok_or(ReferenceError::Scheme)?;
        if rest.len() > MAX_LENGTH {
            return Err(ReferenceError::Grammar(format!("must have at most {MAX_LENGTH} characters")));
        }
        // The client would take a first segment that is no host as a repository of a public registry.
        let (host, path) = rest.split_once('/').ok_or(ReferenceError::Host)?;
        if !(host.contains(['.', ':']) || host == "localhost") || path.is_empty() {
            return Err(ReferenceError::Host);
        }
        if path.split_once('@').is_some_and(|(_, digest)| !is_digest(digest)) {
            return Err(ReferenceError::Digest);
        }
        let parsed: Reference =
            rest.parse().map_err(|error| ReferenceError::Grammar(format!("no reference: {error}")))?;
        let has_tag = path.split('@').next().is_some_and(|path| path.contains(':'));
        Ok(Self {
            host: host.to_owned(),
            repository: parsed.repository().to_owned(),
            tag: parsed.tag().filter(|_| has_tag).map(str::to_owned),
            digest: parsed.digest().map(str::to_owned),
        })
    }
}

impl fmt::Display for ArtifactReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}/{}", self.host, self.repository)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        self.digest.iter().try_for_each(|digest| write!(f, "@{digest}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn references_are_read_and_written() {
        let exact = format!("oci://ghcr.io/acme/tools/notes:1.2@{DIGEST}");
        for (text, path, name, tag, has_digest, local) in [
            (&*exact, "ghcr.io/acme/tools/notes", "notes", Some("1.2"), true, false),
            ("oci://ghcr.io/acme/notes:1", "ghcr.io/acme/notes", "notes", Some("1"), false, false),
            ("oci://127.0.0.1:5000/notes", "127.0.0.1:5000/notes", "notes", None, false, true),
            ("oci://localhost/a/b:t", "localhost/a/b", "b", Some("t"), false, true),
        ] {
            let found: ArtifactReference = text.parse().unwrap();
            assert_eq!(found.to_string(), text);
            assert_eq!((&*found.path(), found.name(), found.tag()), (path, name, tag));
            assert_eq!((found.digest().is_some(), found.is_local()), (has_digest, local), "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused_with_a_reason() {
        let long = format!("oci://ghcr.io/{}", "a".repeat(2000));
        for (text, expected) in [
            ("ghcr.io/acme/notes", "expected oci://HOST"),
            ("https://ghcr.io/acme/notes", "expected oci://HOST"),
            ("oci://notes", "the registry's host"),
            ("oci://acme/notes", "the registry's host"),
            ("oci://ghcr.io/", "the registry's host"),
            ("oci://ghcr.io/acme/notes@sha256:00", "64 hexadecimal digits"),
            ("oci://ghcr.io/acme/notes@sha512:00", "64 hexadecimal digits"),
            ("oci://ghcr.io/Acme/Notes", "no reference"),
            ("oci://ghcr.io/acme/no tes", "no reference"),
            ("oci://ghcr.io/acme/../notes", "no reference"),
            (&*long, "at most 1024"),
        ] {
            let error = text.parse::<ArtifactReference>().unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn a_digest_goes_before_a_tag() {
        let tagged: ArtifactReference = "oci://ghcr.io/acme/notes:1".parse().unwrap();
        let pinned = tagged.pinned(DIGEST);
        assert_eq!((pinned.to_client().tag(), pinned.to_client().digest()), (None, Some(DIGEST)));
        assert_eq!(pinned.unpinned(), Some(tagged));
        let exact: ArtifactReference = format!("oci://ghcr.io/acme/notes@{DIGEST}").parse().unwrap();
        assert_eq!(exact.unpinned(), None);
    }
}
