//! SHA-256 digests, as registries write them.

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

const ALGORITHM: &str = "sha256:";

/// Computes the digest of bytes, `sha256:` and 64 hexadecimal digits.
pub fn digest_of(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    format!("{ALGORITHM}{}", HEXLOWER.encode(&hash))
}

/// Returns true for `sha256:` and 64 lower-case hexadecimal digits.
pub(crate) fn is_digest(text: &str) -> bool {
    let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.strip_prefix(ALGORITHM).is_some_and(|hex| hex.len() == 64 && hex.bytes().all(is_hex))
}

/// Returns the tag under which cosign stores the signatures of a manifest.
pub(crate) fn signature_tag(digest: &str) -> String {
    format!("{}.sig", digest.replace(':', "-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_written_as_registries_do() {
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(digest_of(b""), empty);
        assert!(is_digest(empty));
        assert_eq!(
            signature_tag(empty),
            "sha256-e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855.sig"
        );
        for other in ["", "sha256:", &empty[7..], &empty.to_uppercase(), &format!("{empty}0"), "sha512:00"] {
            assert!(!is_digest(other), "{other}");
        }
    }
}
