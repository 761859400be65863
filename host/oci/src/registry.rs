//! Requests to registries.

use std::{future::Future, time::Duration};

use bytes::{Bytes, BytesMut};
use futures_util::TryStreamExt;
use oci_client::{
    Client, Reference,
    client::{ClientConfig, ClientProtocol},
    errors::OciDistributionError,
    manifest::{OciDescriptor, OciImageManifest},
    secrets::RegistryAuth,
};

use crate::{
    credential::find_credential,
    digest::{digest_of, signature_tag},
    error::RegistryError,
    layout::{ComponentLayer, MANIFEST, PackedArtifact, find_component, parse_manifest, spin_application},
    reference::ArtifactReference,
    signature::{
        SignatureError, SignedDocument, SigningKey, VerifyingKey, find_signer, list_signatures, sign,
    },
};

/// Media types of manifests that can be read.
const MANIFESTS: [&str; 2] = [MANIFEST, "application/vnd.docker.distribution.manifest.v2+json"];
const MAX_MANIFEST: u64 = 4 << 20;
const MAX_CONFIG: u64 = 1 << 20;
const MAX_DOCUMENT: u64 = 64 << 10;
/// Signatures of one manifest that are looked at.
const MAX_SIGNATURES: usize = 32;
const CONNECT: Duration = Duration::from_secs(10);
/// Maximum time between two reads.
const READ: Duration = Duration::from_secs(30);
/// Maximum time of one request with its answer.
const REQUEST: Duration = Duration::from_secs(300);

/// A registry, for one artifact's repository.
pub struct RegistryClient {
    client: Client,
    auth: RegistryAuth,
    reference: ArtifactReference,
}

/// An artifact in the registry: its manifest is known.
#[derive(Debug)]
pub struct ResolvedArtifact {
    /// The reference, with the digest of the manifest.
    pub reference: ArtifactReference,
    /// Digest of the manifest.
    pub digest: String,
    manifest: OciImageManifest,
}

/// A component from a registry.
#[derive(Debug)]
pub struct PulledArtifact {
    /// The component.
    pub component: Bytes,
    /// Its digest.
    pub digest: String,
}

impl RegistryClient {
    /// Prepares requests about an artifact, with the credentials of `docker login`. TLS is used unless the registry is on this machine.
    ///
    /// # Errors
    ///
    /// If stored credentials cannot be read.
    pub fn new(reference: ArtifactReference) -> Result<Self, RegistryError> {
        // The client takes the provider of the process. An earlier one stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let protocol = match reference.is_local() {
            true => ClientProtocol::HttpsExcept(vec![reference.host().to_owned()]),
            false => ClientProtocol::Https,
        };
        let config = ClientConfig {
            protocol,
            connect_timeout: Some(CONNECT),
            read_timeout: Some(READ),
            platform_resolver: None,
            user_agent: concat!("loggia/", env!("CARGO_PKG_VERSION")),
            ..ClientConfig::default()
        };
        let auth = find_credential(reference.host())?;
        Ok(Self { client: Client::new(config), auth, reference })
    }

    /// Reads the manifest that the reference names.
    ///
    /// # Errors
    ///
    /// If there is none, it has another digest than the named one, or it is no manifest of an artifact.
    pub async fn resolve(&self) -> Result<ResolvedArtifact, RegistryError> {
        let bytes = self.pull_manifest(&self.reference).await?;
        let digest = digest_of(&bytes);
        Ok(ResolvedArtifact {
            reference: self.reference.pinned(&digest),
            manifest: parse_manifest(&bytes)?,
            digest,
        })
    }

    /// Finds out who of these signed an artifact; returns the name.
    ///
    /// # Errors
    ///
    /// If the registry has no valid signature by one of them.
    pub async fn find_signer<'a>(
        &self,
        artifact: &ResolvedArtifact,
        keys: &[(&'a str, &VerifyingKey)],
    ) -> Result<&'a str, RegistryError> {
        let tagged = self.reference.tagged(signature_tag(&artifact.digest));
        let manifest = match self.pull_manifest(&tagged).await {
            Ok(bytes) => parse_manifest(&bytes)?,
            Err(RegistryError::Missing(_)) => {
                return Err(SignatureError::Missing(artifact.reference.to_string()).into());
            }
            Err(error) => return Err(error),
        };
        let mut signed = Vec::new();
        for (layer, signature) in list_signatures(&manifest).into_iter().take(MAX_SIGNATURES) {
            let document =
                self.pull_blob("a signature", &layer.digest, layer.size.unsigned_abs(), MAX_DOCUMENT).await?;
            signed.push(SignedDocument { document, signature: signature.to_owned() });
        }
        Ok(find_signer(&signed, keys, &self.reference.path(), &artifact.digest)?)
    }

    /// Pulls the component of an artifact; `component` names one of an application.
    ///
    /// # Errors
    ///
    /// If it has none, it is larger than `most` bytes, or has another digest than the manifest names.
    pub async fn pull(
        &self,
        artifact: &ResolvedArtifact,
        component: Option<&str>,
        most: u64,
    ) -> Result<PulledArtifact, RegistryError> {
        let application = match spin_application(&artifact.manifest) {
            None => None,
            Some(config) => {
                Some(self.pull_blob("the configuration", &config.digest, config.size, MAX_CONFIG).await?)
            }
        };
        let ComponentLayer { digest, size } =
            find_component(&artifact.manifest, application.as_deref(), component)?;
        let component = self.pull_blob("the component", &digest, size, most).await?;
        Ok(PulledArtifact { component, digest })
    }

    /// Pushes an artifact under the tag of the reference; returns its reference with the digest.
    ///
    /// # Errors
    ///
    /// If the registry refuses it.
    pub async fn push(&self, packed: &PackedArtifact) -> Result<ArtifactReference, RegistryError> {
        self.push_all(&self.reference, &packed.manifest, &packed.blobs).await?;
        Ok(self.reference.pinned(&packed.digest()))
    }

    /// Pushes a signature of a manifest. One that is there is replaced.
    ///
    /// # Errors
    ///
    /// If the registry refuses it.
    pub async fn push_signature(&self, key: &SigningKey, digest: &str) -> Result<(), RegistryError> {
        let (manifest, blobs) = sign(key, &self.reference.path(), digest)
            .ok_or_else(|| SignatureError::Missing(digest.to_owned()))?;
        self.push_all(&self.reference.tagged(signature_tag(digest)), &manifest, &blobs).await
    }

    async fn push_all(
        &self,
        reference: &ArtifactReference,
        manifest: &Bytes,
        blobs: &[Bytes],
    ) -> Result<(), RegistryError> {
        let to = reference.to_client();
        self.client.store_auth_if_needed(self.reference.host(), &self.auth).await;
        for blob in blobs {
            let digest = digest_of(blob);
            self.request(reference, self.client.push_blob(&to, blob.clone(), &digest)).await?;
        }
        let media_type = http::HeaderValue::from_static(MANIFEST);
        self.request(reference, self.client.push_manifest_raw(&to, manifest.clone(), media_type)).await?;
        Ok(())
    }

    async fn pull_manifest(&self, reference: &ArtifactReference) -> Result<Bytes, RegistryError> {
        let from: Reference = reference.to_client();
        let pulled = self.client.pull_manifest_raw(&from, &self.auth, &MANIFESTS);
        let (bytes, _) = self.request(reference, pulled).await?;
        if bytes.len() as u64 > MAX_MANIFEST {
            return Err(RegistryError::Size { what: "the manifest", most: MAX_MANIFEST });
        }
        match reference.digest() {
            Some(expected) => verify("the manifest", &bytes, expected).map(|()| bytes),
            None => Ok(bytes),
        }
    }

    /// Pulls a blob of at most this size. Nothing beyond its size is kept.
    async fn pull_blob(
        &self,
        what: &'static str,
        digest: &str,
        size: u64,
        most: u64,
    ) -> Result<Bytes, RegistryError> {
        if size > most {
            return Err(RegistryError::Size { what, most });
        }
        let descriptor = OciDescriptor {
            digest: digest.to_owned(),
            size: i64::try_from(size).unwrap_or(i64::MAX),
            ..OciDescriptor::default()
        };
        let from = self.reference.to_client();
        let read = async {
            let mut stream = self.client.pull_blob_stream(&from, &descriptor).await?;
            let mut bytes = BytesMut::new();
            while let Some(part) = stream.try_next().await? {
                if bytes.len() as u64 + part.len() as u64 > size {
                    return Ok(None);
                }
                bytes.extend_from_slice(&part);
            }
            Ok(Some(bytes.freeze()))
        };
        let bytes = self.request(&self.reference, read).await?;
        let bytes = bytes.ok_or(RegistryError::Size { what, most: size })?;
        verify(what, &bytes, digest).map(|()| bytes)
    }

    async fn request<T>(
        &self,
        reference: &ArtifactReference,
        request: impl Future<Output = Result<T, OciDistributionError>>,
    ) -> Result<T, RegistryError> {
        let answer = tokio::time::timeout(REQUEST, request).await;
        let answer = answer.map_err(|_| RegistryError::Timeout(REQUEST.as_secs()))?;
        answer.map_err(|error| {
            RegistryError::from_client(self.reference.host(), &reference.to_string(), &error)
        })
    }
}

fn verify(what: &'static str, bytes: &[u8], expected: &str) -> Result<(), RegistryError> {
    let found = digest_of(bytes);
    match found == expected {
        true => Ok(()),
        false => Err(RegistryError::Digest { what, expected: expected.to_owned(), found }),
    }
}
