//! Networks of single callers.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;

use crate::{CallerCredentials, CallerKey, connect::PluginNetwork, secret::CredentialOwner};

/// Callers whose networks are kept, for one plugin. A caller beyond them gets a new one, at the cost of a connection.
const KEPT: usize = 512;

/// Networks of the callers of one plugin.
///
/// A credential must never be used for another caller, nor seen by one in a response. So callers share neither connections,
/// which a server may have authenticated, nor TLS tickets, nor the secrets that responses are searched for.
pub(crate) struct CallerNetworks {
    credentials: Arc<dyn CallerCredentials>,
    /// Locked to find, add and evict a network; never across an await. Calls hold their network beyond its eviction.
    kept: Mutex<KeptNetworks>,
}

#[derive(Default)]
struct KeptNetworks {
    /// Networks with the time of their last use, counted in uses.
    networks: HashMap<CallerKey, (u64, Arc<PluginNetwork>)>,
    uses: u64,
}

impl CallerNetworks {
    pub(crate) fn new(credentials: Arc<dyn CallerCredentials>) -> Self {
        Self { credentials, kept: Mutex::default() }
    }

    /// Returns the network of a caller; creates it from that of the plugin.
    pub(crate) fn network(&self, plugin: &PluginNetwork, caller: CallerKey) -> Arc<PluginNetwork> {
        let mut kept = self.kept.lock();
        kept.uses += 1;
        let now = kept.uses;
        if let Some((used, network)) = kept.networks.get_mut(&caller) {
            *used = now;
            return Arc::clone(network);
        }
        if kept.networks.len() >= KEPT {
            let oldest = kept.networks.iter().min_by_key(|(_, (used, _))| *used).map(|(caller, _)| *caller);
            oldest.map(|oldest| kept.networks.remove(&oldest));
        }
        let owner = CredentialOwner { key: caller, credentials: Arc::clone(&self.credentials) };
        let network = Arc::new(plugin.for_owner(owner));
        kept.networks.insert(caller, (now, Arc::clone(&network)));
        network
    }
}
