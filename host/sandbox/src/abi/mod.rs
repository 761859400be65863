//! One module per version of the contract, each converting up to the types of `loggia-facade`.

pub(crate) mod v0_1;

use wasmtime::component::Linker;

use crate::guest::Guest;

/// Links everything a plugin may import. Linked is not granted: the store's data decides what an import may do.
pub(crate) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    wasmtime_wasi::p2::add_to_linker_async(linker)?;
    v0_1::link(linker)
}
