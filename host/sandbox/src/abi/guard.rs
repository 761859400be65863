//! A guard bound to the contract version that it exports.

use loggia_facade::GuardedCall;
use wasmtime::Store;

use super::v0_2;
use crate::{contract::RawVerdict, guest::GuestState};

/// A guard that is linked, checked and ready to be instantiated.
#[derive(Clone)]
pub(crate) enum GuardPre {
    V0_2(v0_2::GuardPre<GuestState>),
}

impl GuardPre {
    /// Makes an instance and calls `before`.
    pub(crate) async fn before(
        &self,
        store: &mut Store<GuestState>,
        call: &GuardedCall,
    ) -> wasmtime::Result<RawVerdict> {
        match self {
            Self::V0_2(pre) => v0_2::before(pre, store, call).await,
        }
    }

    /// Makes an instance and calls `after`.
    pub(crate) async fn after(
        &self,
        store: &mut Store<GuestState>,
        call: &GuardedCall,
        outcome: String,
    ) -> wasmtime::Result<RawVerdict> {
        match self {
            Self::V0_2(pre) => v0_2::after(pre, store, call, outcome).await,
        }
    }
}
