//! A component bound to the contract version that it exports.

use wasmtime::Store;

use super::{v0_1, v0_2};
use crate::{
    contract::{PluginCall, RawDescription, RawFailure, RawReply, RawSchema},
    guest::GuestState,
};

/// A component that is linked, checked and ready to be instantiated.
#[derive(Clone)]
pub(crate) enum PluginPre {
    V0_1(v0_1::LinkedPlugin),
    V0_2(v0_2::LinkedPlugin),
}

/// An instance in its store.
pub(crate) enum PluginInstance {
    V0_1(v0_1::PluginExports),
    V0_2(v0_2::PluginExports),
}

impl PluginPre {
    pub(crate) async fn instantiate(
        &self,
        store: &mut Store<GuestState>,
    ) -> wasmtime::Result<PluginInstance> {
        match self {
            Self::V0_1(pre) => pre.instantiate(store).await.map(PluginInstance::V0_1),
            Self::V0_2(pre) => pre.instantiate(store).await.map(PluginInstance::V0_2),
        }
    }
}

impl PluginInstance {
    /// Calls `describe`.
    pub(crate) async fn describe(&self, store: &mut Store<GuestState>) -> wasmtime::Result<RawDescription> {
        match self {
            Self::V0_1(plugin) => plugin.describe(store).await,
            Self::V0_2(plugin) => plugin.describe(store).await,
        }
    }

    /// Calls `schema` for an action.
    pub(crate) async fn schema(
        &self,
        store: &mut Store<GuestState>,
        action: &str,
    ) -> wasmtime::Result<Result<RawSchema, RawFailure>> {
        match self {
            Self::V0_1(plugin) => plugin.schema(store, action).await,
            Self::V0_2(plugin) => plugin.schema(store, action).await,
        }
    }

    /// Calls `dispatch`.
    pub(crate) async fn dispatch(
        &self,
        store: &mut Store<GuestState>,
        call: PluginCall<'_>,
    ) -> wasmtime::Result<Result<RawReply, RawFailure>> {
        match self {
            Self::V0_1(plugin) => plugin.dispatch(store, call).await,
            Self::V0_2(plugin) => plugin.dispatch(store, call).await,
        }
    }
}
