//! Plugins in OCI registries: where they are, how they are packed, and who signed them.
//!
//! A registry is untrusted: what it sends is bounded before it is kept, and every byte is verified against a digest that the operator
//! named, or that a trusted key signed.
//!
//! | file | concept |
//! |---|---|
//! | `reference.rs` | `oci://HOST/REPOSITORY:TAG@DIGEST` |
//! | `digest.rs` | SHA-256 digests of manifests and blobs |
//! | `layout.rs` | pure: which layer of a manifest is the component; manifests to push |
//! | `component_names.rs` | pure: what a component imports and exports |
//! | `signature.rs` | pure: signatures in cosign's format, by a key |
//! | `trust.rs` | pure: which keys must have signed an artifact |
//! | `credential.rs` | credentials of `docker login` |
//! | `registry.rs` | requests to registries |

#![warn(unreachable_pub)]

mod component_names;
mod credential;
mod digest;
mod error;
mod layout;
mod reference;
mod registry;
mod signature;
mod trust;

pub use component_names::ComponentNames;
pub use digest::digest_of;
pub use error::RegistryError;
pub use layout::{ArtifactLayout, ComponentLayer, LayoutError, PackedArtifact};
pub use reference::{ArtifactReference, ReferenceError};
pub use registry::{PulledArtifact, RegistryClient, ResolvedArtifact};
pub use signature::{SignatureKeyError, SigningKey, VerifyingKey};
pub use trust::{RepositoryPattern, RequiredSignature, TrustRule, required_signature};
