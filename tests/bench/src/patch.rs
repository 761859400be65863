//! Writes another text of the same length into a file: as many plugins, or versions of one, as are needed, from a
//! single compilation.

use anyhow::{Result, ensure};
use memchr::memmem;

/// Overwrites every `from` in `bytes` with `to`, which must have the same length.
pub fn overwrite(bytes: &[u8], from: &str, to: &str) -> Result<Vec<u8>> {
    ensure!(from.len() == to.len(), "{from:?} and {to:?} differ in length");
    let mut patched = bytes.to_vec();
    let mut found = 0;
    for at in memmem::find_iter(bytes, from) {
        patched[at..at + to.len()].copy_from_slice(to.as_bytes());
        found += 1;
    }
    ensure!(found > 0, "{from:?} is not in the file");
    Ok(patched)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_overwritten() {
        assert_eq!(overwrite(b"\0bench\0bench!", "bench", "b0001").unwrap(), b"\0b0001\0b0001!");
    }

    #[test]
    fn missing_or_mismatched_patches_are_refused() {
        assert!(overwrite(b"abc", "bench", "b0001").is_err());
        assert!(overwrite(b"bench", "bench", "b01").is_err());
    }
}
