//! A plugin that passed all checks.

use std::{sync::Arc, time::Duration};

use loggia_facade::Effect;
use loggia_gate::catalog::{CatalogEntry, PluginSkill};
use loggia_policy::{
    grants::{self, LackingGrant},
    model::Policy,
};
use loggia_sandbox::ArtifactDigest;
use loggia_schema::TextFlag;

use crate::{fence::VersionGrants, workflow_bundle::WorkflowBundle};

/// A plugin that passed all checks.
pub struct AdmittedPlugin {
    /// Entry for the catalog.
    pub entry: CatalogEntry,
    /// Workflow file from which to rebuild the entry when the facades that it calls change; `None` for components.
    pub workflow_file: Option<Arc<WorkflowBundle>>,
    /// Grants that concern the fence and the name record.
    pub grants: VersionGrants,
    /// Facts for logs and `check`.
    pub facts: AdmissionFacts,
}

impl AdmittedPlugin {
    /// Sets the skill that comes with the plugin.
    pub(super) fn with_skill(self, skill: Option<Arc<PluginSkill>>) -> Self {
        Self { entry: self.entry.with_skill(skill), ..self }
    }
}

/// Facts about an admission, for logs and `check`.
#[derive(Debug, Clone)]
pub struct AdmissionFacts {
    /// Digest of the plugin file.
    pub digest: ArtifactDigest,
    /// Size of the plugin file.
    pub bytes: usize,
    /// Interfaces that the component imports.
    pub imports: Vec<String>,
    /// Work that it took.
    pub method: LoadMethod,
    /// Duration of the admission.
    pub took: Duration,
    /// Digest of the policy file; `None` without one.
    pub policy: Option<ArtifactDigest>,
    /// What the policy grants, explained.
    pub grants: Vec<String>,
    /// Grants that the plugin needs and the policy lacks.
    pub lacking: Vec<LackingGrant>,
    /// Texts that look like instructions or are hidden. Empty if the surface was known before.
    pub flags: Vec<TextFlag>,
}

/// Explains what a policy grants, a line for each.
pub(super) fn explain_grants(policy: &Policy) -> Vec<String> {
    let explained = grants::explain(policy, Effect::Destructive).into_iter();
    explained.map(|(key, text)| format!("{key}: {text}")).collect()
}

/// Work that an admission took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadMethod {
    /// It was read: a workflow, an API or an upstream.
    Read,
    /// It was compiled.
    Compiled,
    /// Its code was in the cache.
    Cached,
    /// Its surface was in the index; nothing else was read.
    Indexed,
}

impl LoadMethod {
    /// The word in logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Compiled => "compiled",
            Self::Cached => "cached",
            Self::Indexed => "indexed",
        }
    }
}
