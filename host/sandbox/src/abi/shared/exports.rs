//! The functions that a plugin exports, with this version's types.

use wasmtime::component::types::ComponentFunc;

use super::{super::exported_function::ExportedFunction, bindings::types};

/// The functions of the exported interface.
pub(in crate::abi) const FUNCTIONS: [ExportedFunction; 3] = [
    ExportedFunction {
        name: "describe",
        signature: "func() -> description",
        check: ComponentFunc::typecheck::<(), (types::Description,)>,
    },
    ExportedFunction {
        name: "schema",
        signature: "func(action: string) -> result<action-schema, failure>",
        check: ComponentFunc::typecheck::<(String,), (Result<types::ActionSchema, types::Failure>,)>,
    },
    ExportedFunction {
        name: "dispatch",
        signature: "func(call: call) -> result<reply, failure>",
        check: ComponentFunc::typecheck::<(types::Call,), (Result<types::Reply, types::Failure>,)>,
    },
];
