//! A component on its way into the catalog: read, compile, check, describe, sanitise.

use std::{
    io,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use loggia_egress::SecretSource;
use loggia_facade::Surface;
use loggia_gate::{
    access::Scopes,
    catalog::{Entry, Exposure},
};
use loggia_sandbox::{
    PluginArtifact, CodeCache, SandboxConfig, ArtifactDigest, SandboxEngine, PluginGrants, LoadError, WasmFacade, cache::LoadedComponent,
    compile::CompilerCommand,
};
use loggia_schema::Contract;
use loggia_state::{StateFolder, StateError, StateStore};

use super::{
    admitted::{Admitted, Facts},
    error::AdmitError,
    files::{policy, read},
    workflow,
};
use crate::{
    config::{Exposed, Policy, PolicyPaths},
    load::{
        fence::{OpenedDir, PolicyFiles, TrustFence, TrustPlaces, VersionGrants, survey},
        found::{Found, Kind},
        names::{NameClaim, NameFile, NameRecord},
    },
};

/// Largest file of a secret, with white space around it.
const SECRET: u64 = 8 << 10;

/// Turns files into entries.
pub struct Loader {
    engine: SandboxEngine,
    cache: CodeCache,
    places: TrustPlaces,
    /// The policies of the folder, as they were when the fence was drawn last.
    policies: Mutex<PolicyFiles>,
    /// The state folder, once it could be opened: one for all plugins and versions, which share its connections.
    state: Mutex<Option<StateFolder>>,
    compiler: CompilerCommand,
}

impl Loader {
    /// A loader that compiles with this binary, and keeps what it compiled in a cache.
    pub fn new(engine: SandboxEngine, cache: CodeCache, places: TrustPlaces, compiler: CompilerCommand) -> Self {
        Self { engine, cache, places, policies: Mutex::default(), state: Mutex::default(), compiler }
    }

    /// Who owns which name.
    pub fn names(&self) -> NameRecord {
        self.state().map_or_else(NameRecord::without_a_folder, |state| NameFile::within(state.path()).read())
    }

    /// Records who owns names now; who owns them then.
    pub fn record_names(&self, claims: &[NameClaim]) -> NameRecord {
        self.state()
            .map_or_else(NameRecord::without_a_folder, |state| NameFile::within(state.path()).record(claims))
    }

    /// Draws the fence for all plugins of a folder. `more` are the paths of versions that serve though their policies
    /// changed.
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

    /// Takes a plugin through every check. A surface that is known for the very same bytes is not read again.
    ///
    /// # Errors
    ///
    /// The first check that fails.
    pub async fn admit(
        &self,
        found: &Found,
        known: Option<(ArtifactDigest, Arc<Surface>)>,
    ) -> Result<Admitted, AdmitError> {
        let begun = Instant::now();
        if found.kind == Kind::Workflows {
            return workflow::admit(found, begun);
        }
        let policy = policy(found)?;
        unlogged(&policy.grants);
        let grants = self.granted(&found.path, &policy)?;
        let bytes = read(&found.path, policy.limits.artifact).map_err(|error| match error {
            AdmitError::TooLarge(most, _) => AdmitError::TooLarge(most, Some("limits.artifact")),
            other => other,
        })?;
        let artifact = PluginArtifact::new(bytes)?;
        let compiler = self.compiler.with_limits(policy.limits.compile);
        let LoadedComponent { component, compiled } = self.cache.load(&self.engine, &artifact, &compiler).await?;
        let (surface, contract) = match known {
            Some((digest, surface)) if digest == artifact.digest => {
                let contract = Contract::from_checked(called(&surface, policy.expose.name.as_deref()))?;
                // Here rather than on a call's path.
                contract.compile()?;
                (surface, contract)
            }
            _ => {
                let surface = component.read_surface(&policy.limits).await?;
                let surface = Arc::new(loggia_schema::sanitise_surface(surface));
                let contract = Contract::new(called(&surface, policy.expose.name.as_deref()))?;
                (surface, contract)
            }
        };
        let facts = Facts {
            digest: artifact.digest,
            bytes: artifact.bytes.len(),
            imports: component.imports().to_vec(),
            compiled,
            took: begun.elapsed(),
        };
        let contract = contract.with_policy(policy.terms)?;
        let name = &contract.surface().name;
        let kept = self.kept(name, &policy.grants)?;
        let confines = SandboxConfig { name, grants: &policy.grants, limits: policy.limits, store: kept.store };
        let facade = WasmFacade::new(component, surface, confines)?;
        // Another may have taken the path of one meanwhile.
        if !facade.dirs().map(Some).eq(grants.dirs.iter().map(OpenedDir::id)) {
            return Err(AdmitError::Exchanged);
        }
        let origin = format!("sha256:{}", facts.digest);
        let Exposed { form, split, output_schema, .. } = policy.expose;
        let exposure = Exposure::new(form, split, output_schema);
        let entry =
            Entry::new(Arc::new(facade), contract, policy.rules, exposure, origin).with_scopes(kept.scopes);
        Ok(Admitted { entry, composed: None, grants, facts })
    }

    /// The state folder, made where it is missing.
    ///
    /// # Errors
    ///
    /// If it cannot be; it is tried again the next time.
    pub fn state(&self) -> Result<StateFolder, StateError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &*state {
            Some(folder) => Ok(folder.clone()),
            None => Ok(state.insert(StateFolder::open(&self.places.state)?).clone()),
        }
    }

    /// Opens what a facade keeps between calls, as far as its policy grants it.
    fn kept(&self, name: &str, grants: &PluginGrants) -> Result<Kept, StateError> {
        if grants.store.is_none() && !grants.caller {
            return Ok(Kept::default());
        }
        let folder = self.state()?;
        let store = grants.store.map(|quota| folder.store(name, quota)).transpose()?;
        Ok(Kept { store, scopes: Some(Scopes::new(folder.secret()?)) })
    }

    /// What the policy grants, where the fence does not refuse it.
    fn granted(&self, wasm: &Path, policy: &Policy) -> Result<VersionGrants, AdmitError> {
        let mut granted = VersionGrants::of(policy);
        if policy.grants.dirs.is_empty() {
            return Ok(granted);
        }
        let plugins = std::path::absolute(wasm)?.parent().map(Path::to_owned).unwrap_or_default();
        let fence = self.survey(&plugins, [&granted.paths])?;
        for grant in &policy.grants.dirs {
            let dir = OpenedDir::of(grant)
                .map_err(|error| LoadError::Directory { path: grant.path.display().to_string(), error })?;
            dir.check(&fence)?;
            granted.dirs.push(dir);
        }
        Ok(granted)
    }
}

/// Nothing logs a secret; should something do so by mistake, it is taken out. One in a file is known as it is now.
fn unlogged(grants: &PluginGrants) {
    for secret in &grants.http.secrets {
        match &secret.source {
            SecretSource::Value(_, value) => loggia_text::keep_secret(value),
            SecretSource::File(path) => match read(path, SECRET) {
                Ok(text) => loggia_text::keep_secret(&String::from_utf8_lossy(&text)),
                // Requests that need it say so.
                Err(_) => continue,
            },
        }
    }
}

/// The surface under the name that the operator calls the facade by.
fn called(surface: &Arc<Surface>, name: Option<&str>) -> Arc<Surface> {
    match name {
        Some(name) if name != surface.name => {
            Arc::new(Surface { name: name.to_owned(), ..Surface::clone(surface) })
        }
        _ => Arc::clone(surface),
    }
}

/// What a facade keeps between calls.
#[derive(Default)]
struct Kept {
    store: Option<StateStore>,
    scopes: Option<Scopes>,
}
