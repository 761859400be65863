//! One module per released version of the contract, each converting to and from version-free types. The only place that
//! names a version.
//!
//! | module | contents |
//! |---|---|
//! | `link` | links everything that a plugin may import |
//! | `bind` | finds the contract version that a component exports and checks its functions |
//! | `plugin` | a component bound to its version, and an instance of it |
//! | `v0_1` | contract 0.1: bindings and conversions |
//!
//! A new version is a folder beside `v0_1`, a variant in `plugin` and a line in `link` and `bind`; no logic.

mod bind;
mod link;
mod plugin;
mod v0_1;

pub(crate) use bind::bind;
pub(crate) use link::link;
pub(crate) use plugin::{PluginInstance, PluginPre};
