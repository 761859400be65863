//! Pure: the chain of hashes.

use std::io::Write;

use data_encoding::HEXLOWER;
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
    /// Appends a JSON object as the next line, with its number and the hash of the line before. Returns the head after it.
    pub(crate) fn link(&self, object: &str, lines: &mut Vec<u8>) -> Self {
        let fields = object.trim_end_matches('\n').strip_prefix('{').unwrap_or("}");
        let comma = if fields == "}" { "" } else { "," };
        let (seq, start) = (self.seq + 1, lines.len());
        let line = format_args!("{{\"seq\":{seq},\"prev\":\"{}\"{comma}{fields}", self.hash);
        // Writing to a vector does not fail.
        let _ = lines.write_fmt(line);
        let head = Self { seq, hash: hash_line(&lines[start..]) };
        lines.push(b'\n');
        head
    }
}

/// Hash of a line without its line feed.
pub(crate) fn hash_line(line: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_name_the_one_before() {
        let mut lines = Vec::new();
        let last = ChainHead::default().link("{\"a\":1}\n", &mut lines).link("{}", &mut lines);
        let lines = String::from_utf8(lines).unwrap();
        let [first, second] = *lines.lines().collect::<Vec<_>>() else { panic!("{lines}") };
        assert_eq!(first, format!("{{\"seq\":1,\"prev\":\"{}\",\"a\":1}}", "0".repeat(64)));
        assert_eq!(second, format!("{{\"seq\":2,\"prev\":\"{}\"}}", hash_line(first.as_bytes())));
        assert_eq!((last.seq, last.hash), (2, hash_line(second.as_bytes())));
    }
}
