//! Pure: what follows from the cause of a start.

use hmac::{Hmac, KeyInit, Mac};
use loggia_facade::{Detail, Input, Object, Request};
use loggia_gate::run::RunId;
use sha2::Sha256;

/// Creates the request of a start. Its key is that of its cause.
pub fn to_request(facade: &str, action: &str, params: Object, key: String) -> Request {
    let input = Input::Action { action: action.to_owned(), params, detail: Detail::Standard };
    Request { idempotency_key: Some(key), ..Request::new(facade, input) }
}

/// Derives the handle of a run from its cause: the same on every host, and unknown to others.
pub fn derive_id(secret: Option<&[u8; 32]>, cause: &str) -> RunId {
    let keyed = secret.and_then(|secret| Hmac::<Sha256>::new_from_slice(secret).ok());
    let Some(mut keyed) = keyed else { return RunId::random() };
    keyed.update(b"loggia start ");
    keyed.update(cause.as_bytes());
    let digest: [u8; 32] = keyed.finalize().into_bytes().into();
    let mut bits = [0; 16];
    bits.copy_from_slice(&digest[..16]);
    RunId::from_bits(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_cause_has_the_same_handle_on_every_host() {
        let secret = [7; 32];
        let id = |cause: &str| derive_id(Some(&secret), cause).to_string();
        assert_eq!(id("schedule/a/b/c/2026"), id("schedule/a/b/c/2026"));
        assert_ne!(id("schedule/a/b/c/2026"), id("schedule/a/b/c/2027"));
        assert_ne!(derive_id(Some(&[8; 32]), "x").to_string(), id("x"));
        assert_eq!(id("x").len(), RunId::random().to_string().len());
    }
}
