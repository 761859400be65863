//! Authenticated encryption of one credential (pure but for the nonce).

use ring::{
    aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    error::Unspecified,
    rand::{SecureRandom, SystemRandom},
};

use crate::key::VaultKey;

/// First bytes of a sealed credential: the format.
const FORMAT: &[u8; 4] = b"LGC1";

/// What a credential is sealed for. Sealed for one place, it cannot be opened at another.
pub(crate) struct SealPlace<'a> {
    pub facade: &'a str,
    pub caller: &'a [u8; 32],
}

impl SealPlace<'_> {
    fn to_aad(&self) -> Aad<Vec<u8>> {
        // A facade's name has no zero byte, so the encoding is unambiguous.
        Aad::from([FORMAT, self.facade.as_bytes(), &[0], self.caller.as_slice()].concat())
    }
}

/// Encrypts a text for a place. Nonces are random: their number stays far below the 2^32 that are safe for one key.
pub(crate) fn seal(key: &VaultKey, place: &SealPlace<'_>, text: &[u8]) -> Result<Vec<u8>, Unspecified> {
    let mut nonce = [0; NONCE_LEN];
    SystemRandom::new().fill(&mut nonce)?;
    let mut sealed = text.to_vec();
    cipher(key)?.seal_in_place_append_tag(
        Nonce::assume_unique_for_key(nonce),
        place.to_aad(),
        &mut sealed,
    )?;
    Ok([FORMAT.as_slice(), &nonce, &sealed].concat())
}

/// Decrypts what was sealed for the same place with the same key.
pub(crate) fn open(key: &VaultKey, place: &SealPlace<'_>, sealed: &[u8]) -> Result<Vec<u8>, Unspecified> {
    let rest = sealed.strip_prefix(FORMAT).ok_or(Unspecified)?;
    let (nonce, text) = rest.split_first_chunk::<NONCE_LEN>().ok_or(Unspecified)?;
    let mut text = text.to_vec();
    let nonce = Nonce::assume_unique_for_key(*nonce);
    let length = cipher(key)?.open_in_place(nonce, place.to_aad(), &mut text)?.len();
    text.truncate(length);
    Ok(text)
}

fn cipher(key: &VaultKey) -> Result<LessSafeKey, Unspecified> {
    UnboundKey::new(&CHACHA20_POLY1305, &key.0).map(LessSafeKey::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_text_opens_at_its_place_only() {
        let key = VaultKey([1; 32]);
        let place = SealPlace { facade: "shop", caller: &[2; 32] };
        let sealed = seal(&key, &place, b"credential").unwrap();
        assert_eq!(open(&key, &place, &sealed).unwrap(), b"credential");
        assert_ne!(seal(&key, &place, b"credential").unwrap(), sealed, "a nonce was used twice");
        assert!(!sealed.windows(10).any(|window| window == b"credential"));
        for (key, facade, caller) in
            [([3; 32], "shop", [2; 32]), ([1; 32], "shops", [2; 32]), ([1; 32], "shop", [3; 32])]
        {
            let place = SealPlace { facade, caller: &caller };
            assert!(open(&VaultKey(key), &place, &sealed).is_err());
        }
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert!(open(&key, &place, &changed).is_err(), "byte {at}");
            assert!(open(&key, &place, &sealed[..at]).is_err(), "{at} bytes");
        }
    }
}
