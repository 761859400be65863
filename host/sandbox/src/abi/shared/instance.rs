//! Calls into an instance.

use wasmtime::Store;

use super::{bindings::Plugin, description, from_guest, to_guest};
use crate::{
    contract::{PluginCall, RawDescription, RawFailure, RawReply, RawSchema},
    guest::GuestState,
};

pub(crate) async fn describe(
    plugin: &Plugin,
    store: &mut Store<GuestState>,
) -> wasmtime::Result<RawDescription> {
    plugin.loggia_plugin_facade().call_describe(store).await.map(description::from_plugin)
}

pub(crate) async fn schema(
    plugin: &Plugin,
    store: &mut Store<GuestState>,
    action: &str,
) -> wasmtime::Result<Result<RawSchema, RawFailure>> {
    let answer = plugin.loggia_plugin_facade().call_schema(store, action).await?;
    Ok(answer.map(from_guest::schema).map_err(from_guest::failure))
}

pub(crate) async fn dispatch(
    plugin: &Plugin,
    store: &mut Store<GuestState>,
    call: PluginCall<'_>,
) -> wasmtime::Result<Result<RawReply, RawFailure>> {
    let call = to_guest::call(call);
    let answer = plugin.loggia_plugin_facade().call_dispatch(store, &call).await?;
    Ok(answer.map(from_guest::reply).map_err(from_guest::failure))
}
