//! One plugin on its way into the catalog: read, compile, check, describe, sanitise.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use loggia_facade::Surface;
use loggia_sandbox::{
    Artifact, Cache, Digest, Engine, LoadError, WasmFacade, cache::Loaded, compile::Compiler,
};
use loggia_schema::Contract;

use super::scan::{Found, Stamp};
use crate::{
    catalog::Entry,
    config::{Policy, PolicyError, places},
};

/// Largest plugin.
const ARTIFACT: u64 = 32 << 20;
/// Largest policy file.
const POLICY: u64 = 1 << 20;

/// Turns files into entries.
pub struct Loader {
    engine: Engine,
    cache: Cache,
    compiler: Compiler,
}

/// A plugin that passed every check.
pub struct Admitted {
    /// Ready to serve.
    pub entry: Entry,
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
    #[error("the file is larger than {} MiB", .0 >> 20)]
    TooLarge(u64),
    /// Not a component that fulfils the contract.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The surface cannot be published.
    #[error("the surface cannot be published: {0}")]
    Surface(#[from] loggia_schema::Problems),
    /// The policy cannot be used.
    #[error("the policy {0} cannot be used: {1}")]
    Policy(String, #[source] PolicyError),
}

impl Loader {
    /// A loader that compiles with this binary.
    pub fn new(engine: Engine, cache: Cache, compiler: Compiler) -> Self {
        Self { engine, cache, compiler }
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
        let policy = match &found.policy {
            None => Policy::default(),
            Some(path) => read_policy(path)?,
        };
        let artifact = Artifact::new(read(&found.wasm, ARTIFACT)?)?;
        let Loaded { component, compiled } = self.cache.load(&self.engine, &artifact, &self.compiler).await?;
        let (surface, contract) = match known {
            Some((digest, surface)) if digest == artifact.digest => {
                (Arc::clone(&surface), Contract::known(surface)?)
            }
            _ => {
                let surface = component.read_surface(&policy.limits).await?;
                let surface = Arc::new(loggia_schema::sanitise_surface(surface));
                (Arc::clone(&surface), Contract::new(surface)?)
            }
        };
        let facts = Facts {
            digest: artifact.digest,
            bytes: artifact.bytes.len(),
            imports: component.imports().to_vec(),
            compiled,
            took: begun.elapsed(),
        };
        let facade = WasmFacade::new(component, surface, &policy.grants, policy.limits)?;
        let origin = format!("sha256:{}", facts.digest);
        let entry = Entry::new(Arc::new(facade), contract, policy.rules, origin);
        Ok(Admitted { entry, facts })
    }
}

fn read_policy(path: &Path) -> Result<Policy, AdmitError> {
    let text = read(path, POLICY)?;
    let text = String::from_utf8_lossy(&text);
    // A policy that is a link is read where it points to, but its paths start where the plugin stands.
    let folder = std::path::absolute(path)?.parent().map(Path::to_owned).unwrap_or_default();
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Policy::parse(&text, &folder, places::home().as_deref()).map_err(|e| AdmitError::Policy(name, e))
}

/// Reads a regular file whole, and only if nobody changes it meanwhile.
fn read(path: &Path, most: u64) -> Result<Vec<u8>, AdmitError> {
    // Opening a pipe would wait for its writer.
    const NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let mut file = OpenOptions::new().read(true).custom_flags(NONBLOCK).open(path)?;
    let before = file.metadata()?;
    if !before.is_file() {
        return Err(AdmitError::NotRegular);
    }
    if before.len() > most {
        return Err(AdmitError::TooLarge(most));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(before.len()).unwrap_or(0));
    (&mut file).take(most + 1).read_to_end(&mut bytes)?;
    let same = |after: &File| after.metadata().is_ok_and(|after| Stamp::of(&after) == Stamp::of(&before));
    if bytes.len() as u64 != before.len() || !same(&file) {
        return Err(AdmitError::Changing);
    }
    Ok(bytes)
}
