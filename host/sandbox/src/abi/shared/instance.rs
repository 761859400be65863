//! A component that is linked, and calls into its instances.
//!
//! The generated bindings look up all exported functions of each instance, and compare their types with the contract's. Here, this is
//! done for the one function that is called.

use wasmtime::{
    Store,
    component::{ComponentExportIndex, Instance, InstancePre},
};

use super::{bindings::FACADE, bindings::types, description, from_guest, to_guest};
use crate::{
    contract::{PluginCall, RawDescription, RawFailure, RawReply, RawSchema},
    guest::GuestState,
};

/// A component that is linked and ready to be instantiated.
#[derive(Clone)]
pub(crate) struct LinkedPlugin {
    linked: InstancePre<GuestState>,
    exports: FacadeExports,
}

/// Where the functions of the exported interface are.
#[derive(Clone, Copy)]
struct FacadeExports {
    describe: ComponentExportIndex,
    schema: ComponentExportIndex,
    dispatch: ComponentExportIndex,
}

/// An instance in its store.
pub(crate) struct PluginExports {
    instance: Instance,
    exports: FacadeExports,
}

impl LinkedPlugin {
    /// Finds the exported functions.
    ///
    /// # Errors
    ///
    /// If one is missing.
    pub(crate) fn new(linked: InstancePre<GuestState>) -> wasmtime::Result<Self> {
        let component = linked.component();
        let find = |parent: Option<&ComponentExportIndex>, name: &str| {
            component
                .get_export_index(parent, name)
                .ok_or_else(|| wasmtime::format_err!("`{name}` is not exported"))
        };
        let facade = find(None, FACADE)?;
        let exports = FacadeExports {
            describe: find(Some(&facade), "describe")?,
            schema: find(Some(&facade), "schema")?,
            dispatch: find(Some(&facade), "dispatch")?,
        };
        Ok(Self { linked, exports })
    }

    pub(crate) async fn instantiate(&self, store: &mut Store<GuestState>) -> wasmtime::Result<PluginExports> {
        let instance = self.linked.instantiate_async(store).await?;
        Ok(PluginExports { instance, exports: self.exports })
    }
}

impl PluginExports {
    pub(crate) async fn describe(&self, store: &mut Store<GuestState>) -> wasmtime::Result<RawDescription> {
        let function =
            self.instance.get_typed_func::<(), (types::Description,)>(&mut *store, self.exports.describe)?;
        let (described,) = function.call_async(store, ()).await?;
        Ok(description::from_plugin(described))
    }

    pub(crate) async fn schema(
        &self,
        store: &mut Store<GuestState>,
        action: &str,
    ) -> wasmtime::Result<Result<RawSchema, RawFailure>> {
        let function =
            self.instance.get_typed_func::<(&str,), (Result<types::ActionSchema, types::Failure>,)>(
                &mut *store,
                self.exports.schema,
            )?;
        let (answer,) = function.call_async(store, (action,)).await?;
        Ok(answer.map(from_guest::schema).map_err(from_guest::failure))
    }

    pub(crate) async fn dispatch(
        &self,
        store: &mut Store<GuestState>,
        call: PluginCall<'_>,
    ) -> wasmtime::Result<Result<RawReply, RawFailure>> {
        let function =
            self.instance.get_typed_func::<(&types::Call,), (Result<types::Reply, types::Failure>,)>(
                &mut *store,
                self.exports.dispatch,
            )?;
        let (answer,) = function.call_async(store, (&to_guest::call(call),)).await?;
        Ok(answer.map(from_guest::reply).map_err(from_guest::failure))
    }
}
