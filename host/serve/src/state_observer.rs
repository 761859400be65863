//! The state of plugins, as subscriptions to resources see it.

use std::{
    collections::hash_map::DefaultHasher,
    hash::{Hash, Hasher},
    sync::Arc,
};

use async_trait::async_trait;
use loggia_load::PluginAdmitter;
use loggia_server::mcp::{StateObservation, StateObserver};
use loggia_state::{StateError, StateSpace, StateStore};
use tokio::task::spawn_blocking;

/// Entries whose versions are compared. Of more, each change of the store counts.
const ENTRIES: u32 = 1000;

/// Reads the stores of plugins.
pub struct StoreObserver {
    admitter: Arc<PluginAdmitter>,
}

impl StoreObserver {
    /// Reads the stores that these plugins have.
    pub fn new(admitter: Arc<PluginAdmitter>) -> Self {
        Self { admitter }
    }
}

#[async_trait]
impl StateObserver for StoreObserver {
    async fn observe(
        &self,
        facade: &str,
        prefixes: Vec<String>,
        revision: Option<u64>,
    ) -> Option<StateObservation> {
        let (admitter, facade) = (Arc::clone(&self.admitter), facade.to_owned());
        let looking = spawn_blocking(move || look(&admitter, &facade, &prefixes, revision));
        match looking.await {
            Ok(Ok(found)) => found,
            Ok(Err(error)) => {
                tracing::debug!("state cannot be read for subscriptions: {error}");
                None
            }
            Err(_) => None,
        }
    }
}

/// Looks at a store, unless it has this revision. Blocks.
fn look(
    admitter: &PluginAdmitter,
    facade: &str,
    prefixes: &[String],
    revision: Option<u64>,
) -> Result<Option<StateObservation>, StateError> {
    let store = admitter.open_state_folder()?.store(facade, u64::MAX)?;
    // A commit of nothing returns the revision.
    let current = store.commit(StateSpace::Shared, Vec::new())?;
    if revision == Some(current) {
        return Ok(None);
    }
    let fingerprints = prefixes.iter().map(|prefix| fingerprint(&store, prefix)).collect::<Result<_, _>>()?;
    Ok(Some(StateObservation { revision: current, fingerprints }))
}

fn fingerprint(store: &StateStore, prefix: &str) -> Result<u64, StateError> {
    let page = store.scan(StateSpace::Shared, prefix, None, ENTRIES, None)?;
    let mut hasher = DefaultHasher::new();
    for entry in &page.items {
        (&entry.key, entry.version).hash(&mut hasher);
    }
    if page.more {
        page.revision.hash(&mut hasher);
    }
    Ok(hasher.finish())
}
