//! Loads a component whose surface came from the index, when it is first called.

use std::{
    collections::BTreeSet,
    fs,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::future::BoxFuture;
use loggia_facade::{Failure, code};
use loggia_sandbox::{
    ArtifactDigest, CodeCache, ComponentLoader, PluginArtifact, PluginComponent, SandboxEngine,
    cache::LoadedComponent, compile::CompilerCommand,
};
use loggia_text::printable;
use tokio::{runtime::Handle, sync::Notify, task::spawn_blocking};

use super::{error::AdmitError, files::read_file, surface_index::SurfaceIndex};
use crate::plugin_files::FileStamp;

/// Time after which a caller may try again: the file is admitted by then, unless it has to be compiled.
const RETRY_AFTER_MS: u64 = 1000;

/// Files that must be admitted again although their metadata did not change. The folder source waits for them.
#[derive(Default)]
pub struct StaleFiles {
    /// Locked to add or to take; never across a wait.
    paths: Mutex<BTreeSet<PathBuf>>,
    added: Notify,
}

impl StaleFiles {
    fn add(&self, path: PathBuf) {
        self.paths.lock().unwrap_or_else(PoisonError::into_inner).insert(path);
        self.added.notify_one();
    }

    /// Waits until there may be one. Cancel-safe.
    pub async fn added(&self) {
        self.added.notified().await;
    }

    /// Takes all of them.
    pub fn take(&self) -> BTreeSet<PathBuf> {
        std::mem::take(&mut self.paths.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A component that the index describes.
pub struct IndexedComponent {
    pub engine: SandboxEngine,
    pub cache: CodeCache,
    pub compiler: CompilerCommand,
    pub index: Arc<SurfaceIndex>,
    pub stale: Arc<StaleFiles>,
    /// File of the component.
    pub path: PathBuf,
    /// Its metadata, by which the index knew it.
    pub stamp: FileStamp,
    /// Digest of the bytes whose surface is published.
    pub digest: ArtifactDigest,
    /// Maximum size of the file.
    pub most: u64,
    /// Name of the facade, for messages.
    pub facade: String,
}

impl IndexedComponent {
    /// Reads the file, verifies its digest and loads its code. `None` if the bytes are others.
    ///
    /// If the file was replaced since it was admitted, the code is that of the version that was, as for a loaded component:
    /// calls are not lost while the new version is admitted.
    async fn read_and_load(&self) -> Result<Option<PluginComponent>, AdmitError> {
        let artifact =
            match read_file(&self.path, self.most).and_then(|bytes| Ok(PluginArtifact::new(bytes)?)) {
                Ok(artifact) if artifact.digest == self.digest => artifact,
                other if self.is_replaced() => {
                    let kept = self.cache.find(&self.engine, self.digest)?;
                    return if kept.is_some() { Ok(kept) } else { other.map(|_| None) };
                }
                other => return other.map(|_| None),
            };
        let LoadedComponent { component, compiled } =
            self.cache.load(&self.engine, &artifact, &self.compiler).await?;
        if compiled {
            let file = self.path.file_name().unwrap_or_default().to_string_lossy();
            tracing::info!(%file, "compiled at its first call: its code was missing or damaged");
        }
        Ok(Some(component))
    }

    /// Whether the file has other metadata than when it was admitted: then the index did not lie.
    fn is_replaced(&self) -> bool {
        fs::metadata(&self.path).map_or(true, |meta| FileStamp::from_metadata(&meta) != self.stamp)
    }

    /// Has the file admitted again, and returns the failure for the caller.
    fn reload(&self, reason: &str) -> Failure {
        self.index.remove(&self.path);
        self.stale.add(self.path.clone());
        let message = format!("`{}` is unavailable: {reason}", self.facade);
        let failure =
            Failure::new(code::UNAVAILABLE, message).hint("it is being loaded again: try again in a second");
        Failure { retry_after_ms: Some(RETRY_AFTER_MS), ..failure }
    }
}

impl ComponentLoader for IndexedComponent {
    fn load(self: Arc<Self>) -> BoxFuture<'static, Result<PluginComponent, Failure>> {
        Box::pin(async move {
            let own = Arc::clone(&self);
            // Reads, hashes and maps: blocking work, while the call may hold a thread that serves clients.
            let loading = spawn_blocking(move || Handle::current().block_on(own.read_and_load()));
            let file = self.path.file_name().unwrap_or_default().to_string_lossy();
            match loading.await.unwrap_or(Err(AdmitError::Panicked)) {
                Ok(Some(component)) => Ok(component),
                Ok(None) => {
                    tracing::warn!(%file, "its bytes are not those of its surface: it is loaded again");
                    Err(self.reload("its file changed"))
                }
                Err(error) => {
                    tracing::error!(%file, "{}", printable(&error.to_string()));
                    Err(self.reload(&error.caller_message()))
                }
            }
        })
    }
}
