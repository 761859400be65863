//! Machine code kept on disk, named by the digest of what it was compiled from and by the engine it was compiled
//! for.
//!
//! Loading machine code is trusting it, so the folder is the owner's alone: whoever can write there can run code as
//! the host. Files are written beside and renamed, never changed in place, because they are mapped while they run.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
    sync::Arc,
    time::Duration,
};

use crate::{
    Artifact, Component, Engine, LoadError, compile::Compiler, private_folder::PrivateFolder,
    wasmtime_errors::is_pool_limit,
};

/// So long takes no file to be written.
const LEFTOVER: Duration = Duration::from_secs(3600);

/// A folder of compiled components.
#[derive(Debug, Clone)]
pub struct Cache {
    dir: Arc<Path>,
    /// The engine's name, which is its folder's.
    engine: Arc<str>,
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
        let cache = Self { dir: dir.into(), engine: engine.hash().into() };
        cache.folder()?.remove_leftovers(LEFTOVER);
        Ok(cache)
    }

    /// Opened and checked each time: it may have been taken away and made again.
    fn folder(&self) -> io::Result<PrivateFolder> {
        PrivateFolder::open(&self.dir)?.below(&self.engine)
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
        let folder = self.folder().map_err(LoadError::io("open the cache"))?;
        let named = |ending: &str| format!("{}.{ending}", artifact.digest);
        let (name, sum) = (named("code"), named("sum"));
        if let Some(component) = find(engine, &folder, &name, &sum)? {
            return Ok(Loaded { component, compiled: false });
        }
        let lock = Lock::take(folder, named("lock")).await.map_err(LoadError::io("lock the cache"))?;
        let folder = &lock.folder;
        if let Some(component) = find(engine, folder, &name, &sum)? {
            return Ok(Loaded { component, compiled: false });
        }
        let code = compiler.compile(&artifact.bytes).await?;
        // The sum first: code without its sum is not used.
        folder
            .write(&sum, checksum(&code).as_bytes())
            .and_then(|()| folder.write(&name, &code))
            .map_err(LoadError::io("write to the cache"))?;
        let written = folder.read(&name).ok_or_else(|| io::ErrorKind::NotFound.into());
        let written = written.map_err(LoadError::io("read from the cache"))?;
        drop(lock);
        let component = Component::map(engine, &written).map_err(|error| match error {
            // Code that was made a moment ago and exceeds the pool will not fit later either.
            LoadError::Code(reason) if is_pool_limit(&reason) => LoadError::TooMuch(reason),
            other => other,
        })?;
        Ok(Loaded { component, compiled: true })
    }
}

/// The component, unless there is none or it cannot be used, in which case it is compiled again.
fn find(
    engine: &Engine,
    folder: &PrivateFolder,
    name: &str,
    sum: &str,
) -> Result<Option<Component>, LoadError> {
    let Some(code) = folder.read(name) else { return Ok(None) };
    if !is_whole(&code, folder.read(sum)) {
        tracing::warn!("a cached component is damaged and is compiled again");
        return Ok(None);
    }
    match Component::map(engine, &code) {
        Ok(component) => Ok(Some(component)),
        Err(LoadError::Code(reason)) => {
            tracing::warn!(%reason, "a cached component cannot be used and is compiled again");
            Ok(None)
        }
        Err(other) => Err(other),
    }
}

/// Whether the code is what was written. Against disks, not against people: they cannot write here.
fn is_whole(mut code: &File, sum: Option<File>) -> bool {
    let mut bytes = Vec::new();
    let sum = sum.and_then(|sum| io::read_to_string(sum).ok());
    code.read_to_end(&mut bytes).is_ok() && sum.is_some_and(|sum| sum == checksum(&bytes))
}

fn checksum(code: &[u8]) -> String {
    format!("{:08x} {}", crc32fast::hash(code), code.len())
}

/// A file lock that is held while it lives.
struct Lock {
    _file: File,
    folder: PrivateFolder,
    name: String,
}

impl Lock {
    async fn take(folder: PrivateFolder, name: String) -> io::Result<Self> {
        let wait = move || {
            let file = folder.lockable(&name)?;
            file.lock()?;
            Ok(Self { _file: file, folder, name })
        };
        tokio::task::spawn_blocking(wait).await.unwrap_or_else(|e| Err(io::Error::other(e)))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A process that waits on the removed file compiles once more at worst.
        self.folder.remove(&self.name);
    }
}
