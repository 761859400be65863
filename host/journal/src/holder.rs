//! Locks that show which hosts live. The system releases a lock however its process ends, so nobody waits for a lease to
//! expire.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use loggia_system::file::private_options;

/// Extension of a host's file.
const ENDING: &str = "lock";

/// The lock of this host.
pub(crate) struct HolderLock {
    folder: PathBuf,
    name: String,
    /// Locked for as long as it is open.
    _file: File,
}

impl HolderLock {
    /// Takes the lock of a new host.
    pub(crate) fn acquire(folder: PathBuf) -> io::Result<Self> {
        let mut bits = [0; 16];
        getrandom::fill(&mut bits)?;
        let name = format!("{:032x}", u128::from_be_bytes(bits));
        let file = private_options().create_new(true).write(true).open(path(&folder, &name))?;
        file.lock()?;
        Ok(Self { folder, name, _file: file })
    }

    /// Name of this host.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns true while another host, or this one, lives. The file of one that has ended is removed.
    pub(crate) fn lives(&self, host: &str) -> bool {
        // A name from the tables is part of a path.
        if host == self.name || !host.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return host == self.name;
        }
        let path = path(&self.folder, host);
        let Ok(file) = private_options().write(true).open(&path) else { return false };
        match file.try_lock() {
            Ok(()) => {
                let _ = fs::remove_file(&path);
                false
            }
            Err(TryLockError::WouldBlock) => true,
            // Unknown: better wait than run twice.
            Err(TryLockError::Error(_)) => true,
        }
    }
}

impl Drop for HolderLock {
    fn drop(&mut self) {
        let _ = fs::remove_file(path(&self.folder, &self.name));
    }
}

fn path(folder: &Path, host: &str) -> PathBuf {
    folder.join(host).with_extension(ENDING)
}
