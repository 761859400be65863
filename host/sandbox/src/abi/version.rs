//! The versions of the contract that this host speaks.

use wasmtime::component::InstancePre;

use super::{exported_function::ExportedFunction, guard::GuardPre, plugin::PluginPre, v0_1, v0_2};
use crate::{LoadError, guest::GuestState};

/// The interface of plugins, without its version.
const FACADE: &str = "loggia:plugin/facade";
/// The interface of guards, without its version.
const GUARDING: &str = "loggia:plugin/guarding";

/// An interface that components export, in its versions.
pub(super) struct ExportedInterface<P: 'static> {
    /// Without a version.
    pub name: &'static str,
    /// Without its package, for messages.
    pub short: &'static str,
    /// The newest first: a component that exports several is bound to the newest.
    pub versions: &'static [ContractVersion<P>],
    /// All of them, for messages.
    pub spoken: &'static str,
    /// Error of a component that exports these interfaces, and not this one.
    pub missing: fn(Vec<String>) -> LoadError,
}

/// A version of the contract.
pub(super) struct ContractVersion<P> {
    pub number: &'static str,
    /// Prefix of all versions that are interchangeable with this one: before 1.0, those of one minor version.
    pub track: &'static str,
    /// The functions of the exported interface.
    pub functions: &'static [ExportedFunction],
    pub bind: fn(InstancePre<GuestState>) -> wasmtime::Result<P>,
}

/// What a plugin exports.
pub(super) static PLUGIN: ExportedInterface<PluginPre> = ExportedInterface {
    name: FACADE,
    short: "facade",
    versions: &PLUGIN_VERSIONS,
    spoken: "0.1 and 0.2",
    missing: |exports| match exports.iter().any(|name| name.starts_with(GUARDING)) {
        true => LoadError::IsGuard,
        false => LoadError::NoFacade(exports),
    },
};

/// What a guard exports.
pub(super) static GUARD: ExportedInterface<GuardPre> = ExportedInterface {
    name: GUARDING,
    short: "guarding",
    versions: &GUARD_VERSIONS,
    spoken: "0.2",
    missing: LoadError::NoGuard,
};

static GUARD_VERSIONS: [ContractVersion<GuardPre>; 1] = [ContractVersion {
    number: "0.2.0",
    track: "0.2.",
    functions: &v0_2::GUARD_FUNCTIONS,
    bind: |linked| v0_2::GuardPre::new(linked).map(GuardPre::V0_2),
}];

static PLUGIN_VERSIONS: [ContractVersion<PluginPre>; 2] = [
    ContractVersion {
        number: "0.2.0",
        track: "0.2.",
        functions: &v0_2::FUNCTIONS,
        bind: |linked| v0_2::LinkedPlugin::new(linked).map(PluginPre::V0_2),
    },
    ContractVersion {
        number: "0.1.0",
        track: "0.1.",
        functions: &v0_1::FUNCTIONS,
        bind: |linked| v0_1::LinkedPlugin::new(linked).map(PluginPre::V0_1),
    },
];
