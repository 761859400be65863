//! Signatures in cosign's format for keys: ECDSA over P-256 of a small JSON document that names a manifest by its digest. Pure.
//!
//! The signatures of a manifest are an artifact of the same repository, under a tag made of its digest. Each layer is a signed
//! document, with the signature as an annotation.

use std::collections::BTreeMap;

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use oci_client::manifest::{OciDescriptor, OciImageManifest};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, UnparsedPublicKey},
};
use rustls_pki_types::{PrivatePkcs8KeyDer, SubjectPublicKeyInfoDer, pem::PemObject};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{digest::digest_of, layout::MANIFEST};

const PAYLOAD: &str = "application/vnd.dev.cosign.simplesigning.v1+json";
const ANNOTATION: &str = "dev.cosignproject.cosign/signature";
const KIND: &str = "cosign container image signature";
const IMAGE_CONFIG: &str = "application/vnd.oci.image.config.v1+json";
/// Beginning of a public key on P-256 as X.509 has it; 65 bytes of the point follow.
const P256_HEAD: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86,
    0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// Why a key cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignatureKeyError {
    /// It is not PEM, or of another kind.
    #[error("is no public key in PEM, as `cosign public-key` prints it")]
    Public,
    /// It is another algorithm's.
    #[error("is no key of ECDSA on P-256, which cosign makes by default")]
    Algorithm,
    /// It is not PEM, or of another kind.
    #[error(
        "is no unencrypted private key in PEM (PKCS #8), as `openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256` makes it; with a key of cosign, push without a key and sign with `cosign sign --key`"
    )]
    Private,
}

/// Why an artifact is not trusted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The registry has no signature of it.
    #[error(
        "it is not signed: the registry has no signatures of {0} in the format of `cosign sign --key KEY --new-bundle-format=false` or `loggia push --key KEY`"
    )]
    Missing(String),
    /// There are signatures, and none is by a key of the rules.
    #[error("it is not signed by {0}")]
    Untrusted(String),
    /// There is a valid signature for another repository or manifest.
    #[error("its signature is for {0}")]
    Other(String),
}

/// A public key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyingKey(Vec<u8>);

impl VerifyingKey {
    /// Reads a public key in PEM.
    ///
    /// # Errors
    ///
    /// If it is none, or not on P-256.
    pub fn from_pem(pem: &[u8]) -> Result<Self, SignatureKeyError> {
        let key = SubjectPublicKeyInfoDer::from_pem_slice(pem).map_err(|_| SignatureKeyError::Public)?;
        let point = key.strip_prefix(&P256_HEAD).filter(|point| point.len() == 65 && point[0] == 4);
        point.map(|point| Self(point.to_vec())).ok_or(SignatureKeyError::Algorithm)
    }

    fn verifies(&self, document: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, &self.0).verify(document, signature).is_ok()
    }
}

/// A private key.
pub struct SigningKey(EcdsaKeyPair);

impl SigningKey {
    /// Reads a private key in PEM.
    ///
    /// # Errors
    ///
    /// If it is none, encrypted, or not on P-256.
    pub fn from_pem(pem: &[u8]) -> Result<Self, SignatureKeyError> {
        let key = PrivatePkcs8KeyDer::from_pem_slice(pem).map_err(|_| SignatureKeyError::Private)?;
        let key = key.secret_pkcs8_der();
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, key, &SystemRandom::new())
            .map(Self)
            .map_err(|_| SignatureKeyError::Algorithm)
    }

    fn sign(&self, document: &[u8]) -> Option<String> {
        let signature = self.0.sign(&SystemRandom::new(), document).ok()?;
        Some(BASE64_STANDARD.encode(signature))
    }
}

/// A document and the signature that the registry has of it.
#[derive(Debug, Clone)]
pub(crate) struct SignedDocument {
    pub(crate) document: Bytes,
    pub(crate) signature: String,
}

/// The document, as far as it is signed for a meaning.
#[derive(Deserialize)]
struct Payload {
    critical: Critical,
}

#[derive(Deserialize)]
struct Critical {
    identity: Identity,
    image: Image,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct Identity {
    #[serde(rename = "docker-reference")]
    reference: String,
}

#[derive(Deserialize)]
struct Image {
    #[serde(rename = "docker-manifest-digest")]
    digest: String,
}

/// Lists the layers of a signature artifact that can be signatures, with the signature.
pub(crate) fn list_signatures(manifest: &OciImageManifest) -> Vec<(&OciDescriptor, &str)> {
    let layers = manifest.layers.iter().filter(|layer| layer.media_type == PAYLOAD);
    let signed = layers.filter_map(|layer| {
        let annotations: &BTreeMap<String, String> = layer.annotations.as_ref()?;
        Some((layer, annotations.get(ANNOTATION)?.as_str()))
    });
    signed.collect()
}

/// Finds a signature of a manifest in a repository by one of the named keys; returns the key's name.
///
/// The repository counts, too: otherwise a registry could serve one signed plugin in place of another one of the same signer.
///
/// # Errors
///
/// If no document that one of the keys signed names both.
pub(crate) fn find_signer<'a>(
    signed: &[SignedDocument],
    keys: &[(&'a str, &VerifyingKey)],
    path: &str,
    digest: &str,
) -> Result<&'a str, SignatureError> {
    let mut other = None;
    for SignedDocument { document, signature } in signed {
        let Ok(signature) = BASE64_STANDARD.decode(signature) else { continue };
        let signer = keys.iter().find(|(_, key)| key.verifies(document, &signature));
        let Some((name, _)) = signer else { continue };
        let Ok(Payload { critical }) = serde_json::from_slice(document) else { continue };
        // Cosign may write the tag or the digest that was signed.
        let reference = critical.identity.reference.split('@').next().unwrap_or_default();
        let is_path = reference.strip_prefix(path).is_some_and(|rest| {
            rest.is_empty() || rest.strip_prefix(':').is_some_and(|tag| !tag.contains('/'))
        });
        if critical.kind == KIND && is_path && critical.image.digest == digest {
            return Ok(name);
        }
        other = Some(format!("{}, manifest {}", critical.identity.reference, critical.image.digest));
    }
    Err(other.map_or_else(|| SignatureError::Untrusted(names(keys)), SignatureError::Other))
}

fn names(keys: &[(&str, &VerifyingKey)]) -> String {
    keys.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(" or ")
}

/// The artifact that has the signature of a manifest: manifest, configuration, document. `None` if the key fails.
pub(crate) fn sign(key: &SigningKey, path: &str, digest: &str) -> Option<(Bytes, [Bytes; 2])> {
    let document = json!({
        "critical": {
            "identity": {"docker-reference": path},
            "image": {"docker-manifest-digest": digest},
            "type": KIND,
        },
        "optional": null,
    });
    let document = Bytes::from(document.to_string());
    let signature = key.sign(&document)?;
    let diff = digest_of(&document);
    let config = json!({
        "architecture": "", "os": "", "config": {}, "history": [],
        "rootfs": {"type": "layers", "diff_ids": [diff]},
    });
    let config = Bytes::from(config.to_string());
    let manifest: Value = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": {"mediaType": IMAGE_CONFIG, "digest": digest_of(&config), "size": config.len()},
        "layers": [{
            "mediaType": PAYLOAD,
            "digest": diff,
            "size": document.len(),
            "annotations": {ANNOTATION: signature},
        }],
    });
    Some((Bytes::from(manifest.to_string()), [config, document]))
}

#[cfg(test)]
pub(crate) mod tests {
    use ring::signature::KeyPair;

    use super::*;
    use crate::layout::parse_manifest;

    /// A new key pair in PEM: private, public.
    pub(crate) fn key_pair() -> (String, String) {
        let private =
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &SystemRandom::new()).unwrap();
        let pair =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, private.as_ref(), &SystemRandom::new());
        let public = [&P256_HEAD[..], pair.unwrap().public_key().as_ref()].concat();
        let pem = |label: &str, bytes: &[u8]| {
            format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", BASE64_STANDARD.encode(bytes))
        };
        (pem("PRIVATE KEY", private.as_ref()), pem("PUBLIC KEY", &public))
    }

    const PATH: &str = "ghcr.io/acme/notes";

    fn signed(key: &str, path: &str, digest: &str) -> SignedDocument {
        let (manifest, blobs) = sign(&SigningKey::from_pem(key.as_bytes()).unwrap(), path, digest).unwrap();
        let manifest = parse_manifest(&manifest).unwrap();
        let listed = list_signatures(&manifest);
        assert_eq!((listed.len(), &*listed[0].0.digest), (1, &*digest_of(&blobs[1])));
        SignedDocument { document: blobs[1].clone(), signature: listed[0].1.to_owned() }
    }

    #[test]
    fn only_the_signed_manifest_is_trusted() {
        let ((private, key), (_, other)) = (key_pair(), key_pair());
        let [key, other] = [key, other].map(|pem| VerifyingKey::from_pem(pem.as_bytes()).unwrap());
        let signed = |path: &str, digest: &str| signed(&private, path, digest);
        let (digest, evil) = (digest_of(b"notes"), digest_of(b"evil"));
        let mut changed = signed(PATH, &digest);
        changed.document = Bytes::from(String::from_utf8_lossy(&changed.document).replace(&digest, &evil));
        let find = |signed: &[SignedDocument], key: &VerifyingKey, digest: &str| {
            find_signer(signed, &[("acme", key)], PATH, digest).map_err(|error| error.to_string())
        };
        let good = signed(PATH, &digest);
        assert_eq!(find(&[changed.clone(), good.clone()], &key, &digest), Ok("acme"));
        for (what, signed, key, digest, expected) in [
            ("no signature", vec![], &key, &digest, "not signed by `acme`"),
            ("another key", vec![good.clone()], &other, &digest, "not signed by `acme`"),
            ("another manifest", vec![good.clone()], &key, &evil, "its signature is for ghcr.io/acme/notes"),
            ("a changed document", vec![changed], &key, &evil, "not signed by `acme`"),
            (
                "another repository",
                vec![signed("ghcr.io/acme/shell", &digest)],
                &key,
                &digest,
                "for ghcr.io/acme/shell",
            ),
            (
                "a longer name",
                vec![signed("ghcr.io/acme/notes2", &digest)],
                &key,
                &digest,
                "for ghcr.io/acme/notes2",
            ),
            (
                "a repository below",
                vec![signed("ghcr.io/acme/notes/x", &digest)],
                &key,
                &digest,
                "for ghcr.io",
            ),
        ] {
            let error = find(&signed, key, digest).unwrap_err();
            assert!(error.contains(expected), "{what}: {error}");
        }
        let tagged = signed(&format!("{PATH}:1.0"), &digest);
        assert_eq!(find(&[tagged], &key, &digest), Ok("acme"));
    }

    #[test]
    fn other_keys_are_refused_with_a_reason() {
        let (private, public) = key_pair();
        assert_eq!(VerifyingKey::from_pem(private.as_bytes()), Err(SignatureKeyError::Public));
        assert_eq!(VerifyingKey::from_pem(b"key"), Err(SignatureKeyError::Public));
        let rsa =
            b"-----BEGIN PUBLIC KEY-----\nMFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAJ==\n-----END PUBLIC KEY-----\n";
        assert!(VerifyingKey::from_pem(rsa).is_err());
        assert_eq!(SigningKey::from_pem(public.as_bytes()).err(), Some(SignatureKeyError::Private));
        let cosign = b"-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED SIGSTORE PRIVATE KEY-----\n";
        assert_eq!(SigningKey::from_pem(cosign).err(), Some(SignatureKeyError::Private));
    }
}
