//! A folder that is the owner's alone, held by its descriptor.
//!
//! Paths are resolved anew each time, so whoever can exchange one component of a path could exchange the folder after it
//! was checked. What happens here happens in the folder that was checked, wherever its path leads by then.

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

/// How the names of files begin that are not whole yet.
const BESIDE: &str = ".beside-";
const OWNER: Mode = Mode::RWXU;
const FILE: Mode = Mode::RUSR.union(Mode::WUSR);
/// What others must not have of a folder or a file.
const OTHERS_WRITE: u32 = 0o022;

/// A folder of this user's in which nobody else can write.
#[derive(Debug)]
pub(crate) struct PrivateFolder(OwnedFd);

impl PrivateFolder {
    /// Opens a folder, makes it where it is missing, and takes from others the right to write there.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        // The owner may keep the folder elsewhere by a link; another user may not say where it is.
        let link = fs::symlink_metadata(path)?;
        if link.is_symlink() && !is_mine(link.uid()) {
            return Err(denied(format!("{} is a link of another user", path.display())));
        }
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        Self::checked(rustix::fs::open(path, flags, Mode::empty())?, &path.display())
    }

    /// A folder in this one.
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

    /// A regular file of ours that nobody else can write, opened for reading; `None` if it is anything else, or not there.
    pub(crate) fn read(&self, name: &str) -> Option<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(openat(&self.0, name, flags, Mode::empty()).ok()?);
        let meta = file.metadata().ok()?;
        let mine = meta.uid() == rustix::process::geteuid().as_raw();
        (meta.is_file() && mine && meta.mode() & OTHERS_WRITE == 0).then_some(file)
    }

    /// Writes a file as a whole: beside, and renamed when the disk has it.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let beside = format!("{BESIDE}{:016x}", RandomState::new().hash_one(name));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(&self.0, &beside, flags, FILE)?);
        let written = file
            .write_all(bytes)
            .and_then(|()| file.sync_data())
            .and_then(|()| Ok(renameat(&self.0, &beside, &self.0, name)?));
        if written.is_err() {
            self.remove(&beside);
        }
        written
    }

    /// A file to be locked, made where it is missing.
    pub(crate) fn lockable(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(openat(&self.0, name, flags, FILE)?.into())
    }

    /// Removes a file, if it is there.
    pub(crate) fn remove(&self, name: &str) {
        let _ = unlinkat(&self.0, name, AtFlags::empty());
    }

    /// Removes what a process was killed over before it could rename it. A younger file may be another's, which writes it now.
    pub(crate) fn remove_leftovers(&self, age: Duration) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        for entry in Dir::read_from(&self.0).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if !name.to_bytes().starts_with(BESIDE.as_bytes()) {
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

fn denied(said: String) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, said)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(name).collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_done_is_done_in_the_folder_that_was_checked() {
        let dir = tempfile::tempdir().unwrap();
        let [path, moved, other] = ["cache", "moved", "other"].map(|name| dir.path().join(name));
        let folder = PrivateFolder::open(&path).unwrap();
        fs::rename(&path, &moved).unwrap();
        fs::create_dir(&other).unwrap();
        fs::write(other.join("code"), "of somebody else").unwrap();
        symlink(&other, &path).unwrap();
        assert!(folder.read("code").is_none());
        folder.write("code", b"mine").unwrap();
        assert_eq!(
            (names(&moved), io::read_to_string(folder.read("code").unwrap()).unwrap()),
            (vec!["code".to_owned()], "mine".to_owned())
        );
    }

    #[test]
    fn only_a_regular_file_that_nobody_else_can_write_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let folder = PrivateFolder::open(dir.path()).unwrap();
        folder.write("code", b"mine").unwrap();
        symlink("code", dir.path().join("link")).unwrap();
        fs::create_dir(dir.path().join("folder")).unwrap();
        assert!(folder.read("code").is_some());
        assert!(
            folder.read("link").is_none() && folder.read("folder").is_none() && folder.read("none").is_none()
        );
        fs::set_permissions(dir.path().join("code"), fs::Permissions::from_mode(0o620)).unwrap();
        assert!(folder.read("code").is_none());
    }

    #[test]
    fn what_was_never_finished_is_removed_once_it_is_old() {
        let dir = tempfile::tempdir().unwrap();
        for name in [".beside-abc", "0123.code", "0123.sum"] {
            fs::write(dir.path().join(name), "x").unwrap();
        }
        let folder = PrivateFolder::open(dir.path()).unwrap();
        folder.remove_leftovers(Duration::from_secs(3600));
        assert_eq!(names(dir.path()).len(), 3);
        folder.remove_leftovers(Duration::ZERO);
        assert_eq!(names(dir.path()), ["0123.code", "0123.sum"]);
    }
}
