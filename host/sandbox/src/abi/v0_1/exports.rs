//! The interface that a plugin exports.

// `InstanceType` and `ComponentFunc::typecheck` are what bindgen's own code checks types with, only later: when an
// instance is there already. Hidden from the documentation, but there for as long as 48 is maintained.
use wasmtime::component::{__internal::InstanceType, types::ComponentFunc};

use super::bindings::types;

/// Version of the exported interface.
pub(crate) const VERSION: &str = "0.1.0";

/// Prefix of all versions that are interchangeable with this one.
pub(crate) const TRACK: &str = "0.1.";

/// The exported interface, without its version.
pub(crate) const FACADE: &str = "loggia:plugin/facade";

/// A function of the exported interface.
pub(crate) struct ExportedFunction {
    pub name: &'static str,
    /// As the contract writes it.
    pub signature: &'static str,
    check: fn(&ComponentFunc, &InstanceType<'_>) -> wasmtime::Result<()>,
}

impl ExportedFunction {
    /// Tests whether a component's export has the contract's type.
    pub(crate) fn matches(&self, found: &ComponentFunc, component: &InstanceType<'_>) -> bool {
        (self.check)(found, component).is_ok()
    }
}

/// The functions of the exported interface.
pub(crate) const FUNCTIONS: [ExportedFunction; 3] = [
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
