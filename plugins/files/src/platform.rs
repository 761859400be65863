//! Differences between a guest and a native test.

#[cfg_attr(target_os = "wasi", path = "platform/wasi.rs")]
#[cfg_attr(not(target_os = "wasi"), path = "platform/native.rs")]
mod base;

use crate::entry::Kind;

pub use base::{Base, crosses_devices, granted};

/// A name in a directory.
pub struct Named {
    /// None for one that is not UTF-8.
    pub name: Option<String>,
    /// Links not followed.
    pub kind: Kind,
}
