//! Held by its descriptor: all operations use that of the folder that was checked, wherever its path leads by then.

use std::{
    fs::{self, DirBuilder, File},
    hash::{BuildHasher, RandomState},
    io::{self, Write},
    os::{
        fd::OwnedFd,
        unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt},
    },
    path::Path,
    time::{Duration, SystemTime},
};

use rustix::{
    fs::{AtFlags, Dir, Mode, OFlags, mkdirat, openat, renameat, statat, unlinkat},
    io::Errno,
};

/// Prefix of the names of incomplete files.
const TEMPORARY: &str = ".beside-";

const OWNER: Mode = Mode::RWXU;
const FILE: Mode = Mode::RUSR.union(Mode::WUSR);
/// Permission bits that others must not have.
const OTHERS_WRITE: u32 = 0o022;

/// A folder of this user that nobody else can write to.
#[derive(Debug)]
pub(crate) struct PrivateFolder(OwnedFd);

impl PrivateFolder {
    /// Opens a folder, creates it if it is missing, and removes the write permissions of others.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        // The owner may link to another folder; a link of another user is refused.
        let link = fs::symlink_metadata(path)?;
        if link.is_symlink() && !is_mine(link.uid()) {
            return Err(denied(format!("{} is a link of another user", path.display())));
        }
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        Self::checked(rustix::fs::open(path, flags, Mode::empty())?, &path.display())
    }

    /// Opens or creates a subfolder.
    pub(crate) fn below(&self, name: &str) -> io::Result<Self> {
        match mkdirat(&self.0, name, OWNER) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Self::checked(openat(&self.0, name, flags, Mode::empty())?, &name)
    }

    fn checked(folder: OwnedFd, name: &dyn std::fmt::Display) -> io::Result<Self> {
        let folder = File::from(folder);
        let meta = folder.metadata()?;
        if meta.uid() != rustix::process::geteuid().as_raw() {
            return Err(denied(format!("{name} belongs to another user: choose another folder")));
        }
        if meta.mode() & OTHERS_WRITE != 0 {
            folder.set_permissions(fs::Permissions::from_mode(0o700))?;
        }
        Ok(Self(folder.into()))
    }

    /// Opens a regular file of this user that nobody else can write to, for reading; `None` if it is missing or anything else.
    pub(crate) fn read(&self, name: &str) -> Option<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(openat(&self.0, name, flags, Mode::empty()).ok()?);
        let meta = file.metadata().ok()?;
        let mine = meta.uid() == rustix::process::geteuid().as_raw();
        (meta.is_file() && mine && meta.mode() & OTHERS_WRITE == 0).then_some(file)
    }

    /// Writes a file atomically: under a temporary name, and renamed when it is on the disk.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let temporary = format!("{TEMPORARY}{:016x}", RandomState::new().hash_one(name));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(&self.0, &temporary, flags, FILE)?);
        let written = file
            .write_all(bytes)
            .and_then(|()| file.sync_data())
            .and_then(|()| Ok(renameat(&self.0, &temporary, &self.0, name)?));
        if written.is_err() {
            self.remove(&temporary);
        }
        written
    }

    /// Lists the names of its files, in no order.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        let entries = Dir::read_from(&self.0).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned))
    }

    /// Opens a file to be locked; creates it if it is missing.
    pub(crate) fn lockable(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(openat(&self.0, name, flags, FILE)?.into())
    }

    /// Removes a file, if it exists.
    pub(crate) fn remove(&self, name: &str) {
        let _ = unlinkat(&self.0, name, AtFlags::empty());
    }

    /// Removes temporary files of killed processes. A younger file may be one that another process is writing.
    pub(crate) fn remove_leftovers(&self, age: Duration) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        for entry in Dir::read_from(&self.0).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if !name.to_bytes().starts_with(TEMPORARY.as_bytes()) {
                continue;
            }
            let modified = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).map(|stat| stat.st_mtime);
            let modified = modified.ok().and_then(|at| u64::try_from(at).ok());
            if modified.is_some_and(|at| now.saturating_sub(at) >= age.as_secs()) {
                let _ = unlinkat(&self.0, name, AtFlags::empty());
            }
        }
    }
}

fn is_mine(user: u32) -> bool {
    user == 0 || user == rustix::process::geteuid().as_raw()
}

fn denied(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, message)
}
