//! The versions of the contract that this host speaks.

use wasmtime::component::InstancePre;

use super::{exported_function::ExportedFunction, plugin::PluginPre, v0_1, v0_2};
use crate::guest::GuestState;

/// The exported interface, without its version.
pub(super) const FACADE: &str = "loggia:plugin/facade";

/// All of them, for messages.
pub(super) const SPOKEN: &str = "0.1 and 0.2";

/// A version of the contract.
pub(super) struct ContractVersion {
    pub number: &'static str,
    /// Prefix of all versions that are interchangeable with this one: before 1.0, those of one minor version.
    pub track: &'static str,
    /// The functions of the exported interface.
    pub functions: &'static [ExportedFunction],
    pub bind: fn(InstancePre<GuestState>) -> wasmtime::Result<PluginPre>,
}

/// The newest first: a component that exports several is bound to the newest.
pub(super) const VERSIONS: [ContractVersion; 2] = [
    ContractVersion {
        number: "0.2.0",
        track: "0.2.",
        functions: &v0_2::FUNCTIONS,
        bind: |linked| v0_2::PluginPre::new(linked).map(PluginPre::V0_2),
    },
    ContractVersion {
        number: "0.1.0",
        track: "0.1.",
        functions: &v0_1::FUNCTIONS,
        bind: |linked| v0_1::PluginPre::new(linked).map(PluginPre::V0_1),
    },
];
