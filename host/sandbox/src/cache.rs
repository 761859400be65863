//! Machine code on disk, named by the digest of its component and by the engine that it was compiled for.
//!
//! Machine code is trusted when it is loaded, so only the owner may write to the folder: anyone who can, can run code as the
//! host. Files are written under a temporary name and renamed, never changed in place, because they are mapped while they run.

use std::{
    collections::HashSet,
    fs::File,
    io::{self, Read},
    path::Path,
    sync::Arc,
    time::Duration,
};

use crate::{
    ArtifactDigest, LoadError, PluginArtifact, PluginComponent, SandboxEngine,
    compile::CompilerCommand,
    component::{BoundComponent, map_code},
    private_folder::PrivateFolder,
    wasmtime_errors::is_pool_limit,
};

/// Age from which a temporary file is a leftover: writing one takes far less.
const LEFTOVER: Duration = Duration::from_secs(3600);

/// A folder of compiled components.
#[derive(Debug, Clone)]
pub struct CodeCache {
    dir: Arc<Path>,
    /// Hash of the engine: the name of its folder.
    engine: Arc<str>,
}

/// A loaded component.
pub struct LoadedComponent<C = PluginComponent> {
    /// The component, ready to be instantiated.
    pub component: C,
    /// True if it was compiled rather than found in the cache.
    pub compiled: bool,
}

impl CodeCache {
    /// Opens the cache below `dir` for one engine; creates the folder if it is missing.
    ///
    /// # Errors
    ///
    /// If the folder cannot be created, belongs to another user, or is writable by others.
    pub fn open(dir: &Path, engine: &SandboxEngine) -> io::Result<Self> {
        let cache = Self { dir: dir.into(), engine: engine.hash().into() };
        cache.folder()?.remove_leftovers(LEFTOVER);
        Ok(cache)
    }

    /// Opens and checks the folder, each time: it may have been removed and created again.
    fn folder(&self) -> io::Result<PrivateFolder> {
        PrivateFolder::open(&self.dir)?.below(&self.engine)
    }

    /// Lists the components whose code is in the cache.
    pub fn digests(&self) -> HashSet<ArtifactDigest> {
        let digest = |name: &str| ArtifactDigest::parse(name.strip_suffix(".code")?);
        self.folder()
            .map(|folder| folder.names().filter_map(|name| digest(&name)).collect())
            .unwrap_or_default()
    }

    /// Reads a file that lies beside the code; `None` if it is missing, or others could write it.
    pub fn read_beside(&self, name: &str) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        self.folder().ok()?.read(name)?.read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Writes a file beside the code, atomically.
    ///
    /// # Errors
    ///
    /// If the folder cannot be used.
    pub fn write_beside(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.folder()?.write(name, bytes)
    }

    /// Finds the code of a component by its digest alone; `None` if it is missing or damaged.
    ///
    /// # Errors
    ///
    /// If the cache cannot be opened, or the engine has no room for the code.
    pub fn find(
        &self,
        engine: &SandboxEngine,
        digest: ArtifactDigest,
    ) -> Result<Option<PluginComponent>, LoadError> {
        let folder = self.folder().map_err(LoadError::io("open the cache"))?;
        find(engine, &folder, &format!("{digest}.code"), &format!("{digest}.sum"))
    }

    /// Loads the component of these bytes from the cache, or compiles it and adds it.
    ///
    /// Processes that load the same bytes at once compile them once: the others wait for the first.
    ///
    /// # Errors
    ///
    /// If the bytes do not compile or do not fulfil the contract, or the cache cannot be written.
    pub async fn load<C: BoundComponent>(
        &self,
        engine: &SandboxEngine,
        artifact: &PluginArtifact,
        compiler: &CompilerCommand,
    ) -> Result<LoadedComponent<C>, LoadError> {
        let folder = self.folder().map_err(LoadError::io("open the cache"))?;
        let named = |ending: &str| format!("{}.{ending}", artifact.digest);
        let (name, sum) = (named("code"), named("sum"));
        if let Some(component) = find(engine, &folder, &name, &sum)? {
            return Ok(LoadedComponent { component, compiled: false });
        }
        let lock = CacheLock::take(folder, named("lock")).await.map_err(LoadError::io("lock the cache"))?;
        let folder = &lock.folder;
        if let Some(component) = find(engine, folder, &name, &sum)? {
            return Ok(LoadedComponent { component, compiled: false });
        }
        let code = compiler.compile(&artifact.bytes).await?;
        // The checksum first: code without it is not used.
        folder
            .write(&sum, checksum(&code).as_bytes())
            .and_then(|()| folder.write(&name, &code))
            .map_err(LoadError::io("write to the cache"))?;
        let written = folder.read(&name).ok_or_else(|| io::ErrorKind::NotFound.into());
        let written = written.map_err(LoadError::io("read from the cache"))?;
        drop(lock);
        let component = map_code(engine, &written).map_err(|error| match error {
            // Code that was made a moment ago and exceeds the pool will not fit later either.
            LoadError::Code(reason) if is_pool_limit(&reason) => LoadError::TooMuch(reason),
            other => other,
        })?;
        Ok(LoadedComponent { component, compiled: true })
    }
}

/// Finds a cached component. One that cannot be used is compiled again.
fn find<C: BoundComponent>(
    engine: &SandboxEngine,
    folder: &PrivateFolder,
    name: &str,
    sum: &str,
) -> Result<Option<C>, LoadError> {
    let Some(code) = folder.read(name) else { return Ok(None) };
    if !is_intact(&code, folder.read(sum)) {
        tracing::warn!("a cached component is damaged and is compiled again");
        return Ok(None);
    }
    match map_code(engine, &code) {
        Ok(component) => Ok(Some(component)),
        Err(LoadError::Code(reason)) => {
            tracing::warn!(%reason, "a cached component cannot be used and is compiled again");
            Ok(None)
        }
        Err(other) => Err(other),
    }
}

/// Verifies the checksum. Protects against disk errors, not attackers: they cannot write here.
fn is_intact(mut code: &File, sum: Option<File>) -> bool {
    let mut bytes = Vec::new();
    let sum = sum.and_then(|sum| io::read_to_string(sum).ok());
    code.read_to_end(&mut bytes).is_ok() && sum.is_some_and(|sum| sum == checksum(&bytes))
}

fn checksum(code: &[u8]) -> String {
    format!("{:08x} {}", crc32fast::hash(code), code.len())
}

/// A file lock, held until it is dropped. Taken by one load of a component at a time, over all processes; nothing else is
/// locked while it is waited for.
struct CacheLock {
    _file: File,
    folder: PrivateFolder,
    name: String,
}

impl CacheLock {
    async fn take(folder: PrivateFolder, name: String) -> io::Result<Self> {
        let wait = move || {
            let file = folder.lockable(&name)?;
            file.lock()?;
            Ok(Self { _file: file, folder, name })
        };
        tokio::task::spawn_blocking(wait).await.unwrap_or_else(|e| Err(io::Error::other(e)))
    }
}

impl Drop for CacheLock {
    fn drop(&mut self) {
        // A process that waits on the removed file compiles once more at worst.
        self.folder.remove(&self.name);
    }
}
