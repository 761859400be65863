//! Admits a guard: reads, compiles and checks its component.

use loggia_policy::model::PluginLimits;
use loggia_sandbox::{GuardComponent, GuardSandbox, PluginArtifact, WasmGuard, cache::LoadedComponent};

use super::{component::PluginAdmitter, error::AdmitError, files::read_file};
use crate::load::guard_spec::GuardSpec;

impl PluginAdmitter {
    /// Runs all checks on a guard.
    ///
    /// # Errors
    ///
    /// The first check that fails.
    pub async fn admit_guard(&self, spec: &GuardSpec) -> Result<WasmGuard, AdmitError> {
        let limits = PluginLimits::default();
        let artifact = PluginArtifact::new(read_file(&spec.component, limits.artifact)?)?;
        let LoadedComponent { component, .. } =
            self.load_code::<GuardComponent>(&artifact, limits.compile).await?;
        let sandbox = GuardSandbox {
            name: &spec.rule.name,
            digest: artifact.digest,
            config: spec.config.clone(),
            time: spec.time,
            memory: spec.memory,
            size: spec.size,
        };
        Ok(WasmGuard::new(component, sandbox)?)
    }
}
