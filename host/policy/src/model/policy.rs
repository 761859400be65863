//! A policy as data.

use std::path::PathBuf;

use loggia_schema::ActionPolicy;

use super::exposure::Exposed;
use crate::model::{FacadeRules, PluginGrants, PluginLimits};

/// A policy, validated. The default grants nothing.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// What the plugin may use.
    pub grants: PluginGrants,
    /// How much of it.
    pub limits: PluginLimits,
    /// What the gate holds its calls to.
    pub rules: FacadeRules,
    /// What it says itself of calls to others and of questions: a workflow may do what its steps do where it says nothing.
    pub stated: StatedRules,
    /// What is said of its actions.
    pub terms: ActionPolicy,
    /// How it is published.
    pub expose: Exposed,
}

/// Which of the rules a policy states.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StatedRules {
    /// `grants.invoke`.
    pub invoke: bool,
    /// `grants.elicit`.
    pub elicit: bool,
}

/// The paths of the host's that a policy names. They are read from a policy with mistakes too: a secret stays a secret.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyPaths {
    /// Files that hold secrets (`secrets.from-file`).
    pub secrets: Vec<PathBuf>,
    /// Directories that are granted (`dirs.path`).
    pub dirs: Vec<PathBuf>,
}
