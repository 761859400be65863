//! A file's version: a short hash of its content.

use std::{
    fmt::Write,
    io::{self, Read},
};

use sha2::{Digest, Sha256};

/// The version of this content: the first half of its SHA-256, in hex.
pub fn of(bytes: &[u8]) -> String {
    short(sha256(bytes))
}

/// Computes the version of a stream.
///
/// # Errors
///
/// Errors of reading.
pub fn read(from: impl Read) -> io::Result<String> {
    read_sha256(from).map(short)
}

/// The whole SHA-256 of this content, in hex.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Computes the whole SHA-256 of a stream.
///
/// # Errors
///
/// Errors of reading.
pub fn read_sha256(mut from: impl Read) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut piece = vec![0; 64 * 1024];
    loop {
        match from.read(&mut piece)? {
            0 => return Ok(hex(&hasher.finalize())),
            n => hasher.update(&piece[..n]),
        }
    }
}

fn short(mut sha256: String) -> String {
    sha256.truncate(32);
    sha256
}

fn hex(digest: &[u8]) -> String {
    digest.iter().fold(String::new(), |mut text, byte| {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_version_is_independent_of_read_sizes() {
        let content = vec![7; 200_000];
        assert_eq!(super::read(content.as_slice()).unwrap(), super::of(&content));
        assert_eq!(super::of(b""), "e3b0c44298fc1c149afbf4c8996fb924");
    }
}
