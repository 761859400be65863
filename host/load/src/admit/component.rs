//! Admits a component: reads, compiles, checks, describes and sanitises it.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use loggia_cases::recording::{CallTapes, TapedFacade};
use loggia_facade::{Facade, Surface};
use loggia_gate::catalog::{CatalogEntry, FacadeExposure};
use loggia_login::caller_vault::CallerVault;
use loggia_policy::{
    grants::{lacking_grants, unmet_needs},
    model::{CompileLimits, Policy, limit_names::ARTIFACT},
};
use loggia_sandbox::{
    ArtifactDigest, CallProbes, CodeCache, LazyComponent, LoadError, PluginArtifact, PluginComponent,
    SandboxConfig, SandboxEngine, WasmFacade, cache::LoadedComponent, compile::CompilerCommand,
    component::BoundComponent,
};
use loggia_schema::{ActionPolicy, Contract, TextFlag, flag_texts};
use loggia_state::{StateError, StateFolder};

use super::{
    admitted::{AdmissionFacts, AdmittedPlugin, LoadMethod, explain_grants},
    api,
    error::AdmitError,
    facade_state::{FacadeState, FacadeStates},
    files::{PolicyFile, load_policy, load_skill, read_file},
    indexed::{IndexedComponent, StaleFiles},
    naming::with_name,
    redaction::redact_secrets,
    surface_index::{IndexedSurface, SurfaceIndex},
    workflow,
};
use crate::{
    facade_kind::FileKind,
    fence::{ClientRootFence, FenceSurveyor, OpenedDir, TrustPlaces, VersionGrants},
    names::{NameClaim, NameFile, NameRecord, SharedNames},
    plugin_files::PluginFiles,
};

/// Admits plugins: turns their files into catalog entries.
pub struct PluginAdmitter {
    engine: SandboxEngine,
    cache: CodeCache,
    surveyor: Arc<FenceSurveyor>,
    states: Arc<FacadeStates>,
    compiler: CompilerCommand,
    index: Arc<SurfaceIndex>,
    /// Owners of names, if servers share them.
    shared_names: SharedNames,
    stale: Arc<StaleFiles>,
    /// Files of guards.
    guards: Vec<PathBuf>,
    /// What stands beside calls.
    probes: CallProbes,
    /// Tapes of calls, if any are recorded or played.
    tapes: Option<Arc<CallTapes>>,
}

/// A policy, with what it grants.
struct GrantedPolicy {
    policy: Policy,
    /// Digest of its file; `None` without one.
    digest: Option<ArtifactDigest>,
    /// The folder of the plugin.
    folder: PathBuf,
    grants: VersionGrants,
}

/// A component that passed its checks, now or before.
struct CheckedComponent {
    digest: ArtifactDigest,
    bytes: usize,
    imports: Vec<String>,
    method: LoadMethod,
    component: LazyComponent,
    surface: Arc<Surface>,
    contract: Contract,
    /// Texts that look like instructions, unless the surface was known.
    flags: Vec<TextFlag>,
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
        let index = Arc::new(SurfaceIndex::new(cache.clone()));
        let guards = places.guards.clone();
        Self {
            engine,
            cache,
            surveyor: Arc::new(FenceSurveyor::new(places)),
            states: Arc::new(states),
            compiler,
            index,
            shared_names: SharedNames::default(),
            stale: Arc::default(),
            guards,
            probes: CallProbes::default(),
            tapes: None,
        }
    }

    /// Sets what stands beside the calls of components, and the requests of APIs.
    #[must_use]
    pub fn with_probes(mut self, probes: CallProbes) -> Self {
        self.probes = probes;
        self
    }

    /// Records or plays the calls of components.
    #[must_use]
    pub fn with_tapes(mut self, tapes: Option<Arc<CallTapes>>) -> Self {
        if let Some(tapes) = &tapes {
            self.probes.http = Some(Arc::clone(tapes) as _);
            self.probes.guests = Some(Arc::clone(tapes) as _);
        }
        self.tapes = tapes;
        self
    }

    /// Reads the name record.
    pub fn names(&self) -> NameRecord {
        self.open_state_folder().map_or_else(NameRecord::without_folder, |state| match state.is_shared() {
            true => self.shared_names.read(&state),
            false => NameFile::in_folder(state.path()).read(),
        })
    }

    /// Records name owners; returns the resulting record.
    pub fn record_names(&self, claims: &[NameClaim]) -> NameRecord {
        self.open_state_folder().map_or_else(NameRecord::without_folder, |state| match state.is_shared() {
            true => self.shared_names.record(&state, claims),
            false => NameFile::in_folder(state.path()).record(claims),
        })
    }

    /// Whether a file is a guard, which is no plugin.
    pub fn is_guard(&self, file: &Path) -> bool {
        self.guards.iter().any(|guard| is_same_file(guard, file))
    }

    /// Returns what locates the directories that no plugin may have.
    pub fn surveyor(&self) -> &FenceSurveyor {
        &self.surveyor
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
        let skill = load_skill(found)?;
        match found.kind {
            FileKind::Workflows => return workflow::admit_workflows(found, begun, skill),
            FileKind::Api => {
                let admitted = api::admit_api(found, begun, &self.states, self.probes.http.clone())?;
                return Ok(admitted.with_skill(skill));
            }
            FileKind::Component => {}
        }
        let granted = self.read_grants(found)?;
        let checked = self.check_component(found, &granted.policy, known).await?;
        Ok(self.build_entry(checked, granted, begun)?.with_skill(skill))
    }

    /// Admits a plugin like [`admit`](Self::admit), but takes the surface of an unchanged file from the index. Such a component
    /// is not read before its first call.
    ///
    /// # Errors
    ///
    /// The first check that fails.
    pub async fn admit_indexed(
        &self,
        found: &PluginFiles,
        known: Option<(ArtifactDigest, Arc<Surface>)>,
    ) -> Result<AdmittedPlugin, AdmitError> {
        if found.kind != FileKind::Component {
            return self.admit(found, known).await;
        }
        if known.is_none()
            && let Some(indexed) = self.index.find(found)
        {
            let begun = Instant::now();
            let (granted, skill) = (self.read_grants(found)?, load_skill(found)?);
            if let Some(checked) = self.defer_component(found, &granted.policy, indexed) {
                return Ok(self.build_entry(checked, granted, begun)?.with_skill(skill));
            }
        }
        let admitted = self.admit(found, known).await?;
        let AdmissionFacts { digest, imports, .. } = &admitted.facts;
        self.index.record(found, *digest, imports, admitted.entry.facade.surface());
        Ok(admitted)
    }

    /// Reads the policy and checks its directories.
    fn read_grants(&self, found: &PluginFiles) -> Result<GrantedPolicy, AdmitError> {
        let PolicyFile { policy, digest } = load_policy(found)?;
        redact_secrets(&policy.grants);
        let folder = plugin_folder(&found.path)?;
        let grants = self.check_grants(&folder, &policy)?;
        Ok(GrantedPolicy { policy, digest, folder, grants })
    }

    /// Reads and loads a component, and checks its surface.
    async fn check_component(
        &self,
        found: &PluginFiles,
        policy: &Policy,
        known: Option<(ArtifactDigest, Arc<Surface>)>,
    ) -> Result<CheckedComponent, AdmitError> {
        let bytes = read_file(found.content(), policy.limits.artifact).map_err(|error| match error {
            AdmitError::TooLarge(most, _) => AdmitError::TooLarge(most, Some(ARTIFACT)),
            other => other,
        })?;
        let artifact = PluginArtifact::new(bytes)?;
        let LoadedComponent { component, compiled } =
            self.load_code::<PluginComponent>(&artifact, policy.limits.compile()).await?;
        let (surface, contract, flags) = match known {
            Some((digest, surface)) if digest == artifact.digest => {
                let contract = Contract::from_checked(with_name(&surface, policy.expose.name.as_deref()))?;
                // Compiled here, not on the path of a call.
                contract.compile()?;
                (surface, contract, Vec::new())
            }
            _ => {
                let surface = component.read_surface(&policy.limits).await?;
                let flags = flag_texts(&surface);
                let surface = Arc::new(loggia_schema::sanitise_surface(surface));
                let contract = Contract::new(with_name(&surface, policy.expose.name.as_deref()))?;
                (surface, contract, flags)
            }
        };
        Ok(CheckedComponent {
            digest: artifact.digest,
            bytes: artifact.bytes.len(),
            imports: component.imports().to_vec(),
            method: if compiled { LoadMethod::Compiled } else { LoadMethod::Cached },
            component: LazyComponent::Loaded(component),
            surface,
            contract,
            flags,
        })
    }

    /// Loads the code of a component from the cache, or compiles it.
    pub(super) async fn load_code<C: BoundComponent>(
        &self,
        artifact: &PluginArtifact,
        limits: CompileLimits,
    ) -> Result<LoadedComponent<C>, LoadError> {
        self.cache.load(&self.engine, artifact, &self.compiler.with_limits(limits)).await
    }

    /// Defers a component to its first call; `None` if it has to be checked after all.
    fn defer_component(
        &self,
        found: &PluginFiles,
        policy: &Policy,
        indexed: IndexedSurface,
    ) -> Option<CheckedComponent> {
        let (most, size) = (policy.limits.artifact, found.stamp().size());
        if size > most {
            return None;
        }
        let IndexedSurface { digest, imports, surface } = indexed;
        let contract = Contract::from_checked(with_name(&surface, policy.expose.name.as_deref())).ok()?;
        let loader = IndexedComponent {
            engine: self.engine.clone(),
            cache: self.cache.clone(),
            compiler: self.compiler.with_limits(policy.limits.compile()),
            index: Arc::clone(&self.index),
            stale: Arc::clone(&self.stale),
            path: found.path.clone(),
            stamp: found.stamp(),
            digest,
            most,
            facade: contract.surface().name.clone(),
        };
        Some(CheckedComponent {
            digest,
            bytes: usize::try_from(size).ok()?,
            imports,
            method: LoadMethod::Indexed,
            component: LazyComponent::deferred(self.engine.clone(), Arc::new(loader)),
            surface,
            contract,
            flags: Vec::new(),
        })
    }

    /// Builds the entry of a component under its policy.
    fn build_entry(
        &self,
        checked: CheckedComponent,
        granted: GrantedPolicy,
        begun: Instant,
    ) -> Result<AdmittedPlugin, AdmitError> {
        let CheckedComponent { digest, bytes, imports, method, component, surface, contract, flags } =
            checked;
        let GrantedPolicy { policy, digest: policy_digest, folder, grants } = granted;
        let facts = AdmissionFacts {
            digest,
            bytes,
            imports,
            method,
            took: begun.elapsed(),
            policy: policy_digest,
            grants: explain_grants(&policy),
            lacking: lacking_grants(&surface, &policy),
            flags,
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
            probes: self.probes.clone(),
            root_fence: Arc::new(ClientRootFence::new(&self.surveyor, folder, grants.paths.clone())),
        };
        let facade = WasmFacade::new(component, surface, confines)?;
        // A path may have been replaced since the check.
        if !facade.dirs().map(Some).eq(grants.dirs.iter().map(OpenedDir::id)) {
            return Err(AdmitError::Exchanged);
        }
        let origin = format!("sha256:{}", facts.digest);
        let exposure = FacadeExposure::new(&policy.expose);
        let facade: Arc<dyn Facade> = match &self.tapes {
            None => Arc::new(facade),
            Some(tapes) => {
                let allowed = &contract.policy().record;
                Arc::new(TapedFacade::new(Arc::new(facade), Arc::clone(tapes), name, &origin, allowed))
            }
        };
        let entry = CatalogEntry::new(facade, contract, policy.rules, exposure, origin)
            .with_policy_digest(facts.policy)
            .with_caller_keys(caller_keys)
            .with_logins(logins);
        Ok(AdmittedPlugin { entry, workflow_file: None, grants, facts })
    }

    /// Surfaces that are kept over restarts.
    pub fn index(&self) -> &Arc<SurfaceIndex> {
        &self.index
    }

    /// Files that have to be admitted again.
    pub(crate) fn stale(&self) -> &Arc<StaleFiles> {
        &self.stale
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
    fn check_grants(&self, folder: &Path, policy: &Policy) -> Result<VersionGrants, AdmitError> {
        let mut granted = VersionGrants::from_policy(policy);
        if policy.grants.dirs.is_empty() {
            return Ok(granted);
        }
        let fence = self.surveyor.survey(folder, [&granted.paths])?;
        for grant in &policy.grants.dirs {
            let failed = |error| LoadError::Directory { path: grant.path.display().to_string(), error };
            if grant.roots {
                // What clients name below it is checked in their calls.
                std::fs::read_dir(&grant.path).map_err(failed)?;
                continue;
            }
            let dir = OpenedDir::open(grant).map_err(failed)?;
            dir.check(&fence)?;
            granted.dirs.push(dir);
        }
        Ok(granted)
    }
}

/// Whether two paths lead to one file.
fn is_same_file(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

/// Returns the folder of a plugin's file.
fn plugin_folder(file: &Path) -> io::Result<PathBuf> {
    Ok(std::path::absolute(file)?.parent().map(Path::to_owned).unwrap_or_default())
}
