//! The imported interfaces of contract 0.1.

use wasmtime::component::{HasSelf, Linker};

use super::bindings::{host, state, types};
use crate::guest::GuestState;

pub(crate) fn link(linker: &mut Linker<GuestState>) -> wasmtime::Result<()> {
    host::add_to_linker::<GuestState, HasSelf<GuestState>>(linker, |guest| guest)?;
    state::add_to_linker::<GuestState, HasSelf<GuestState>>(linker, |guest| guest)?;
    types::add_to_linker::<GuestState, HasSelf<GuestState>>(linker, |guest| guest)
}

impl types::Host for GuestState {}
