//! A function that a plugin exports.

// `InstanceType` and `ComponentFunc::typecheck` are what bindgen's own code checks types with, only later: when an
// instance is there already. Hidden from the documentation, but there for as long as 48 is maintained.
use wasmtime::component::{__internal::InstanceType, types::ComponentFunc};

/// A function of the exported interface.
pub(super) struct ExportedFunction {
    pub name: &'static str,
    /// As the contract writes it.
    pub signature: &'static str,
    pub check: fn(&ComponentFunc, &InstanceType<'_>) -> wasmtime::Result<()>,
}

impl ExportedFunction {
    /// Tests whether a component's export has the contract's type.
    pub(super) fn matches(&self, found: &ComponentFunc, component: &InstanceType<'_>) -> bool {
        (self.check)(found, component).is_ok()
    }
}
