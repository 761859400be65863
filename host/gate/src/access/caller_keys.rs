//! Opaque keys by which a plugin knows its callers and stores their state.

use hmac::{Hmac, KeyInit, Mac};
use loggia_facade::ScopeKey;
use sha2::Sha256;

use super::call_origin::Caller;

/// Derives a key from a caller and a facade by HMAC. Neither a plugin, nor two plugins together, nor a reader of their files
/// can tell from it who the caller is.
#[derive(Clone)]
pub struct CallerKeys([u8; 32]);

impl CallerKeys {
    /// Uses the secret of a state folder: hosts that share the folder derive the same keys.
    pub fn new(secret: [u8; 32]) -> Self {
        Self(secret)
    }

    /// Derives the key of a caller for a facade. `None` for anonymous callers, who cannot be distinguished.
    pub fn key_for(&self, caller: &Caller, facade: &str) -> Option<ScopeKey> {
        let (kind, name) = match caller {
            Caller::Local => (b"local", ""),
            Caller::Named(name) => (b"named", &**name),
            Caller::Anonymous => return None,
        };
        // Zero-padded to the block size, as HMAC does with shorter keys.
        let mut key = [0; 64];
        key[..self.0.len()].copy_from_slice(&self.0);
        let mut mac = Hmac::<Sha256>::new(&key.into());
        // A facade's name has no zero byte, so the encoding is unambiguous.
        for part in [kind.as_slice(), facade.as_bytes(), b"\0", name.as_bytes()] {
            mac.update(part);
        }
        Some(ScopeKey(mac.finalize().into_bytes().into()))
    }
}

impl std::fmt::Debug for CallerKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CallerKeys")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_depends_on_caller_facade_and_secret() {
        let named = |name: &str| Caller::Named(name.into());
        let scopes = CallerKeys::new([1; 32]);
        let key = scopes.key_for(&named("ada"), "notes").unwrap();
        assert_eq!(scopes.key_for(&named("ada"), "notes"), Some(key.clone()));
        for other in [
            scopes.key_for(&named("ada"), "tasks"),
            scopes.key_for(&named("bob"), "notes"),
            scopes.key_for(&Caller::Local, "notes"),
            CallerKeys::new([2; 32]).key_for(&named("ada"), "notes"),
        ] {
            assert_ne!(other, Some(key.clone()));
        }
        assert_eq!(scopes.key_for(&Caller::Anonymous, "notes"), None);
    }
}
