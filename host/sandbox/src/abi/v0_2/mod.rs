//! Contract 0.2: bindings, and conversions to and from version-free types. Nothing is decided here.
//!
//! The files of `shared/` are compiled once for each version, with that version's bindings.

mod bindings;
mod description;
#[path = "../shared/exports.rs"]
mod exports;
#[path = "../shared/from_guest.rs"]
mod from_guest;
mod guard;
#[path = "../shared/host.rs"]
mod host;
#[path = "../shared/instance.rs"]
mod instance;
#[path = "../shared/link.rs"]
mod link;
#[path = "../shared/state.rs"]
mod state;
#[path = "../shared/to_guest.rs"]
mod to_guest;

pub(super) use bindings::GuardPre;
pub(super) use exports::FUNCTIONS;
pub(super) use guard::{GUARD_FUNCTIONS, after, before};
pub(super) use instance::{LinkedPlugin, PluginExports};
pub(super) use link::link;
