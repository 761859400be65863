//! Capabilities: what a policy may grant to a plugin, one module each, in types that no contract version names.
//!
//! | module | contents |
//! |---|---|
//! | `phases` | the trait of all capabilities: *configure* and *prepare*, and when each is called |
//! | `link` | *init*: links those of WASI's functions that have ours in front of them |
//! | `facade` | all capabilities of a facade, configured |
//! | `call` | all capabilities of a call, prepared |
//! | `fs`, `http`, `state` | directories, requests, durable state |
//! | `caller`, `config`, `env` | the caller's name, configuration, environment variables |
//! | `elicit`, `invoke`, `progress` | by the call's session, which knows what the policy grants |
//! | `denied` | the failure for what is not granted |
//!
//! Clocks and randomness are WASI's own and need no grant, but for the reading of a surface (`store`).
//!
//! A new capability is a module here with its `Capability`, a field in `facade` and `call`, and, if it has
//! functions in the contract, a delegation in `abi`.

mod call;
mod caller;
mod config;
mod denied;
mod elicit;
mod env;
mod facade;
mod fs;
mod http;
mod invoke;
mod link;
mod phases;
mod progress;
mod state;

pub(crate) use call::CallCapabilities;
pub(crate) use facade::FacadeCapabilities;
pub(crate) use fs::{FileView, FsView};
pub(crate) use link::init;
pub(crate) use phases::{ConfigureContext, PrepareContext};
pub(crate) use state::SpaceChoice;
