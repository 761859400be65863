//! Machine code kept on disk, named by the digest of what it was compiled from and by the engine it was compiled
//! for.
//!
//! Loading machine code is trusting it, so the folder is the owner's alone: whoever can write there can run code as
//! the host. Files are written beside and renamed, never changed in place, because they are mapped while they run.

use std::{
    fs::{self, DirBuilder, File, Permissions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use crate::{Artifact, Component, Digest, Engine, LoadError, compile::Compiler};

/// How the names of files begin that are not whole yet.
const BESIDE: &str = ".beside-";
/// So long takes no file to be written.
const LEFTOVER: Duration = Duration::from_secs(3600);

/// A folder of compiled components.
#[derive(Debug, Clone)]
pub struct Cache {
    dir: Arc<Path>,
}

/// A component, and what it took to get it.
pub struct Loaded {
    /// Ready to be described.
    pub component: Component,
    /// It was compiled just now rather than found.
    pub compiled: bool,
}

impl Cache {
    /// Opens the cache below `dir` for one engine; makes the folder where it is missing.
    ///
    /// # Errors
    ///
    /// If the folder cannot be made, or belongs to, or can be written by, somebody else.
    pub fn open(dir: &Path, engine: &Engine) -> io::Result<Self> {
        own(dir)?;
        let dir = dir.join(engine.hash());
        own(&dir)?;
        remove_leftovers(&dir, LEFTOVER);
        Ok(Self { dir: dir.into() })
    }

    /// The component of these bytes: from the cache, or compiled and put there.
    ///
    /// Processes that load the same bytes at once compile them once: the others wait for the first.
    ///
    /// # Errors
    ///
    /// If the bytes do not compile or do not fulfil the contract, or the cache cannot be written.
    pub async fn load(
        &self,
        engine: &Engine,
        artifact: &Artifact,
        compiler: &Compiler,
    ) -> Result<Loaded, LoadError> {
        let path = self.path(artifact.digest);
        if let Some(component) = find(engine, &path)? {
            return Ok(Loaded { component, compiled: false });
        }
        let lock = Lock::take(path.with_extension("lock")).await.map_err(LoadError::io("lock the cache"))?;
        if let Some(component) = find(engine, &path)? {
            return Ok(Loaded { component, compiled: false });
        }
        let code = compiler.compile(&artifact.bytes).await?;
        // The sum first: code without its sum is not used.
        write_beside(&path.with_extension("sum"), checksum(&code).as_bytes())
            .and_then(|()| write_beside(&path, &code))
            .map_err(LoadError::io("write to the cache"))?;
        drop(lock);
        let component = Component::map(engine, &path).map_err(|error| match error {
            // What was made a moment ago and is more than the pool has room for will not fit later either.
            LoadError::Code(reason) if reason.contains("exceeds the") => LoadError::TooMuch(reason),
            other => other,
        })?;
        Ok(Loaded { component, compiled: true })
    }

    fn path(&self, digest: Digest) -> PathBuf {
        self.dir.join(format!("{digest}.code"))
    }
}

/// Removes what a host was killed over before it could rename it. A younger file may be another host's, which writes it now.
fn remove_leftovers(dir: &Path, age: Duration) {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let leftovers =
        entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(BESIDE.as_bytes()));
    for leftover in leftovers {
        let modified = leftover.metadata().and_then(|meta| meta.modified());
        if modified.is_ok_and(|at| at.elapsed().is_ok_and(|old| old >= age)) {
            let _ = fs::remove_file(leftover.path());
        }
    }
}

/// Makes a folder where it is missing, and sees to it that nobody else can write there.
fn own(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    let meta = fs::metadata(dir)?;
    if meta.uid() != rustix::process::geteuid().as_raw() {
        let said = format!("{} belongs to another user", dir.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, said));
    }
    if meta.mode() & 0o022 != 0 {
        fs::set_permissions(dir, Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// The component, unless there is none or it cannot be used, in which case it is compiled again.
fn find(engine: &Engine, path: &Path) -> Result<Option<Component>, LoadError> {
    if !is_ours(path) {
        return Ok(None);
    }
    if !is_whole(path) {
        tracing::warn!("a cached component is damaged and is compiled again");
        return Ok(None);
    }
    match Component::map(engine, path) {
        Ok(component) => Ok(Some(component)),
        Err(LoadError::Code(reason)) => {
            tracing::warn!(%reason, "a cached component cannot be used and is compiled again");
            Ok(None)
        }
        Err(other) => Err(other),
    }
}

/// A regular file of ours that nobody else can write.
fn is_ours(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| {
        meta.is_file() && meta.uid() == rustix::process::geteuid().as_raw() && meta.mode() & 0o022 == 0
    })
}

/// Whether the code is what was written. Against disks, not against people: they cannot write here.
fn is_whole(path: &Path) -> bool {
    let sum = fs::read_to_string(path.with_extension("sum"));
    let code = fs::read(path);
    matches!((sum, code), (Ok(sum), Ok(code)) if sum == checksum(&code))
}

fn checksum(code: &[u8]) -> String {
    format!("{:08x} {}", crc32fast::hash(code), code.len())
}

fn write_beside(path: &Path, code: &[u8]) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(BESIDE).tempfile_in(dir)?;
    file.write_all(code)?;
    file.as_file().sync_data()?;
    file.persist(path)?;
    Ok(())
}

/// A file lock that is held while it lives.
struct Lock {
    _file: File,
    path: PathBuf,
}

impl Lock {
    async fn take(path: PathBuf) -> io::Result<Self> {
        let wait = move || {
            let file = File::create(&path)?;
            file.lock()?;
            Ok(Self { _file: file, path })
        };
        tokio::task::spawn_blocking(wait).await.unwrap_or_else(|e| Err(io::Error::other(e)))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A process that waits on the removed file compiles once more at worst.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_never_finished_is_removed_once_it_is_old() {
        let dir = tempfile::tempdir().unwrap();
        for name in [".beside-abc", "0123.code", "0123.sum"] {
            fs::write(dir.path().join(name), "x").unwrap();
        }
        let left = || fs::read_dir(dir.path()).unwrap().count();
        remove_leftovers(dir.path(), LEFTOVER);
        assert_eq!(left(), 3);
        remove_leftovers(dir.path(), Duration::ZERO);
        assert_eq!(left(), 2);
    }
}
