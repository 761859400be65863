//! A component that is loaded at its first call: with a thousand plugins, most are never called.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use loggia_facade::Failure;
use tokio::sync::OnceCell;

use crate::{PluginComponent, SandboxEngine};

/// Loads a component whose surface is published already.
pub trait ComponentLoader: Send + Sync {
    /// Loads the component, and verifies that it is the one of the surface. A failure is returned to the caller of the
    /// facade; the next call loads again.
    fn load(self: Arc<Self>) -> BoxFuture<'static, Result<PluginComponent, Failure>>;
}

/// A component, loaded or still to be loaded.
pub enum LazyComponent {
    /// It was loaded with its surface.
    Loaded(PluginComponent),
    /// Only its surface is known.
    Deferred {
        /// The engine for which it will be loaded.
        engine: SandboxEngine,
        /// Loads it.
        loader: Arc<dyn ComponentLoader>,
        /// The component, once a call has loaded it. Calls that come meanwhile wait for it; if the one that loads is
        /// cancelled, the next one loads.
        loaded: OnceCell<PluginComponent>,
    },
}

impl LazyComponent {
    /// Defers loading to the first call.
    pub fn deferred(engine: SandboxEngine, loader: Arc<dyn ComponentLoader>) -> Self {
        Self::Deferred { engine, loader, loaded: OnceCell::new() }
    }

    /// The engine that runs it.
    pub(crate) fn engine(&self) -> &SandboxEngine {
        match self {
            Self::Loaded(component) => &component.engine,
            Self::Deferred { engine, .. } => engine,
        }
    }

    /// Returns the component; loads it if this is the first call.
    pub(crate) async fn get(&self) -> Result<&PluginComponent, Failure> {
        match self {
            Self::Loaded(component) => Ok(component),
            Self::Deferred { loader, loaded, .. } => {
                loaded.get_or_try_init(|| Arc::clone(loader).load()).await
            }
        }
    }
}
