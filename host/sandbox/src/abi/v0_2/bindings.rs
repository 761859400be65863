//! Generated bindings of the world `plugin`.

#[allow(dead_code, missing_docs, clippy::all, reason = "instances are called by `shared/instance.rs`")]
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

/// The exported interface.
pub(super) const FACADE: &str = "loggia:plugin/facade@0.2.0";

pub(crate) use generated::loggia::plugin::{host, state, types};

/// Generated bindings of the world `guard`, which shares the interfaces of `plugin`.
#[allow(missing_docs, clippy::all)]
mod generated_guard {
    wasmtime::component::bindgen!({
        path: "wit",
        world: "guard",
        with: {
            "loggia:plugin/host": super::generated::loggia::plugin::host,
            "loggia:plugin/types": super::generated::loggia::plugin::types,
        },
        exports: { default: async },
    });
}

pub(crate) use generated_guard::{GuardPre, exports::loggia::plugin::guarding};
