//! A plugin that passed all checks.

use std::{sync::Arc, time::Duration};

use loggia_gate::catalog::CatalogEntry;
use loggia_sandbox::ArtifactDigest;

use crate::load::{fence::VersionGrants, workflow_bundle::WorkflowBundle};

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

/// Facts about an admission, for logs and `check`.
#[derive(Debug, Clone)]
pub struct AdmissionFacts {
    /// Digest of the plugin file.
    pub digest: ArtifactDigest,
    /// Size of the plugin file.
    pub bytes: usize,
    /// Interfaces that the component imports.
    pub imports: Vec<String>,
    /// Whether it was compiled now, not read from the cache.
    pub compiled: bool,
    /// Duration of the admission.
    pub took: Duration,
}
