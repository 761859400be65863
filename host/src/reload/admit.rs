//! One plugin on its way into the catalog: read, compile, check, describe, sanitise.

use std::{
    borrow::Cow,
    fs::{File, OpenOptions},
    io::{self, Read},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use loggia_egress::Source;
use loggia_facade::Surface;
use loggia_gate::{
    access::Scopes,
    catalog::{Entry, Exposure},
};
use loggia_sandbox::{
    Artifact, Cache, Confines, Digest, Engine, Grants, LoadError, WasmFacade, cache::Loaded,
    compile::Compiler,
};
use loggia_schema::Contract;
use loggia_state::{Folder, StateError, Store};
use loggia_text::units::bytes_text;

use super::{
    compose::Composed,
    fence::{FenceBreach, TrustFence},
    granted::{OpenedDir, VersionGrants},
    owners::{NameClaim, NameFile, NameRecord},
    scan::{Found, Kind, Stamp},
    survey::{PolicyFiles, TrustPlaces, survey},
};
use crate::config::{Exposed, Policy, PolicyError, PolicyPaths, places};

/// Largest policy file.
const POLICY: u64 = 1 << 20;
/// Largest file of a secret, with white space around it.
const SECRET: u64 = 8 << 10;
/// What callers are told of a plugin that the fence refuses.
pub(super) const FENCED: &str = "its policy grants a directory that no plugin may have";

/// Turns files into entries.
pub struct Loader {
    engine: Engine,
    cache: Cache,
    places: TrustPlaces,
    /// The policies of the folder, as they were when the fence was drawn last.
    policies: Mutex<PolicyFiles>,
    /// The state folder, once it could be opened: one for all plugins and versions, which share its connections.
    state: Mutex<Option<Folder>>,
    compiler: Compiler,
}

/// A plugin that passed every check.
pub struct Admitted {
    /// Ready to serve.
    pub entry: Entry,
    /// What the entry is made of anew when the facades that it calls change; of workflows only.
    pub composed: Option<Arc<Composed>>,
    /// What it was granted of what the fence and the record of names are about.
    pub grants: VersionGrants,
    /// What was found out on the way.
    pub facts: Facts,
}

/// What is worth telling of an admission.
pub struct Facts {
    /// Of the plugin's bytes.
    pub digest: Digest,
    /// Of the plugin's file.
    pub bytes: usize,
    /// The interfaces that the component imports.
    pub imports: Vec<String>,
    /// Compiled just now rather than taken from the cache.
    pub compiled: bool,
    /// From the first byte read to ready.
    pub took: Duration,
}

/// Why a plugin does not serve. Reads after its file's name.
#[derive(Debug, thiserror::Error)]
pub enum AdmitError {
    /// Somebody is still writing; not an error yet.
    #[error("the file changed while it was read")]
    Changing,
    /// The file cannot be read.
    #[error("failed to read the file: {0}")]
    Read(#[from] io::Error),
    /// A directory, a pipe, a device.
    #[error("not a regular file")]
    NotRegular,
    /// More than a plugin may be.
    #[error("the file is larger than {}{}", bytes_text(*.0), .1.map(|key| format!(" (`{key}`)")).unwrap_or_default())]
    TooLarge(u64, Option<&'static str>),
    /// Not a component that fulfils the contract.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// What it keeps between calls cannot be opened.
    #[error("failed to open its state: {0}")]
    State(#[from] StateError),
    /// The surface cannot be published.
    #[error("the surface cannot be published: {0}")]
    Surface(#[from] loggia_schema::Problems),
    /// The policy cannot be used.
    #[error("the policy {0} cannot be used: {1}")]
    Policy(String, #[source] PolicyError),
    /// The policy is a link that leads to no file.
    #[error("the policy {} cannot be used: it is a link that leads {}", .0.display(), .1)]
    PolicyLink(PathBuf, String),
    /// The policy grants what would let a plugin read or change what the host trusts.
    #[error(transparent)]
    Fenced(#[from] FenceBreach),
    /// The workflows cannot be used.
    #[error("the workflows cannot be used: {0}")]
    Workflows(#[from] loggia_workflow::Problems),
    /// The policy grants what workflows have no use for.
    #[error(
        "the policy grants {0}, which means nothing to workflows: their steps do what the facades that they call are \
         granted"
    )]
    Needless(&'static str),
    /// A path of a granted directory led elsewhere when it was opened than when it was checked.
    #[error("a directory that its policy grants was exchanged while it was opened")]
    Exchanged,
    /// A defect of the host's own.
    #[error("the host panicked while it loaded the plugin")]
    Panicked,
}

impl AdmitError {
    /// What callers are told: no path of the host's, and no text of the plugin's.
    pub fn told(&self) -> Cow<'static, str> {
        let told = match self {
            Self::Changing | Self::Read(_) => "its file cannot be read",
            Self::NotRegular => "its file is not a regular file",
            Self::TooLarge(..) => "its file is too large",
            Self::State(_) => "its state cannot be opened",
            Self::Surface(_) => "what it publishes cannot be used",
            Self::Policy(..) | Self::PolicyLink(..) => "its policy cannot be used",
            Self::Fenced(_) => FENCED,
            Self::Exchanged => "a directory that its policy grants cannot be opened",
            Self::Panicked => "the host failed while it loaded it",
            Self::Workflows(_) => "its workflows cannot be used",
            Self::Needless(_) => "its policy cannot be used",
            Self::Load(error) => match error {
                LoadError::NotWasm | LoadError::CoreModule | LoadError::Precompiled => {
                    return error.to_string().into();
                }
                LoadError::NoFacade(_) | LoadError::WrongExport { .. } => "it does not fulfil the contract",
                LoadError::ContractVersion { .. } => "it was built for another version of the contract",
                LoadError::UnknownImport(_) => "it needs what this host does not offer",
                LoadError::Compile(_) => "it does not compile",
                LoadError::CompileLimit(_) => "compiling it takes too much",
                LoadError::TooMuch(_) => "it is made of more than a call may have",
                LoadError::Describe { .. } | LoadError::DescribeTime { .. } => "it failed to describe itself",
                LoadError::Unstable(_) => "it describes itself in another way each time",
                LoadError::Schema { .. } => "it describes an action by a schema that cannot be used",
                LoadError::Directory { .. } => "a directory that its policy grants cannot be opened",
                LoadError::Io(..) | LoadError::Code(_) => "the host failed to load it",
            },
        };
        told.into()
    }

    /// Whether the very same files may load at another time: it was the machine that failed, not the plugin.
    pub fn may_pass(&self) -> bool {
        let Self::Load(error) = self else {
            return matches!(self, Self::Read(_) | Self::State(_) | Self::Exchanged);
        };
        matches!(
            error,
            LoadError::Io(..)
                | LoadError::Directory { .. }
                | LoadError::CompileLimit(_)
                | LoadError::DescribeTime { .. }
                | LoadError::Code(_)
        )
    }
}

impl Loader {
    /// A loader that compiles with this binary, and keeps what it compiled in a cache.
    pub fn new(engine: Engine, cache: Cache, places: TrustPlaces, compiler: Compiler) -> Self {
        Self { engine, cache, places, policies: Mutex::default(), state: Mutex::default(), compiler }
    }

    /// Who owns which name.
    pub fn names(&self) -> NameRecord {
        self.state().map_or_else(NameRecord::without_a_folder, |state| NameFile::within(state.path()).read())
    }

    /// Records who owns names now; who owns them then.
    pub(super) fn record_names(&self, claims: &[NameClaim]) -> NameRecord {
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
        known: Option<(Digest, Arc<Surface>)>,
    ) -> Result<Admitted, AdmitError> {
        let begun = Instant::now();
        if found.kind == Kind::Workflows {
            return Composed::admit(found, begun);
        }
        let policy = policy(found)?;
        unlogged(&policy.grants);
        let grants = self.granted(&found.path, &policy)?;
        let bytes = read(&found.path, policy.limits.artifact).map_err(|error| match error {
            AdmitError::TooLarge(most, _) => AdmitError::TooLarge(most, Some("limits.artifact")),
            other => other,
        })?;
        let artifact = Artifact::new(bytes)?;
        let compiler = self.compiler.within(policy.limits.compile);
        let Loaded { component, compiled } = self.cache.load(&self.engine, &artifact, &compiler).await?;
        let (surface, contract) = match known {
            Some((digest, surface)) if digest == artifact.digest => {
                let contract = Contract::known(called(&surface, policy.expose.name.as_deref()))?;
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
        let contract = contract.under(policy.terms)?;
        let name = &contract.surface().name;
        let kept = self.kept(name, &policy.grants)?;
        let confines = Confines { name, grants: &policy.grants, limits: policy.limits, store: kept.store };
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
    pub fn state(&self) -> Result<Folder, StateError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &*state {
            Some(folder) => Ok(folder.clone()),
            None => Ok(state.insert(Folder::open(&self.places.state)?).clone()),
        }
    }

    /// Opens what a facade keeps between calls, as far as its policy grants it.
    fn kept(&self, name: &str, grants: &Grants) -> Result<Kept, StateError> {
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
fn unlogged(grants: &Grants) {
    for secret in &grants.http.secrets {
        match &secret.source {
            Source::Value(_, value) => loggia_text::keep_secret(value),
            Source::File(path) => match read(path, SECRET) {
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
    store: Option<Store>,
    scopes: Option<Scopes>,
}

/// The policy beside a plugin; without one, nothing is granted.
pub(super) fn policy(found: &Found) -> Result<Policy, AdmitError> {
    found.policy.as_deref().map_or_else(|| Ok(Policy::default()), read_policy)
}

/// The digest of the policy beside a plugin, if there is one that can be read.
pub(super) fn digest_of_policy(found: &Found) -> Option<Digest> {
    read(found.policy.as_deref()?, POLICY).ok().map(|text| Digest::of(&text))
}

fn read_policy(path: &Path) -> Result<Policy, AdmitError> {
    if let (Ok(to), Err(error)) = (std::fs::read_link(path), std::fs::metadata(path)) {
        return Err(AdmitError::PolicyLink(path.to_owned(), format!("to {}: {error}", to.display())));
    }
    let text = read(path, POLICY)?;
    let text = String::from_utf8_lossy(&text);
    // A policy that is a link is read where it points to, but its paths start where the plugin stands.
    let folder = std::path::absolute(path)?.parent().map(Path::to_owned).unwrap_or_default();
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Policy::parse(&text, &places::setting(&folder)).map_err(|e| AdmitError::Policy(name, e))
}

/// Reads a regular file whole, and only if nobody changes it meanwhile.
pub(super) fn read(path: &Path, most: u64) -> Result<Vec<u8>, AdmitError> {
    // Opening a pipe would wait for its writer.
    const NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    // Opening a device may do something; the file is looked at again once it is open.
    if !std::fs::metadata(path)?.is_file() {
        return Err(AdmitError::NotRegular);
    }
    let mut file = OpenOptions::new().read(true).custom_flags(NONBLOCK).open(path)?;
    let before = file.metadata()?;
    if !before.is_file() {
        return Err(AdmitError::NotRegular);
    }
    if before.len() > most {
        return Err(AdmitError::TooLarge(most, None));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(before.len()).unwrap_or(0));
    (&mut file).take(most + 1).read_to_end(&mut bytes)?;
    let same = |after: &File| after.metadata().is_ok_and(|after| Stamp::of(&after) == Stamp::of(&before));
    if bytes.len() as u64 != before.len() || !same(&file) {
        return Err(AdmitError::Changing);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_are_told_neither_paths_nor_a_plugins_text() {
        let (path, text) = (PathBuf::from("/srv/secret"), "\u{1b}[31mtext\n".repeat(1000));
        let denied = || io::Error::new(io::ErrorKind::PermissionDenied, "/srv/secret");
        let check = |error: AdmitError, told: &str, may_pass: bool| {
            assert_eq!((error.told().as_ref(), error.may_pass()), (told, may_pass), "{error:?}");
        };
        let policy = Policy::parse(&text, &places::setting(Path::new("/srv/secret"))).expect_err("nonsense");
        check(AdmitError::Policy("notes.toml".into(), policy), "its policy cannot be used", false);
        check(denied().into(), "its file cannot be read", true);
        check(AdmitError::PolicyLink(path, "to /srv".into()), "its policy cannot be used", false);
        let state = StateError::Storage("/srv/secret".to_owned());
        check(state.into(), "its state cannot be opened", true);
        let load = |error: LoadError, told: &str, may_pass| check(error.into(), told, may_pass);
        load(LoadError::Compile(text.clone()), "it does not compile", false);
        load(LoadError::CompileLimit(text.clone()), "compiling it takes too much", true);
        load(LoadError::NoFacade(vec![text.clone()]), "it does not fulfil the contract", false);
        load(LoadError::UnknownImport(text.clone()), "it needs what this host does not offer", false);
        load(LoadError::Io("write to the cache", denied()), "the host failed to load it", true);
        let describe = LoadError::Describe { function: "describe".into(), reason: text };
        load(describe, "it failed to describe itself", false);
        let directory = LoadError::Directory { path: "/srv/secret".into(), error: denied() };
        load(directory, "a directory that its policy grants cannot be opened", true);
    }
}
