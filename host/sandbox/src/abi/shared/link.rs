//! The imported interfaces of contract 0.1.

use wasmtime::component::{HasSelf, Linker};

use super::bindings::{host, state, types};
use crate::guest::GuestState;

pub(crate) fn link(linker: &mut Linker<GuestState>) -> wasmtime::Result<()> {
    host::add_to_linker::<GuestState, HasSelf<GuestState>>(linker, GuestState::enter)?;
    state::add_to_linker::<GuestState, HasSelf<GuestState>>(linker, GuestState::enter)?;
    types::add_to_linker::<GuestState, HasSelf<GuestState>>(linker, GuestState::enter)
}

impl types::Host for GuestState {}
