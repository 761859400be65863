//! A plugin's bytes: the kind of file, and the digest that identifies them.

use std::fmt;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use crate::LoadError;

/// SHA-256 of a plugin's bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArtifactDigest(pub [u8; 32]);

impl ArtifactDigest {
    /// Computes the digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Parses a digest as it is displayed: 64 lower-case hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        HEXLOWER.decode(text.as_bytes()).ok()?.try_into().ok().map(Self)
    }
}

impl fmt::Display for ArtifactDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

impl fmt::Debug for ArtifactDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{self}")
    }
}

/// A plugin's bytes with their digest.
#[derive(Clone)]
pub struct PluginArtifact {
    /// The component, as it was read.
    pub bytes: Vec<u8>,
    /// Digest of `bytes`.
    pub digest: ArtifactDigest,
}

impl PluginArtifact {
    /// Checks that these bytes look like a component.
    ///
    /// # Errors
    ///
    /// The kind of file that the bytes are instead. Only the first eight bytes are read; the compiler validates the rest.
    pub fn new(bytes: Vec<u8>) -> Result<Self, LoadError> {
        match bytes.get(..8) {
            Some([0, b'a', b's', b'm', version @ ..]) => match version {
                // Version 13, layer 1: a component.
                [0x0d, 0, 1, 0] => {}
                [1, 0, 0, 0] => return Err(LoadError::CoreModule),
                _ => return Err(LoadError::NotWasm),
            },
            Some([0x7f, b'E', b'L', b'F', ..]) => return Err(LoadError::Precompiled),
            _ => return Err(LoadError::NotWasm),
        }
        let digest = ArtifactDigest::of(&bytes);
        Ok(Self { bytes, digest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_displayed_digest_is_parsed_again() {
        let digest = ArtifactDigest::of(b"x");
        assert_eq!(ArtifactDigest::parse(&digest.to_string()), Some(digest));
        for text in ["", "0", "xy", &digest.to_string()[2..], &digest.to_string().to_uppercase()] {
            assert_eq!(ArtifactDigest::parse(text), None, "{text}");
        }
    }

    #[test]
    fn only_a_component_is_taken_and_everything_else_is_named() {
        let check = |bytes: &[u8], expected: &str| {
            let message =
                PluginArtifact::new(bytes.to_vec()).map_or_else(|e| e.to_string(), |_| "taken".into());
            assert!(message.starts_with(expected), "{bytes:?}: {message}");
        };
        check(b"\0asm\x0d\0\x01\0", "taken");
        check(b"\0asm\x01\0\0\0", "a core WebAssembly module");
        check(b"\0asm\x63\0\0\0", "not a WebAssembly component");
        check(b"\x7fELF\x02\x01\x01\0", "compiled machine code");
        check(b"#!/bin/sh\n", "not a WebAssembly component");
        check(b"", "not a WebAssembly component");
    }
}
