//! The key of a vault.

use std::{
    fmt, fs,
    io::{self, ErrorKind, Write},
    path::Path,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use loggia_system::folder;
use ring::rand::{SecureRandom, SystemRandom};

/// Name of the key's file in the state folder.
const FILE: &str = "credential-key";

/// Key that encrypts a vault: 32 random bytes.
#[derive(Clone)]
pub struct VaultKey(pub(crate) [u8; 32]);

impl fmt::Debug for VaultKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("VaultKey")
    }
}

impl VaultKey {
    /// Parses a key in base64, as `openssl rand -base64 32` prints it.
    ///
    /// # Errors
    ///
    /// If it is not the base64 of 32 bytes. The message does not contain it.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let bytes = STANDARD.decode(text.trim()).ok().and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or("must be the base64 of 32 bytes, as `openssl rand -base64 32` prints it")
    }

    /// Reads the key of a state folder, or creates it. Two processes that race get the same key.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or created, or does not have 32 bytes.
    pub fn read_or_create(state: &Path) -> io::Result<Self> {
        let path = state.join(FILE);
        match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => create(state, &path)?,
            found => return Self::from_bytes(found?),
        }
        Self::from_bytes(fs::read(&path)?)
    }

    fn from_bytes(bytes: Vec<u8>) -> io::Result<Self> {
        bytes.try_into().map(Self).map_err(|bytes: Vec<u8>| {
            let message = format!("it must have 32 bytes, and has {}: restore the original", bytes.len());
            io::Error::new(ErrorKind::InvalidData, message)
        })
    }
}

fn create(state: &Path, path: &Path) -> io::Result<()> {
    let mut key = [0; 32];
    SystemRandom::new().fill(&mut key).map_err(|_| io::Error::other("the kernel gave no random bytes"))?;
    // Temporary files are readable by their owner only.
    let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(state)?;
    file.write_all(&key)?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Err(error) if error.error.kind() != ErrorKind::AlreadyExists => return Err(error.error),
        _ => {}
    }
    folder::sync(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_base64_of_32_bytes() {
        let good = STANDARD.encode([7; 32]);
        assert_eq!(VaultKey::parse(&format!(" {good}\n")).map(|key| key.0), Ok([7; 32]));
        for bad in ["", "secret", &STANDARD.encode([7; 31]), &good[1..]] {
            assert!(VaultKey::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_folder_has_one_key() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let key = VaultKey::read_or_create(folder.path())?.0;
        assert_eq!(VaultKey::read_or_create(folder.path())?.0, key);
        assert!(!loggia_system::file::is_exposed(&fs::metadata(folder.path().join(FILE))?));
        fs::write(folder.path().join(FILE), "short")?;
        assert!(VaultKey::read_or_create(folder.path()).unwrap_err().to_string().contains("has 5"));
        Ok(())
    }
}
