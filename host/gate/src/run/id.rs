//! The handle of a run: whoever holds it, and is its caller, finds the run by it.

use std::fmt;

/// Names a detached call: 128 random bits, so that it cannot be guessed.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RunId(String);

impl RunId {
    /// A handle that a client gave back.
    pub fn from_client(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub(super) fn random() -> Self {
        use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
        let mut bits = [0; 16];
        // Without the kernel's randomness no handle is safe to give out; it cannot fail after boot.
        rustix::rand::getrandom(&mut bits, rustix::rand::GetRandomFlags::empty())
            .unwrap_or_else(|e| unreachable!("the kernel gave no random bits: {e}"));
        Self(format!("run_{}", URL_SAFE_NO_PAD.encode(bits)))
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
