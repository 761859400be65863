//! The handle by which a caller finds its run.

use std::fmt;

/// Handle of a detached call: 128 random bits, so that it cannot be guessed.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RunId(String);

impl RunId {
    /// Wraps a handle as a client sent it. It need not name a run.
    pub fn from_client(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Makes a handle of these bits, which must be secret and unpredictable.
    pub fn from_bits(bits: [u8; 16]) -> Self {
        use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
        Self(format!("run_{}", URL_SAFE_NO_PAD.encode(bits)))
    }

    /// Creates a handle that nobody can guess.
    pub fn random() -> Self {
        let mut bits = [0; 16];
        // Cannot fail after boot; without randomness no handle is safe to hand out.
        getrandom::fill(&mut bits).unwrap_or_else(|e| unreachable!("the kernel gave no random bits: {e}"));
        Self::from_bits(bits)
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
