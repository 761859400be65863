//! Admits a component: reads, compiles, checks, describes and sanitises it.

use std::{
    io,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use loggia_facade::Surface;
use loggia_gate::catalog::{CatalogEntry, FacadeExposure};
use loggia_policy::{
    grants::unmet_needs,
    model::{Exposed, Policy, PolicyPaths, limit_names::ARTIFACT},
};
use loggia_sandbox::{
    ArtifactDigest, CodeCache, LoadError, PluginArtifact, SandboxConfig, SandboxEngine, WasmFacade,
    cache::LoadedComponent, compile::CompilerCommand,
};
use loggia_schema::{ActionPolicy, Contract};
use loggia_state::{StateError, StateFolder};

use super::{
    admitted::{AdmissionFacts, AdmittedPlugin},
    api,
    error::AdmitError,
    facade_state::{FacadeState, FacadeStates},
    files::{load_policy, read_file},
    naming::with_name,
    redaction::redact_secrets,
    workflow,
};
use crate::{
    caller_vault::CallerVault,
    load::{
        fence::{OpenedDir, PolicyFiles, TrustFence, TrustPlaces, VersionGrants, survey},
        names::{NameClaim, NameFile, NameRecord},
        plugin_files::{FacadeKind, PluginFiles},
    },
};

/// Admits plugins: turns their files into catalog entries.
pub struct PluginAdmitter {
    engine: SandboxEngine,
    cache: CodeCache,
    places: TrustPlaces,
    /// Policies of the folder, as of the last survey. The lock is held during a survey, so that concurrent admissions
    /// do not reread them. A survey only reads files and takes no other lock.
    policies: Mutex<PolicyFiles>,
    states: Arc<FacadeStates>,
    compiler: CompilerCommand,
}

impl PluginAdmitter {
    /// Creates an admitter that compiles with this binary and caches the results.
    pub fn new(
        engine: SandboxEngine,
        cache: CodeCache,
        places: TrustPlaces,
        compiler: CompilerCommand,
        states: FacadeStates,
    ) -> Self {
        let states = Arc::new(states);
        Self { engine, cache, places, policies: Mutex::default(), states, compiler }
    }

    /// Reads the name record.
    pub fn names(&self) -> NameRecord {
        self.open_state_folder()
            .map_or_else(NameRecord::without_folder, |state| NameFile::in_folder(state.path()).read())
    }

    /// Records name owners; returns the resulting record.
    pub fn record_names(&self, claims: &[NameClaim]) -> NameRecord {
        self.open_state_folder()
            .map_or_else(NameRecord::without_folder, |state| NameFile::in_folder(state.path()).record(claims))
    }

    /// Builds the fence for all plugins of a folder. `more` are the paths of versions that keep serving after their
    /// policies changed.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read.
    pub fn survey<'a>(
        &self,
        folder: &Path,
        more: impl IntoIterator<Item = &'a PolicyPaths>,
    ) -> io::Result<TrustFence> {
        let mut policies = self.policies.lock().unwrap_or_else(PoisonError::into_inner);
        survey(&self.places, folder, &mut policies, more)
    }

    /// Runs all checks on a plugin. Reuses a `known` surface for the same bytes.
    ///
    /// # Errors
    ///
    /// The first check that fails.
    pub async fn admit(
        &self,
        found: &PluginFiles,
        known: Option<(ArtifactDigest, Arc<Surface>)>,
    ) -> Result<AdmittedPlugin, AdmitError> {
        let begun = Instant::now();
        match found.kind {
            FacadeKind::Workflows => return workflow::admit_workflows(found, begun),
            FacadeKind::Api => return api::admit_api(found, begun, &self.states),
            FacadeKind::Component => {}
        }
        let policy = load_policy(found)?;
        redact_secrets(&policy.grants);
        let grants = self.check_grants(&found.path, &policy)?;
        let bytes = read_file(&found.path, policy.limits.artifact).map_err(|error| match error {
            AdmitError::TooLarge(most, _) => AdmitError::TooLarge(most, Some(ARTIFACT)),
            other => other,
        })?;
        let artifact = PluginArtifact::new(bytes)?;
        let compiler = self.compiler.with_limits(policy.limits.compile);
        let LoadedComponent { component, compiled } =
            self.cache.load(&self.engine, &artifact, &compiler).await?;
        let (surface, contract) = match known {
            Some((digest, surface)) if digest == artifact.digest => {
                let contract = Contract::from_checked(with_name(&surface, policy.expose.name.as_deref()))?;
                // Compiled here, not on the path of a call.
                contract.compile()?;
                (surface, contract)
            }
            _ => {
                let surface = component.read_surface(&policy.limits).await?;
                let surface = Arc::new(loggia_schema::sanitise_surface(surface));
                let contract = Contract::new(with_name(&surface, policy.expose.name.as_deref()))?;
                (surface, contract)
            }
        };
        let facts = AdmissionFacts {
            digest: artifact.digest,
            bytes: artifact.bytes.len(),
            imports: component.imports().to_vec(),
            compiled,
            took: begun.elapsed(),
        };
        let terms = ActionPolicy { unmet: unmet_needs(&surface, &policy), ..policy.terms.clone() };
        let contract = contract.with_policy(terms)?;
        let state = self.states.open(&contract.surface().name, &policy.grants)?;
        let contract = state.add_login_codes(contract)?;
        let logins = state.caller_logins();
        let FacadeState { store, caller_keys, credentials, .. } = state;
        let name = &contract.surface().name;
        let confines = SandboxConfig {
            name,
            grants: &policy.grants,
            limits: policy.limits,
            store,
            credentials: credentials.map(|found| found as _),
        };
        let facade = WasmFacade::new(component, surface, confines)?;
        // A path may have been replaced since the check.
        if !facade.dirs().map(Some).eq(grants.dirs.iter().map(OpenedDir::id)) {
            return Err(AdmitError::Exchanged);
        }
        let origin = format!("sha256:{}", facts.digest);
        let Exposed { form, split, output_schema, .. } = policy.expose;
        let exposure = FacadeExposure::new(form, split, output_schema);
        let entry = CatalogEntry::new(Arc::new(facade), contract, policy.rules, exposure, origin)
            .with_caller_keys(caller_keys)
            .with_logins(logins);
        Ok(AdmittedPlugin { entry, workflow_file: None, grants, facts })
    }

    /// What the state folder holds for facades.
    pub fn states(&self) -> &Arc<FacadeStates> {
        &self.states
    }

    /// Opens the credentials of all callers.
    ///
    /// # Errors
    ///
    /// If the state folder or the key of credentials cannot be used.
    pub fn vault(&self) -> Result<CallerVault, StateError> {
        self.states.vault()
    }

    /// Opens the state folder; creates it if it is missing.
    ///
    /// # Errors
    ///
    /// If it cannot be opened; the next call retries.
    pub fn open_state_folder(&self) -> Result<StateFolder, StateError> {
        self.states.folder()
    }

    /// Checks the granted directories against the fence.
    fn check_grants(&self, wasm: &Path, policy: &Policy) -> Result<VersionGrants, AdmitError> {
        let mut granted = VersionGrants::from_policy(policy);
        if policy.grants.dirs.is_empty() {
            return Ok(granted);
        }
        let plugins = std::path::absolute(wasm)?.parent().map(Path::to_owned).unwrap_or_default();
        let fence = self.survey(&plugins, [&granted.paths])?;
        for grant in &policy.grants.dirs {
            let dir = OpenedDir::open(grant)
                .map_err(|error| LoadError::Directory { path: grant.path.display().to_string(), error })?;
            dir.check(&fence)?;
            granted.dirs.push(dir);
        }
        Ok(granted)
    }
}
