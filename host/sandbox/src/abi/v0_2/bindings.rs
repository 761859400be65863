//! Generated bindings of the world `plugin`.

#[allow(missing_docs, clippy::all)]
mod generated {
    wasmtime::component::bindgen!({
        path: "wit",
        world: "plugin",
        imports: {
            "loggia:plugin/host.elicit": async,
            "loggia:plugin/host.invoke": async,
            "loggia:plugin/state": async,
        },
        exports: { default: async },
    });
}

pub(crate) use generated::{
    Plugin, PluginPre,
    loggia::plugin::{host, state, types},
};
