//! Admits a guard: reads, compiles and checks its component.

use std::path::Path;

use loggia_policy::model::PluginLimits;
use loggia_sandbox::{
    ArtifactDigest, GuardComponent, GuardSandbox, PluginArtifact, WasmGuard, cache::LoadedComponent,
};

use super::{component::PluginAdmitter, error::AdmitError, files::read_file};
use crate::guard_spec::GuardSpec;

/// A guard that passed all checks.
pub struct AdmittedGuard {
    /// The guard.
    pub guard: WasmGuard,
    /// Digest of its file.
    pub digest: ArtifactDigest,
}

impl PluginAdmitter {
    /// Runs all checks on a guard from this file: its own, or a copy.
    ///
    /// # Errors
    ///
    /// The first check that fails.
    pub async fn admit_guard(&self, spec: &GuardSpec, file: &Path) -> Result<AdmittedGuard, AdmitError> {
        let limits = PluginLimits::default();
        let artifact = PluginArtifact::new(read_file(file, limits.artifact)?)?;
        let digest = artifact.digest;
        let LoadedComponent { component, .. } =
            self.load_code::<GuardComponent>(&artifact, limits.compile()).await?;
        let sandbox = GuardSandbox {
            name: &spec.rule.name,
            digest: artifact.digest,
            config: spec.config.clone(),
            time: spec.time,
            memory: spec.memory,
            size: spec.size,
        };
        Ok(AdmittedGuard { guard: WasmGuard::new(component, sandbox)?, digest })
    }
}
