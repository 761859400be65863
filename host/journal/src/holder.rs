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
/// Extension until it is locked: nobody may take it for that of a host that has ended.
const UNLOCKED: &str = "new";

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
        let unlocked = folder.join(&name).with_extension(UNLOCKED);
        let file = private_options().create_new(true).write(true).open(&unlocked)?;
        file.lock()?;
        fs::rename(unlocked, path(&folder, &name))?;
        let holder = Self { folder, name, _file: file };
        holder.remove_ended()?;
        Ok(holder)
    }

    /// Removes the files of hosts that were killed.
    fn remove_ended(&self) -> io::Result<()> {
        for file in fs::read_dir(&self.folder)? {
            let path = PathBuf::from(file?.file_name());
            if let (Some(name), Some(ENDING)) =
                (path.file_stem().and_then(|name| name.to_str()), path.extension().and_then(|it| it.to_str()))
            {
                self.lives(name);
            }
        }
        Ok(())
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
