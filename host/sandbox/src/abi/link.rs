//! Everything that a plugin may import.

use wasmtime::component::Linker;

use super::{v0_1, v0_2};
use crate::{capability, guest::GuestState};

/// Links everything a plugin may import. Linked is not granted: the store's data decides what an import may do.
pub(crate) fn link(linker: &mut Linker<GuestState>) -> wasmtime::Result<()> {
    wasmtime_wasi::p2::add_to_linker_async(linker)?;
    // Some of WASI's interfaces have our own in their place.
    linker.allow_shadowing(true);
    capability::init(linker)?;
    linker.allow_shadowing(false);
    v0_1::link(linker)?;
    v0_2::link(linker)
}
