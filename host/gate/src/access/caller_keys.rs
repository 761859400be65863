//! Under which key a plugin keeps a caller's state, and by which name it may know one.

use hmac::{Hmac, KeyInit, Mac};
use loggia_facade::ScopeKey;
use sha2::Sha256;

use super::call_origin::Caller;

/// Turns callers into keys: a keyed digest of caller and facade, so that neither a plugin, nor two of them together, nor
/// who reads their files learns who asked.
#[derive(Clone)]
pub struct Scopes([u8; 32]);

impl Scopes {
    /// Keys by the secret of a state folder: the same caller has the same keys in each host that uses it.
    pub fn new(secret: [u8; 32]) -> Self {
        Self(secret)
    }

    /// The key of a caller with a facade. None for those who cannot be told apart from anybody else.
    pub fn key_for(&self, caller: &Caller, facade: &str) -> Option<ScopeKey> {
        let (kind, name) = match caller {
            Caller::Local => (b"local", ""),
            Caller::Named(name) => (b"named", &**name),
            Caller::Anonymous => return None,
        };
        // Padded as HMAC pads a key that is shorter than a block of its hash.
        let mut key = [0; 64];
        key[..self.0.len()].copy_from_slice(&self.0);
        let mut mac = Hmac::<Sha256>::new(&key.into());
        // A facade's name holds no zero byte, so no two pairs are written alike.
        for part in [kind.as_slice(), facade.as_bytes(), b"\0", name.as_bytes()] {
            mac.update(part);
        }
        Some(ScopeKey(mac.finalize().into_bytes().into()))
    }
}

impl std::fmt::Debug for Scopes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scopes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_one_callers_with_one_facade_under_one_secret() {
        let named = |name: &str| Caller::Named(name.into());
        let scopes = Scopes::new([1; 32]);
        let key = scopes.key_for(&named("ada"), "notes").unwrap();
        assert_eq!(scopes.key_for(&named("ada"), "notes"), Some(key.clone()));
        for other in [
            scopes.key_for(&named("ada"), "tasks"),
            scopes.key_for(&named("bob"), "notes"),
            scopes.key_for(&Caller::Local, "notes"),
            Scopes::new([2; 32]).key_for(&named("ada"), "notes"),
        ] {
            assert_ne!(other, Some(key.clone()));
        }
        assert_eq!(scopes.key_for(&Caller::Anonymous, "notes"), None);
    }
}
