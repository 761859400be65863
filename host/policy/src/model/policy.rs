//! A policy as data.

use std::path::PathBuf;

use loggia_schema::ActionPolicy;

use super::exposure::Exposed;
use crate::model::{FacadeRules, PluginGrants, PluginLimits};

/// Validated policy of a plugin. The default grants nothing.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// Capabilities of the plugin.
    pub grants: PluginGrants,
    /// Limits that the sandbox enforces.
    pub limits: PluginLimits,
    /// Rules that the gate enforces.
    pub rules: FacadeRules,
    /// Rules that the policy sets itself. For those that it does not set, a workflow gets the rights that its steps
    /// need.
    pub stated: StatedRules,
    /// Rules for single actions.
    pub terms: ActionPolicy,
    /// Publishing options.
    pub expose: Exposed,
}

/// Rules that a policy sets explicitly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StatedRules {
    /// True if `grants.invoke` is set.
    pub invoke: bool,
    /// True if `grants.elicit` is set.
    pub elicit: bool,
}

/// Paths on the host that a policy names. Invalid policies are included, since the files that they name must be protected
/// too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyPaths {
    /// Files with secrets (`secrets.from-file`).
    pub secrets: Vec<PathBuf>,
    /// Granted directories (`dirs.path`).
    pub dirs: Vec<PathBuf>,
}
