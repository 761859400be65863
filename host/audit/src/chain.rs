//! Pure: the chain of hashes.

use sha2::{Digest, Sha256};

/// End of a chain: number and hash of its last line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChainHead {
    /// Number of the last line; 0 before the first.
    pub seq: u64,
    /// SHA-256 of the last line without its line feed, in hexadecimal.
    pub hash: String,
}

impl Default for ChainHead {
    fn default() -> Self {
        Self { seq: 0, hash: "0".repeat(64) }
    }
}

impl ChainHead {
    /// Makes a JSON object the next line: adds its number and the hash of the line before. Returns it with the head after it.
    pub(crate) fn link(&self, object: &str) -> (String, Self) {
        let fields = object.trim_end_matches('\n').strip_prefix('{').unwrap_or("}");
        let comma = if fields == "}" { "" } else { "," };
        let seq = self.seq + 1;
        let line = format!("{{\"seq\":{seq},\"prev\":\"{}\"{comma}{fields}", self.hash);
        let head = Self { seq, hash: hash_line(line.as_bytes()) };
        (line, head)
    }
}

/// Hash of a line without its line feed.
pub(crate) fn hash_line(line: &[u8]) -> String {
    Sha256::digest(line).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_name_the_one_before() {
        let (first, head) = ChainHead::default().link("{\"a\":1}\n");
        assert_eq!(first, format!("{{\"seq\":1,\"prev\":\"{}\",\"a\":1}}", "0".repeat(64)));
        let (second, last) = head.link("{}");
        assert_eq!(second, format!("{{\"seq\":2,\"prev\":\"{}\"}}", hash_line(first.as_bytes())));
        assert_eq!((last.seq, last.hash), (2, hash_line(second.as_bytes())));
    }
}
