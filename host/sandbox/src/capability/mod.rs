//! What a policy may grant, one capability a module.
//!
//! Each is linked once (`init`): linked is not granted. Each is configured once, when a facade is made
//! (`Grants::configure`), and prepared for each call (`Capabilities::prepare`), where the action's effect decides
//! how much of it the call gets. What a call does not use, it should not pay for.
//!
//! Clocks and randomness are WASI's own and are everybody's, but for the reading of a surface (`guest.rs`).

pub mod fs;
mod host;
mod http;
mod state;

use std::{collections::BTreeMap, sync::Arc};

use loggia_facade::{Effect, ScopeKey};
use serde_json::Value;
use wasmtime::component::Linker;
use wasmtime_wasi::WasiCtxBuilder;

use crate::{
    LoadError,
    guest::Guest,
    limits::Limits,
    output::{Output, Pace},
    used::Used,
};

/// What a policy grants. Empty by default: nothing is granted unless it is named.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Grants {
    /// Directories, each under its own path in the guest.
    pub dirs: Vec<fs::DirGrant>,
    /// Requests it may send.
    pub http: loggia_egress::Grants,
    /// Its environment variables.
    pub env: BTreeMap<String, String>,
    /// What `config` answers: JSON by key.
    pub config: BTreeMap<String, Value>,
    /// Its own durable state, at most so many bytes of it.
    pub store: Option<u64>,
    /// It may learn an opaque name of the caller.
    pub caller: bool,
}

/// Links everything a policy may grant.
pub(crate) fn init(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    fs::init(linker)?;
    http::init(linker)
}

/// Grants that were opened, for all calls of a facade.
pub(crate) struct Capabilities {
    dirs: Option<Arc<[fs::Root]>>,
    http: Option<loggia_egress::Client>,
    env: Vec<(String, String)>,
    config: Option<Arc<BTreeMap<String, String>>>,
    store: Option<loggia_state::Store>,
    pub caller: bool,
    /// Of the lines that all calls together log.
    pub pace: Arc<Pace>,
    /// What all calls together have used.
    pub used: Arc<Used>,
}

/// What one call was given.
#[derive(Default)]
pub(crate) struct Prepared {
    pub files: fs::Files,
    pub http: http::Http,
    pub config: Option<Arc<BTreeMap<String, String>>>,
    pub state: Option<state::Access>,
}

impl Prepared {
    /// Why something was refused, where the guest saw only that it was and failed with this code.
    pub fn unsaid(&self, code: &str) -> Option<String> {
        self.files.ran_into().or_else(|| self.http.unsaid(code))
    }
}

impl Grants {
    /// Opens what is granted. The store is the facade's own, where the policy grants one.
    pub(crate) fn configure(
        &self,
        limits: &Limits,
        store: Option<loggia_state::Store>,
    ) -> Result<Capabilities, LoadError> {
        let dirs = self.dirs.iter().map(fs::Root::configure).collect::<Result<Vec<_>, _>>()?;
        let config = self.config.iter().map(|(key, value)| (key.clone(), value.to_string()));
        Ok(Capabilities {
            dirs: (!dirs.is_empty()).then(|| dirs.into()),
            http: http::configure(&self.http, limits),
            env: self.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            config: (!self.config.is_empty()).then(|| Arc::new(config.collect())),
            store,
            caller: self.caller,
            pace: Arc::new(Pace::new(limits.log_rate)),
            used: Arc::default(),
        })
    }
}

impl Capabilities {
    /// The directories that were opened, by device and inode.
    pub fn dirs(&self) -> impl Iterator<Item = (u64, u64)> {
        self.dirs.iter().flat_map(|roots| roots.iter().map(fs::Root::identity))
    }

    /// Gives a call what its action may use.
    pub fn prepare(
        &self,
        wasi: &mut WasiCtxBuilder,
        limits: &Limits,
        effect: Effect,
        scope: Option<ScopeKey>,
        output: &Output,
    ) -> Prepared {
        if !self.env.is_empty() {
            wasi.envs(&self.env);
        }
        Prepared {
            files: self
                .dirs
                .as_ref()
                .map_or_else(fs::Files::default, |dirs| fs::Files::prepare(dirs, limits, effect)),
            http: http::Http::prepare(self.http.as_ref(), effect, output, &self.used),
            config: self.config.clone(),
            state: self.store.as_ref().map(|store| state::Access::prepare(store, effect, scope)),
        }
    }
}
