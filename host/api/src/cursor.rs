//! Cursors: the query of the next page, sealed for one operation and one caller.
//!
//! A cursor passes through a client. Without a seal, a caller could send parameters that the action's schema does not have.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use loggia_facade::{Failure, ScopeKey, code};
use sha2::Sha256;

/// Seals cursors. The host makes one key per process.
#[derive(Clone)]
pub struct CursorKey([u8; 32]);

impl std::fmt::Debug for CursorKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CursorKey")
    }
}

/// Bytes of a seal.
const SEAL: usize = 16;
/// Bytes of a cursor, at most.
const CURSOR: usize = 8 << 10;

impl CursorKey {
    /// Takes a key of random bytes.
    pub fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    /// Seals the query of a page of an action.
    pub(crate) fn seal(&self, action: &str, scope: Option<&ScopeKey>, query: &[(String, String)]) -> String {
        let text = serde_json::to_string(query).unwrap_or_default();
        let mut bytes = self.tag(action, scope, text.as_bytes()).to_vec();
        bytes.extend_from_slice(text.as_bytes());
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Opens a cursor of the same action and caller.
    ///
    /// # Errors
    ///
    /// A cursor of another action, caller or process, or none at all.
    pub(crate) fn open(
        &self,
        action: &str,
        scope: Option<&ScopeKey>,
        cursor: &str,
    ) -> Result<Vec<(String, String)>, Failure> {
        let refused = || {
            Failure::new(code::INVALID_PARAMS, "`cursor` is not from a response of this action")
                .hint("Pass `cursor` exactly as the last response of this action has it, or leave it out to begin again.")
        };
        let bytes = Some(cursor)
            .filter(|cursor| cursor.len() <= CURSOR)
            .and_then(|cursor| URL_SAFE_NO_PAD.decode(cursor).ok());
        let bytes = bytes.ok_or_else(refused)?;
        let (seal, text) = bytes.split_at_checked(SEAL).ok_or_else(refused)?;
        let mut mac = self.mac(action, scope);
        mac.update(text);
        mac.verify_truncated_left(seal).map_err(|_| refused())?;
        serde_json::from_slice(text).map_err(|_| refused())
    }

    fn tag(&self, action: &str, scope: Option<&ScopeKey>, text: &[u8]) -> [u8; SEAL] {
        let mut mac = self.mac(action, scope);
        mac.update(text);
        let mut tag = [0; SEAL];
        tag.copy_from_slice(&mac.finalize().into_bytes()[..SEAL]);
        tag
    }

    fn mac(&self, action: &str, scope: Option<&ScopeKey>) -> Hmac<Sha256> {
        // HMAC pads a short key with zeros to the block of its digest.
        let mut block = [0; 64];
        block[..self.0.len()].copy_from_slice(&self.0);
        let mut mac = <Hmac<Sha256> as KeyInit>::new(&block.into());
        mac.update(&(action.len() as u64).to_le_bytes());
        mac.update(action.as_bytes());
        mac.update(scope.map_or(&[][..], |scope| &scope.0));
        mac.update(&[u8::from(scope.is_some())]);
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_are_sealed_to_their_action() {
        let key = CursorKey::new([7; 32]);
        let (one, other) = (ScopeKey([1; 32]), ScopeKey([2; 32]));
        let query = vec![("page".to_owned(), "2".to_owned())];
        let cursor = key.seal("list", Some(&one), &query);
        assert_eq!(key.open("list", Some(&one), &cursor), Ok(query));
        let forged = URL_SAFE_NO_PAD.encode([&[0; SEAL][..], br#"[["admin","1"]]"#].concat());
        for (key, action, scope, cursor) in [
            (&key, "list_all", Some(&one), cursor.as_str()),
            (&key, "list", Some(&other), &cursor),
            (&key, "list", None, &cursor),
            (&CursorKey::new([8; 32]), "list", Some(&one), &cursor),
            (&key, "list", Some(&one), &cursor[1..]),
            (&key, "list", Some(&one), &forged),
            (&key, "list", Some(&one), ""),
            (&key, "list", Some(&one), "no base64 €"),
        ] {
            assert!(key.open(action, scope, cursor).is_err(), "{action} {cursor}");
        }
    }
}
