//! Generated bindings of the world `plugin`.

#[allow(dead_code, missing_docs, clippy::all, reason = "instances are called by `shared/instance.rs`")]
mod generated {
    wasmtime::component::bindgen!({
        path: "wit/released/0.1.0",
        world: "plugin",
        imports: {
            "loggia:plugin/host.elicit": async,
            "loggia:plugin/host.invoke": async,
            "loggia:plugin/state": async,
        },
        exports: { default: async },
    });
}

/// The exported interface.
pub(super) const FACADE: &str = "loggia:plugin/facade@0.1.0";

pub(crate) use generated::loggia::plugin::{host, state, types};
