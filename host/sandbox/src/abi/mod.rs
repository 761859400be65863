//! One module per released version of the contract, each converting to and from version-free types. The only place that
//! names a version.
//!
//! | module | contents |
//! |---|---|
//! | `version` | the versions that this host speaks |
//! | `link` | links everything that a plugin may import |
//! | `bind` | finds the contract version that a component exports and checks its functions |
//! | `plugin` | a component bound to its version, and an instance of it |
//! | `guard` | a guard bound to its version |
//! | `exported_function` | a function that a plugin exports, and the check of its type |
//! | `v0_1`, `v0_2` | the versions: bindings, and the conversions in which they differ |
//! | `shared/` | files that each version compiles with its own bindings: conversions of records that are alike in all |
//!
//! A new version is a folder beside `v0_2`, a variant in `plugin` and a line in `version` and `link`; no logic. Where its
//! records differ, it has a file of its own instead of the shared one.

mod bind;
mod exported_function;
mod guard;
mod link;
mod plugin;
mod v0_1;
mod v0_2;
mod version;

pub(crate) use bind::{bind, bind_guard};
pub(crate) use guard::GuardPre;
pub(crate) use link::link;
pub(crate) use plugin::{PluginInstance, PluginPre};
