//! The code by which a caller proves that its own person completed a login.

use std::fmt;

use ring::rand::{SecureRandom, SystemRandom};
use subtle::ConstantTimeEq;

/// Crockford's alphabet: 32 characters that people do not confuse.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// Characters of a code, of five bits each.
const LENGTH: usize = 8;

/// A random code of 40 bits. Its `Debug` output hides it.
#[derive(Clone)]
pub struct ConfirmationCode([u8; LENGTH]);

impl ConfirmationCode {
    /// Creates a random code.
    ///
    /// # Errors
    ///
    /// If the kernel gives no random bytes.
    pub(super) fn new_random() -> Result<Self, &'static str> {
        let mut random = [0; LENGTH];
        SystemRandom::new().fill(&mut random).map_err(|_| "the kernel gave no random bytes")?;
        // 256 is a multiple of 32, so all characters are equally likely.
        Ok(Self(random.map(|byte| ALPHABET[usize::from(byte) % ALPHABET.len()])))
    }

    /// Whether a person's text is this code. Case, spaces and hyphens do not matter, nor do letters that look like digits.
    pub(super) fn is_typed_as(&self, text: &str) -> bool {
        let typed: Vec<u8> = text.bytes().filter(|byte| !b" -".contains(byte)).map(read).collect();
        self.0.ct_eq(&typed).into()
    }
}

/// Reads one character as Crockford's alphabet does.
fn read(byte: u8) -> u8 {
    match byte.to_ascii_uppercase() {
        b'O' => b'0',
        b'I' | b'L' => b'1',
        other => other,
    }
}

impl fmt::Display for ConfirmationCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |bytes| String::from_utf8_lossy(bytes);
        let (first, last) = self.0.split_at(LENGTH / 2);
        write!(f, "{}-{}", text(first), text(last))
    }
}

impl fmt::Debug for ConfirmationCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConfirmationCode")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_may_be_typed_in_many_ways() {
        let code = ConfirmationCode(*b"10ABCDEF");
        assert_eq!(code.to_string(), "10AB-CDEF");
        assert!(!format!("{code:?}").contains("10AB"));
        for (text, expected) in [
            ("10AB-CDEF", true),
            ("10abcdef", true),
            (" 10 ab cd ef ", true),
            ("loAB-CDEF", true),
            ("IOAB-CDEF", true),
            ("10AB-CDEG", false),
            ("10AB-CDE", false),
            ("10AB-CDEF0", false),
            ("10AB_CDEF", false),
            ("", false),
        ] {
            assert_eq!(code.is_typed_as(text), expected, "{text}");
        }
    }

    #[test]
    fn codes_differ() {
        let mut codes: Vec<_> =
            (0..100).map(|_| ConfirmationCode::new_random().unwrap().to_string()).collect();
        codes.sort();
        codes.dedup();
        assert_eq!(codes.len(), 100);
        assert!(codes.iter().all(|code| code.len() == 9), "{codes:?}");
    }
}
