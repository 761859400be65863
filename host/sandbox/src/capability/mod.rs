//! What a policy may grant, one capability a file.
//!
//! A capability is configured once, when a facade is made (`Grants::open`), and prepared for each call, where the
//! action's effect decides how much of it the call gets.

pub mod fs;
mod host;
mod state;

use std::collections::BTreeMap;

use loggia_facade::Effect;
use serde_json::Value;
use wasmtime_wasi::WasiCtxBuilder;

use crate::LoadError;

/// What a policy grants. Empty by default: nothing is granted unless it is named.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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

/// Grants that were opened: directories are held by descriptor, so that replacing one on disk does not redirect a
/// plugin elsewhere.
pub(crate) struct Capabilities {
    dirs: Vec<fs::Root>,
}

impl Grants {
    pub(crate) fn open(&self) -> Result<Capabilities, LoadError> {
        Ok(Capabilities { dirs: self.dirs.iter().map(fs::Root::open).collect::<Result<_, _>>()? })
    }
}

impl Capabilities {
    /// Gives a call what its action may use.
    pub fn prepare(&self, wasi: &mut WasiCtxBuilder, effect: Effect) -> wasmtime::Result<()> {
        self.dirs.iter().try_for_each(|root| root.prepare(wasi, effect))
    }
}
