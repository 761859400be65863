//! The imported interfaces of contract 0.1.

use wasmtime::component::{HasSelf, Linker};

use super::bindings::{host, state, types};
use crate::guest::Guest;

pub(crate) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    host::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)?;
    state::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)?;
    types::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)
}

impl types::Host for Guest {}
